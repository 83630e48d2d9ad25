"""archives: what an upload may be, and every way in which a zip can be wrong, broken or hostile."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from evergold.scoring.archives import LIMITS, Limits, iterate_members, member_names, read_members, read_single
from evergold.scoring.errors import InvalidGold, InvalidPrediction

CSV = b"ID,Language\n1,EN\n"
MIB = 1024 * 1024


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of the duplicate names that one test wants
        for name, content in members:
            archive.writestr(name, content, compress_type=compression)
    return buffer.getvalue()


def make_npz(*names: str) -> bytes:
    return make_zip(*((name, b"\x93NUMPY" + bytes(20)) for name in names))


def patched(data: bytes, central_offset: int, local_offset: int, value: bytes) -> bytes:
    """The zip with a header field of its only member changed in both places."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x01\x02", central_offset), (b"PK\x03\x04", local_offset)):
        place = data.index(signature) + offset
        changed[place : place + len(value)] = value
    return bytes(changed)


def problem(data: bytes, limits: Limits = LIMITS) -> tuple[str, str]:
    with pytest.raises(InvalidPrediction) as caught:
        read_single(data, limits)
    return caught.value.problems[0].code, str(caught.value)


def outcome(read: Callable[[bytes], object], data: bytes) -> object:
    """Return the result of reading, or the problems; any other exception fails the test."""
    try:
        return read(data)
    except InvalidPrediction as refused:
        return refused.problems


def test_plain_file_is_read_as_it_is(tmp_path: Path) -> None:
    upload = tmp_path / "4f2a"  # uploads are stored by their hash, without an extension
    upload.write_bytes(CSV)
    assert read_single(upload) == (None, CSV)


def test_name_does_not_decide_what_a_file_is(tmp_path: Path) -> None:
    upload = tmp_path / "prediction.csv"
    upload.write_bytes(make_zip(("a.csv", CSV)))
    assert read_single(upload) == ("a.csv", CSV)
    (tmp_path / "prediction.zip").write_bytes(CSV)
    assert read_single(tmp_path / "prediction.zip") == (None, CSV)


def test_only_member_of_a_zip_is_read_also_inside_a_folder() -> None:
    assert read_single(make_zip(("a.csv", CSV))) == ("a.csv", CSV)
    assert read_single(make_zip(("run/", b""), ("run/a.csv", CSV))) == ("run/a.csv", CSV)
    assert read_single(make_zip(("a.csv", CSV), compression=zipfile.ZIP_STORED)) == ("a.csv", CSV)


def test_what_desktop_systems_add_does_not_count() -> None:
    data = make_zip(
        ("run/a.csv", CSV),
        ("__MACOSX/run/._a.csv", b"x"),
        ("run/.DS_Store", b"x"),
        ("Thumbs.db", b"x"),
        ("run/._a.csv", b"x"),
    )
    assert read_single(data) == ("run/a.csv", CSV)
    assert read_members(data) == {"run/a.csv": CSV}


def test_several_files_are_refused_by_name() -> None:
    code, text = problem(make_zip(("a.csv", CSV), ("b/b.csv", CSV)))
    assert code == "several-files"
    assert "it contains 2: a.csv, b/b.csv" in text


@pytest.mark.parametrize("members", [(), (("run/", b""),), (("__MACOSX/a", b"x"),)])
def test_zip_without_a_file_is_refused(members: tuple[tuple[str, bytes], ...]) -> None:
    assert problem(make_zip(*members))[0] == "empty-archive"
    with pytest.raises(InvalidPrediction, match="contains no file"):
        read_members(make_zip(*members))


def tar(mode: Literal["w:", "w:gz", "w:bz2", "w:xz"]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        info = tarfile.TarInfo("a.csv")
        info.size = len(CSV)
        archive.addfile(info, io.BytesIO(CSV))
    return buffer.getvalue()


OTHER_KINDS = [
    (tar("w:"), "a tar archive"),
    (tar("w:gz"), "a gzip file"),
    (tar("w:bz2"), "a bzip2 file"),
    (tar("w:xz"), "an xz file"),
    (b"7z\xbc\xaf\x27\x1c" + bytes(40), "a 7z archive"),
    (b"Rar!\x1a\x07\x01\x00" + bytes(40), "a rar archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "an old Office file (.xls or .doc)"),
    (b"%PDF-1.7\n", "a PDF"),
]


@pytest.mark.parametrize(("data", "kind"), OTHER_KINDS)
def test_other_archives_are_named_and_what_to_send_is_said(data: bytes, kind: str) -> None:
    code, text = problem(data)
    assert code == "wrong-archive"
    assert text.startswith(f"this is {kind}: send the plain file, or a zip")
    with pytest.raises(InvalidPrediction) as caught:
        read_members(data)
    assert str(caught.value) == f"this is {kind}: send a zip"
    assert problem(make_zip(("a", data)))[0] == "nested-archive"


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["[Content_Types].xml", "xl/workbook.xml"], "an Excel workbook"),
        (["[Content_Types].xml", "word/document.xml"], "an Office document"),
        (["mimetype", "content.xml"], "a LibreOffice document"),
    ],
)
def test_office_documents_are_recognised_though_they_are_zips(names: list[str], kind: str) -> None:
    code, text = problem(make_zip(*((name, b"<x/>") for name in names)))
    assert code == "wrong-archive"
    assert text.startswith(f"this is {kind}: export it as plain text (for a table: CSV, UTF-8)")


