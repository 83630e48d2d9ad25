"""The two streams between a worker and a sandbox: the input, and the frames of output.

Output may have been forged by the program: every part has a size limit, and exceeding one ends the run.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.base.text import readable_size
from workers.sandbox.terms import Limits

CHUNK = 1 << 16
#: Paths of the folders of a run inside the sandbox.
APP = "/app"
#: Replaced in the words of a command, in this order: programs of Codabench count on it.
PLACES = (
    ("$input", "/app/input"),
    ("$output", "/app/output"),
    ("$program", "/app/program"),
    ("$ingestion_program", "/app/program"),
    ("$hidden", "/app/input/ref"),
    ("$shared", "/app/shared"),
    ("$submission_program", "/app/ingested_program"),
    ("$tmp", "/app/output"),
    ("$predictions", "/app/input/res"),
)
#: Paths of the copied folders, and of the empty ones, relative to APP.
_PROGRAM, _SUBMISSION = "program", "input/res"
_EMPTY = ("output", "shared", "tmp", "shm")
#: Maximum length of a message about unusable files, and maximum number of messages.
_WORDS = 4096
_NOTES = 20
#: Maximum data segment of one process, as a multiple of the memory limit of all: reserved memory is not used memory.
_RESERVED = 2


class BrokenStream(Exception):
    """The stream has data that no supervisor sends, so the program must have changed it."""


@dataclass(frozen=True, slots=True)
class Feed:
    """The files to copy into a sandbox, with their total size there."""

    files: tuple[tuple[str, Path, int, bool], ...]
    folders: tuple[str, ...]

    @property
    def size(self) -> int:
        """The bytes of memory that the copies take, in whole pages."""
        return sum(-(-size // 4096) * 4096 + 4096 for _, _, size, _ in self.files) + 4096 * len(self.folders)


def feed_of(program: Path, submission: Path) -> Feed:
    """Return the files and folders in the two folders. Raises ValueError if there is anything else."""
    files: list[tuple[str, Path, int, bool]] = []
    folders = [*_EMPTY, _PROGRAM, _SUBMISSION]
    for root, place in ((program, _PROGRAM), (submission, _SUBMISSION)):
        for path, found in plain_parts(root):
            inside = os.path.join(place, path.relative_to(root))
            if stat.S_ISDIR(found.st_mode):
                folders.append(inside)
            else:
                files.append((inside, path, found.st_size, bool(found.st_mode & 0o100)))
    return Feed(tuple(files), tuple(folders))


def plain_parts(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all files and folders below this one, a folder before its content. Raises ValueError for anything else."""
    for folder, names, filenames in os.walk(root):
        for name in (*names, *filenames):
            path = Path(folder, name)
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
                raise ValueError(f"{path.relative_to(root)} is neither a file nor a folder")
            yield path, found


def stream_of(feed: Feed, command: Sequence[str], limits: Limits, *, counts_processes: bool) -> Iterator[bytes]:
    """Yield the bytes that `inside` reads.

    counts_processes: the kernel counts the processes of this sandbox separately. Raises ValueError if a file changes in
    the meantime.
    """
    numbers = (
        limits.output,
        limits.scores,
        limits.page,
        max(1, round(limits.processor_seconds)),
        limits.processes if counts_processes else 0,
        limits.files,
        _RESERVED * limits.memory,
    )
    words = [_replaced(word) for word in command]
    yield b"".join(
        [*(_text(str(number)) for number in numbers), _text(APP), _number(len(words)), *(_text(word) for word in words)]
    )
    yield b"".join(b"D" + _text(folder) for folder in feed.folders)
    for name, path, size, is_executable in feed.files:
        yield (b"X" if is_executable else b"F") + _text(name) + _number(size)
        with path.open("rb") as file:
            while size:
                piece = file.read(min(size, CHUNK))
                if not piece:
                    raise ValueError(f"{path.name} became shorter while it was read")
                size -= len(piece)
                yield piece
    yield b"E"


def _replaced(word: str) -> str:
    for name, place in PLACES:
        word = word.replace(name, place)
    return word


def _text(text: str) -> bytes:
    content = os.fsencode(text)
    return _number(len(content)) + content


def _number(number: int) -> bytes:
    return struct.pack(">Q", number)


@dataclass(slots=True)
class Frames:
    """The parts that a sandbox has sent so far; `add` parses the next bytes."""

    limits: Limits
    is_begun: bool = False
    is_whole: bool = False
    status: int | None = None
    is_full: bool = False
    is_out_of_memory: bool = False
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    scores_name: str | None = None
    scores: bytes | None = None
    page: bytes | None = None
    trouble: str = ""
    too_large: str = ""
    notes: list[str] = field(default_factory=list)
    _rest: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        """Parse the next bytes. Raises BrokenStream."""
        self._rest += piece
        while len(self._rest) >= 9:
            letter, size = bytes(self._rest[:1]), struct.unpack(">Q", self._rest[1:9])[0]
            if size > self._largest(letter):
                raise BrokenStream(f"a frame {letter!r} of {size} bytes")
            if len(self._rest) < 9 + size:
                return
            content = bytes(self._rest[9 : 9 + size])
            del self._rest[: 9 + size]
            self._take(letter, content)

    def _largest(self, letter: bytes) -> int:
        named = _WORDS + 8
        bounds = {
            b"o": self.limits.output - len(self.stdout),
            b"e": self.limits.output - len(self.stderr),
            b"s": self.limits.scores + named,
            b"p": self.limits.page + named,
        }
        return bounds.get(letter, _WORDS)

    def _take(self, letter: bytes, content: bytes) -> None:
        if self.is_whole:
            raise BrokenStream("something after the end")
        match letter:
            case b"b":
                self.is_begun = True
            case b"o":
                self.stdout += content
            case b"e":
                self.stderr += content
            case b"x":
                self._take_status(content)
            case b"s":
                self.scores_name, self.scores = _named(content)
            case b"p":
                _, self.page = _named(content)
            case b"l":
                self._take_too_large(content)
            case b"n" if len(self.notes) < _NOTES:
                self.notes.append(_words(content))
            case b"n":
                pass
            case b"t":
                self.trouble = _words(content)
            case b"d":
                self.is_whole = True
            case _:
                raise BrokenStream(f"a frame {letter!r}")

    def _take_status(self, content: bytes) -> None:
        try:
            status, full, memory = content.split(b" ")
            self.status, self.is_full, self.is_out_of_memory = int(status), full == b"1", memory == b"1"
        except ValueError:
            raise BrokenStream("an invalid status") from None

    def _take_too_large(self, content: bytes) -> None:
        largest = self.limits.scores if content[:1] == b"s" else self.limits.page
        words = f"{_words(content[1:])} is larger than {readable_size(largest)}"
        if content[:1] == b"s":
            self.too_large = words
        else:
            self.notes.append(words)


def _named(content: bytes) -> tuple[str, bytes]:
    size = struct.unpack(">Q", content[:8])[0] if len(content) >= 8 else 1 << 63
    if size > len(content) - 8:
        raise BrokenStream("a file without a name")
    return _words(content[8 : 8 + size]), content[8 + size :]


def _words(content: bytes) -> str:
    """Return output of the program as one line of printable characters."""
    return "".join(sign if sign.isprintable() else "�" for sign in content.decode("utf-8", "replace"))
