"""Recognise files by their first bytes: zips, and what people send instead of a plain file or a zip."""

from __future__ import annotations

from collections.abc import Collection

#: This many bytes from the start suffice.
HEAD_BYTES = 262

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OTHER_STARTS = (
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"(\xb5/\xfd", "a zstd file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.xls or .doc)"),
    (b"%PDF-", "a PDF"),
)
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257


def is_zip(head: bytes) -> bool:
    """Return whether a file with this start is a zip (Office documents and NumPy's .npz are zips too)."""
    return head.startswith(_ZIP_STARTS)


def other_kind(head: bytes) -> str | None:
    """Name the archive or document with this start that cannot be read here; None if no such kind is known."""
    if head.startswith(_TAR_MAGIC, _TAR_MAGIC_AT):
        return "a tar archive"
    return next((kind for start, kind in _OTHER_STARTS if head.startswith(start)), None)


def document_kind(names: Collection[str]) -> str | None:
    """Name the kind of office document that a zip with members of these names is; None if it is none."""
    if "[Content_Types].xml" in names:
        return "an Excel workbook" if any(name.startswith("xl/") for name in names) else "an Office document"
    return "a LibreOffice document" if "mimetype" in names and "content.xml" in names else None