def test_zip_inside_a_zip_is_refused() -> None:
    code, text = problem(make_zip(("a.zip", make_zip(("a.csv", CSV)))))
    assert code == "nested-archive"
    assert "a.zip inside the zip is a zip" in text


@pytest.mark.parametrize("name", ["/etc/passwd", "../a.csv", "run/../../a.csv", "C:/a.csv", "C:\\a.csv", "..\\a.csv"])
def test_names_that_leave_the_zip_are_refused(name: str) -> None:
    code, text = problem(make_zip((name, CSV)))
    assert code == "bad-member-name"
    assert name in text


def test_too_long_and_unprintable_names_are_refused() -> None:
    assert problem(make_zip(("a" * 256, CSV)))[0] == "bad-member-name"
    assert problem(make_zip(("a\x1b[2J.csv", CSV)))[0] == "bad-member-name"
    assert read_single(make_zip(("a" * 255, CSV)))[1] == CSV
    assert read_single(make_zip(("prédiction/ção.csv", CSV)))[0] == "prédiction/ção.csv"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(kind: int) -> None:
    link = zipfile.ZipInfo("a.csv")
    link.external_attr = (kind | 0o777) << 16
    assert problem(make_zip((link, b"/etc/passwd")))[0] == "not-a-plain-file"


def test_name_that_is_there_twice_is_refused() -> None:
    data = make_zip(("a.csv", CSV), ("a.csv", b"other"))
    assert problem(data) == ("duplicate-member", "a.csv occurs twice in the zip")
    assert problem(make_zip(("a.csv", CSV), ("./a.csv", b"other")))[0] == "duplicate-member"


def test_all_faults_of_a_zip_are_said_at_once() -> None:
    with pytest.raises(InvalidPrediction) as caught:
        read_members(make_zip(("../a", CSV), ("..\\c", CSV), ("d", CSV), ("d", CSV)))
    assert [p.code for p in caught.value.problems] == ["bad-member-name", "bad-member-name", "duplicate-member"]


def test_encrypted_member_is_refused() -> None:
    data = patched(make_zip(("a.csv", CSV)), 8, 6, b"\x01\x00")
    assert problem(data) == ("encrypted", "a.csv is protected by a password: zip it without one")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 93, 99])
def test_unusual_compression_is_refused(compression: int) -> None:
    data = patched(make_zip(("a.csv", CSV)), 10, 8, struct.pack("<H", compression))
    assert problem(data)[0] == "unsupported-compression"


def test_wrong_checksum_is_refused() -> None:
    data = bytearray(make_zip(("a.csv", CSV), compression=zipfile.ZIP_STORED))
    data[data.index(b"1,EN")] = ord("2")
    code, text = problem(bytes(data))
    assert code == "damaged-archive"
    assert "Bad CRC-32" in text


def test_zip_cut_off_anywhere_is_refused() -> None:
    data = make_zip(("a.csv", CSV), ("b.csv", CSV))
    for length in range(4, len(data)):
        assert problem(data[:length])[0] == "damaged-archive"


def test_zip_in_which_any_byte_changed_raises_nothing_unexpected() -> None:
    data = make_zip(("run/a.csv", CSV * 3))
    for place in range(len(data)):
        for value in (0, 1, 0x2F, 0x7F, 0xFF):
            changed = data[:place] + bytes([value]) + data[place + 1 :]
            for read in (read_single, read_members):
                assert outcome(read, changed) != ()


@given(st.binary(max_size=400), st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"PK\x05\x06" + bytes(18)]))
def test_any_bytes_are_read_or_refused(data: bytes, start: bytes) -> None:
    for read in (read_single, read_members):
        assert outcome(read, start + data) != ()


def test_file_larger_than_the_limit_is_refused() -> None:
    limits = Limits(member_bytes=10)
    assert read_single(b"0123456789", limits) == (None, b"0123456789")
    assert problem(b"0123456789+", limits) == ("file-too-large", "the file is larger than 10 bytes")
    assert problem(make_zip(("a.csv", b"0123456789+")), limits)[0] == "file-too-large"


