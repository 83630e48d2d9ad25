"""Zips that are sent in pieces while they are written, without compression.

Compression would take 15 to 25 times the processor time of everything else. Entries are stored blocks of DEFLATE,
because plain entries may not have their size after their content, as streams require.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_PIECE_BYTES = 256 * 1024
_NOT_COMPRESSED = 0
#: The earliest time that a zip knows.
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)


class ZipStream:
    """A zip in progress; its methods return the bytes to send next."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = ZipFile(self._sink, "w", ZIP_DEFLATED, compresslevel=_NOT_COMPRESSED)

    def text(self, name: str, content: str, at: datetime) -> bytes:
        """Add a file with this text; return the next bytes."""
        self._zip.writestr(_entry(name, at), content)
        return self._sink.taken()

    def file(self, name: str, path: Path, at: datetime) -> Iterator[bytes]:
        """Add a file with the content of another; yield the next bytes."""
        is_large = path.stat().st_size >= 2**31 - 1
        with path.open("rb") as source, self._zip.open(_entry(name, at), "w", force_zip64=is_large) as entry:
            while piece := source.read(_PIECE_BYTES):
                entry.write(piece)
                yield self._sink.taken()
        yield self._sink.taken()

    def end(self) -> bytes:
        """Write the directory of the zip; return the last bytes."""
        self._zip.close()
        return self._sink.taken()


def _entry(name: str, at: datetime) -> ZipInfo:
    entry = ZipInfo(name, max(at.astimezone(UTC), EARLIEST).timetuple()[:6])
    entry.compress_type = ZIP_DEFLATED
    entry._compresslevel = _NOT_COMPRESSED  # type: ignore[attr-defined]  # public as compress_level from Python 3.13 on
    entry.external_attr = 0o644 << 16
    return entry


class _Sink:
    """A stream without seeking, from which written data is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, because no data is buffered elsewhere."""

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""

    def taken(self) -> bytes:
        """Return the data written since the last call."""
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found
