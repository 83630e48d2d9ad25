"""Frames that a sandbox sends, also such as no supervisor makes: a program can take its place."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from workers.sandbox import Limits
from workers.sandbox.stream import BrokenStream, Frames, feed_of

LIMITS = Limits(output=10, scores=20, page=30)


def frame(letter: bytes, content: bytes = b"", size: int | None = None) -> bytes:
    return letter + struct.pack(">Q", len(content) if size is None else size) + content


def named(name: bytes, content: bytes) -> bytes:
    return struct.pack(">Q", len(name)) + name + content


def test_frames_may_come_in_any_pieces() -> None:
    whole = b"".join(
        [
            frame(b"b"),
            frame(b"o", b"hello"),
            frame(b"e", b"oh"),
            frame(b"o", b"world"),
            frame(b"x", b"-9 1 0"),
            frame(b"s", named(b"scores.json", b"{}")),
            frame(b"p", named(b"a.html", b"<p>")),
            frame(b"n", b"a word"),
            frame(b"d"),
        ]
    )
    for size in (1, 3, 10, len(whole)):
        frames = Frames(LIMITS)
        for start in range(0, len(whole), size):
            frames.add(whole[start : start + size])
        assert (frames.is_begun, frames.is_whole) == (True, True)
        assert (frames.status, frames.is_full, frames.is_out_of_memory) == (-9, True, False)
        assert (bytes(frames.stdout), bytes(frames.stderr)) == (b"helloworld", b"oh")
        assert (frames.scores_name, frames.scores, frames.page) == ("scores.json", b"{}", b"<p>")
        assert frames.notes == ["a word"]


@pytest.mark.parametrize(
    "sent",
    [
        frame(b"o", b"x" * 11),
        frame(b"o", b"x" * 6) + frame(b"o", b"x" * 5),
        frame(b"e", size=1 << 63),
        frame(b"s", size=20 + 4096 + 9),
        frame(b"p", size=1 << 40),
        frame(b"n", size=5000),
        frame(b"?"),
        frame(b"x", b"0 0"),
        frame(b"x", b"zero 0 0"),
        frame(b"x", b"0 0 0 0"),
        frame(b"s", b"short"),
        frame(b"s", struct.pack(">Q", 1 << 63) + b"x"),
        frame(b"d") + frame(b"o", b"x"),
    ],
)
def test_what_no_supervisor_sends_is_broken_and_never_kept(sent: bytes) -> None:
    with pytest.raises(BrokenStream):
        Frames(LIMITS).add(sent)


def test_words_are_bounded_in_number_and_safe_to_print() -> None:
    frames = Frames(LIMITS)
    for _ in range(100):
        frames.add(frame(b"n", b"\x1b[2J\xff"))
    assert frames.notes == 20 * ["�[2J�"]


def test_size_of_the_copies_is_that_of_their_pages(tmp_path: Path) -> None:
    for name in ("program", "submission"):
        (tmp_path / name).mkdir()
    (tmp_path / "program" / "a.py").write_bytes(bytes(4097))
    (tmp_path / "submission" / "folder").mkdir()
    feed = feed_of(tmp_path / "program", tmp_path / "submission")
    assert [name for name, *_ in feed.files] == ["program/a.py"]
    assert set(feed.folders) == {"output", "shared", "tmp", "shm", "program", "input/res", "input/res/folder"}
    assert feed.size == 3 * 4096 + 7 * 4096