def test_members_that_are_too_large_together_are_refused() -> None:
    data = make_zip(("a", bytes(60)), ("b", bytes(60)))
    assert len(read_members(data, Limits(total_bytes=120))) == 2
    with pytest.raises(InvalidPrediction, match="unpacks to more than 119 bytes"):
        read_members(data, Limits(total_bytes=119))


def test_too_many_entries_are_refused() -> None:
    data = make_zip(*((f"{n}.csv", CSV) for n in range(11)))
    assert len(read_members(data, Limits(entries=11))) == 11
    with pytest.raises(InvalidPrediction, match="has 11 entries, at most 10"):
        read_members(data, Limits(entries=10))


def test_as_many_files_with_long_names_as_are_allowed_are_read() -> None:
    """Check a list of names that is longer than that of a few files may be."""
    data = make_zip(*((f"{n:0200d}", b"") for n in range(600)), compression=zipfile.ZIP_STORED)
    assert len(read_members(data, Limits(entries=600))) == 600


def test_huge_list_of_files_is_refused_without_reading_it() -> None:
    data = make_zip(*((f"{n:0200d}", b"") for n in range(20_000)), compression=zipfile.ZIP_STORED)
    tracemalloc.start()
    try:
        assert problem(data)[0] == "damaged-archive"
        assert tracemalloc.get_traced_memory()[1] < len(data) + 4 * MIB
    finally:
        tracemalloc.stop()


def zeros(size_bytes: int, declared_bytes: int) -> bytes:
    """Return a zip whose only member unpacks to so many zeros, written without ever holding them."""
    block, packer = bytes(MIB), zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush nothing before it matters, so that the same bytes may be repeated.
    packed = first * (size_bytes // MIB) + packer.flush()
    name, local_bytes = b"a.csv", 30 + 5
    sizes = struct.pack("<LLL", 0, len(packed), declared_bytes)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 0x21) + sizes + struct.pack("<HH", len(name), 0) + name
    central = b"PK\x01\x02" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0x21) + sizes
    central += struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(central), local_bytes + len(packed), 0)
    return local + packed + central + end


@pytest.mark.parametrize(
    ("declared_bytes", "code"),
    [
        (4 * 1024 * MIB - 1, "file-too-large"),  # as much as the field can say
        (1000, "damaged-archive"),  # no more than declared is unpacked, and its checksum cannot be right
    ],
)
def test_ten_gigabytes_of_zeros_are_refused_in_little_memory(declared_bytes: int, code: str) -> None:
    data = zeros(10 * 1024 * MIB, declared_bytes)
    tracemalloc.start()
    try:
        assert problem(data)[0] == code
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


def test_member_that_unpacks_to_far_more_than_its_size_is_refused_before_it_is_read() -> None:
    data = make_zip(("a.csv", bytes(LIMITS.member_bytes)))
    tracemalloc.start()
    try:
        assert problem(data)[0] == "zip-bomb"
        assert tracemalloc.get_traced_memory()[1] < LIMITS.member_bytes / 2
    finally:
        tracemalloc.stop()


def test_size_that_is_not_as_declared_is_refused() -> None:
    honest = make_zip(("a.csv", bytes(100)))
    assert read_single(patched(honest, 24, 22, struct.pack("<L", 100)))[1] == bytes(100)
    for size in (99, 101):
        assert problem(patched(honest, 24, 22, struct.pack("<L", size)))[0] == "damaged-archive"


def test_small_file_may_be_compressed_as_well_as_it_can() -> None:
    constant = b"ID,Language,Setting,Sim\n" + b"1,EN,pre_train,0.5\n" * 100_000
    assert len(make_zip(("a.csv", constant))) * LIMITS.ratio < len(constant)
    assert read_single(make_zip(("a.csv", constant)))[1] == constant


def test_npz_is_one_file_only_where_it_is_asked_for() -> None:
    npz = make_npz("nat1.npy", "neut.npy")
    assert read_single(npz, npz=True) == (None, npz)
    assert read_single(make_zip(("run/e.npz", npz)), npz=True) == ("run/e.npz", npz)
    assert problem(npz)[0] == "several-files"
    assert problem(make_zip(("run/e.npz", npz)))[0] == "nested-archive"


