"""The share of a submission that is new."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workers import climbing as module
from workers.climbing import ChangedLines, changed_lines

Write = Callable[[bytes], Path]


@pytest.fixture
def file(tmp_path: Path) -> Write:
    numbers = iter(range(100))

    def write(content: bytes) -> Path:
        path = tmp_path / str(next(numbers))
        path.write_bytes(content)
        return path

    return write


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_a_changed_line_counts_once(file: Write) -> None:
    assert changed_lines(file(b"ID\n1,a\n2,b\n3,c\n"), file(b"ID\n1,a\n2,x\n3,c\n")) == ChangedLines(1, 4)


def test_added_and_removed_lines_count(file: Write) -> None:
    assert changed_lines(file(b"a\nb\nc\n"), file(b"a\n")) == ChangedLines(2, 3)
    assert changed_lines(file(b"a\n"), file(b"a\nb\nc\n")) == ChangedLines(2, 1)


def test_order_empty_lines_and_line_ends_do_not_count(file: Write) -> None:
    assert changed_lines(file(b"a\r\nb\r\n\r\n"), file(b"b\na")) == ChangedLines(0, 2)


def test_zip_and_plain_file_compare_by_what_is_inside(file: Write) -> None:
    assert changed_lines(file(zipped(x=b"a\nb\n")), file(b"a\nb\n")) == ChangedLines(0, 2)
    assert changed_lines(file(zipped(x=b"a\n", y=b"c\n")), file(zipped(x=b"a\n", y=b"b\n"))) == ChangedLines(1, 2)


def test_what_cannot_be_compared_is_not(file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = file(b"a\n")
    assert changed_lines(text, tmp_path / "gone") is None
    assert changed_lines(file(b"\x93NUMPY\0\0"), text) is None
    assert changed_lines(file(b"PK\x03\x04 damaged"), text) is None
    monkeypatch.setattr(module, "MOST_BYTES", 3)
    assert changed_lines(file(b"a\nb\nc\n"), text) is None