def test_members_are_keyed_by_path_in_sorted_order(tmp_path: Path) -> None:
    data = make_zip(("run/PT/test.cupt", b"2"), ("run/EN/test.cupt", b"1"))
    assert list(read_members(data).items()) == [("run/EN/test.cupt", b"1"), ("run/PT/test.cupt", b"2")]
    for name, content in (("PT/test.cupt", b"2"), ("EN/test.cupt", b"1"), (".DS_Store", b"x"), ("__MACOSX/x", b"x")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(read_members(tmp_path).items()) == [("EN/test.cupt", b"1"), ("PT/test.cupt", b"2")]


def test_members_are_read_one_after_the_other(tmp_path: Path) -> None:
    data = make_zip(*((f"{n}", bytes([n]) * MIB) for n in range(8)), compression=zipfile.ZIP_STORED)
    for n in range(8):
        (tmp_path / f"{n}").write_bytes(bytes([n]) * MIB)
    for path in (data, tmp_path):
        found = []
        tracemalloc.start()
        try:
            for name, content in iterate_members(path):
                found.append((name, content[:1], len(content)))
                del content
            assert tracemalloc.get_traced_memory()[1] < 3 * MIB
        finally:
            tracemalloc.stop()
        assert found == [(f"{n}", bytes([n]), MIB) for n in range(8)]


def test_names_are_known_before_anything_is_unpacked(tmp_path: Path) -> None:
    data = bytearray(make_zip(("b", CSV), ("a", CSV), (".DS_Store", b"x"), compression=zipfile.ZIP_STORED))
    assert member_names(bytes(data)) == ["a", "b"]
    data[data.index(b"1,EN")] = ord("2")
    assert member_names(bytes(data)) == ["a", "b"]
    (tmp_path / "b").write_bytes(CSV)
    assert member_names(tmp_path) == ["b"]
    with pytest.raises(InvalidPrediction, match="send a zip"):
        member_names(CSV)


def test_files_before_a_damaged_one_are_given_and_then_it_is_refused() -> None:
    data = bytearray(make_zip(("b", b"2,EN"), ("a", b"1,EN"), compression=zipfile.ZIP_STORED))
    data[data.index(b"2,EN")] = ord("3")
    members = iterate_members(bytes(data))
    assert next(members) == ("a", b"1,EN")
    with pytest.raises(InvalidPrediction, match="b in the zip is damaged"):
        next(members)


def test_folder_is_held_to_the_same_limits(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrediction, match="contains no file"):
        read_members(tmp_path)
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(60))
    with pytest.raises(InvalidPrediction, match="more than 1 files"):
        read_members(tmp_path, Limits(entries=1))
    for limits in (Limits(member_bytes=59), Limits(total_bytes=119)):
        with pytest.raises(InvalidPrediction, match="larger than"):
            read_members(tmp_path, limits)


def test_plain_file_where_a_zip_is_needed_is_refused() -> None:
    for data, kind in ((CSV, "a plain file"), (b"", "an empty file")):
        with pytest.raises(InvalidPrediction) as caught:
            read_members(data)
        assert str(caught.value) == f"this is {kind}: send a zip"


def test_organisers_files_are_refused_as_gold() -> None:
    with pytest.raises(InvalidGold):
        read_single(b"%PDF-", error=InvalidGold)


def test_missing_file_is_not_a_problem_of_its_content(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_single(tmp_path / "none")


# -------------------------------------------------------------------------------------------- zips as systems make them


def test_backslashes_of_powershell_separate_folders(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("EN\\", "EN\\test.system.cupt", "FR\\test.system.cupt"):
            archive.writestr(zipfile.ZipInfo(name), b"" if name.endswith("\\") else b"x")
    assert member_names(path) == ["EN/test.system.cupt", "FR/test.system.cupt"]
    assert read_members(path)["EN/test.system.cupt"] == b"x"


@pytest.mark.parametrize("name", ["..\\a", "C:\\a", "\\a", "EN\\..\\..\\a"])
def test_backslashes_lead_nowhere_else(name: str, tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(InvalidPrediction, match="absolute names and names with"):
        member_names(path)


def test_what_systems_and_programs_add_is_passed_over(tmp_path: Path) -> None:
    names = [
        ".ipynb_checkpoints/a-checkpoint.csv", "@eaDir/a.csv@SynoEAStream", "Desktop.ini", "x/desktop.ini", "~$a.csv",
        ".~lock.a.csv#", "__MACOSX/._a.csv", "Thumbs.db", "EN\\.ipynb_checkpoints\\b.csv",
    ]  # fmt: skip
    path, folder = tmp_path / "p.zip", tmp_path / "folder"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (*names, "a.csv"):
            archive.writestr(zipfile.ZipInfo(name), b"x")
            target = folder / name.replace("\\", "/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"x")
    assert read_single(path) == ("a.csv", b"x")
    assert member_names(folder) == ["a.csv"]


def test_names_of_members_may_hold_what_their_script_needs(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("نیم\u200cفاصله.csv", b"x")
        archive.writestr("שלום\u200f.csv", b"x")
    assert len(member_names(path)) == 2
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a\u202eb.csv", b"x")
    with pytest.raises(InvalidPrediction, match=r"unprintable: a\\u202eb"):
        member_names(path)
