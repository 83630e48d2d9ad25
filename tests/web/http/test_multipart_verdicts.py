"""A body has one verdict, whole or in pieces, and one with a malformed head is refused."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import pytest

from app.base.errors import EvergoldError
from app.base.storage import FolderStorage, StoredFile, UploadWriter
from app.web.http.multipart import FileWriter, Policy, receive
from tests import lanes
from tests.attacks.malformed_bodies import CONTENT, END, HEAD, TYPE, WHOLE, malformed_bodies, request_in_pieces

LIMIT_BYTES = 100_000
SEED = 38
MALFORMED = "malformed_upload"


class InMemory:
    """Takes a file without a disk."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, chunk: bytes, /) -> None:
        self.content += chunk

    def finish(self) -> StoredFile:
        return StoredFile(hashlib.sha256(self.content).hexdigest(), len(self.content))

    def discard(self) -> None:
        pass


def whole(body: bytes, storage: FolderStorage) -> tuple[object, ...]:
    return asyncio.run(in_pieces([body], UploadWriter(storage, LIMIT_BYTES)))


async def in_pieces(pieces: list[bytes], writer: FileWriter) -> tuple[object, ...]:
    try:
        upload = await receive(request_in_pieces(pieces, TYPE), Policy(writer, LIMIT_BYTES, frozenset({"method"})))
    except EvergoldError as refusal:
        return refusal.code, refusal.message
    return upload.file.sha256, upload.filename, dict(upload.fields)


async def split_everywhere(body: bytes) -> list[tuple[object, ...]]:
    splits = [[body[:place], body[place:]] for place in range(1, min(len(body), len(HEAD) + 40))]
    byte_by_byte = [body[place : place + 1] for place in range(len(body))]
    return [await in_pieces(pieces, InMemory()) for pieces in [*splits, byte_by_byte]]


@pytest.mark.parametrize("ten", range(4))
def test_a_malformed_body_is_judged_alike_whole_and_split_anywhere_in_its_head(tmp_path: Path, ten: int) -> None:
    storage = FolderStorage(tmp_path)
    for body in malformed_bodies(SEED + ten, lanes.examples(40)):
        verdict = whole(body, storage)
        assert set(map(repr, asyncio.run(split_everywhere(body)))) == {repr(verdict)}, body


@pytest.mark.parametrize(
    "body",
    [
        HEAD.replace(b'"a.csv"\r\n', b'"a.csv"\n') + CONTENT + END,
        HEAD.replace(b'"a.csv"\r\n', b'"a.csv"\r') + CONTENT + END,
        HEAD.replace(b'"a.csv"\r\n', b'"a.csv"\r\r\n') + CONTENT + END,
        HEAD.replace(b"\r\nContent-Type", b"\r\n\nContent-Type") + CONTENT + END,
        HEAD.replace(b"text/csv\r\n", b"text/csv\nX: y\r\n") + CONTENT + END,
        HEAD.replace(b"--b\r\n", b"--b\r\nX: y\n ") + CONTENT + END,
        b"a line that is longer than a boundary" + WHOLE,
        b"before\r\n" + WHOLE,
        b"\n" + WHOLE,
    ],
    ids=[
        "a line ends in LF",
        "a line ends in CR",
        "a line ends in CR CR LF",
        "LF before a name",
        "LF in a value",
        "LF in a folded line",
        "a line before the boundary",
        "a preamble",
        "LF before the boundary",
    ],
)
def test_a_malformed_head_is_refused_however_it_arrives(tmp_path: Path, body: bytes) -> None:
    storage = FolderStorage(tmp_path)
    verdicts = [whole(body, storage), *asyncio.run(split_everywhere(body))]
    assert {code for code, *_ in verdicts} == {MALFORMED}


def test_a_longest_header_line_is_judged_alike(tmp_path: Path) -> None:
    """The parser counts a line's end where it has not seen all of it yet."""
    storage = FolderStorage(tmp_path)
    for length in range(4220, 4228):
        body = HEAD.replace(b"text/csv", b"t" * (length - len(b"Content-Type: "))) + CONTENT + END
        place = body.find(b"\r\n\r\n") + 1
        assert asyncio.run(in_pieces([body[:place], body[place:]], InMemory())) == whole(body, storage), length


def test_a_well_formed_body_is_accepted_however_it_arrives(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    for body in (WHOLE, b"\r\n" + WHOLE, WHOLE + b"after the end"):
        verdict = whole(body, storage)
        assert verdict == (hashlib.sha256(CONTENT).hexdigest(), "a.csv", {})
        assert set(map(repr, asyncio.run(split_everywhere(body)))) == {repr(verdict)}


def test_a_body_of_many_pieces_is_stored_as_it_is(tmp_path: Path) -> None:
    content = bytes(range(256)) * 300
    verdict = whole(HEAD + content + END, FolderStorage(tmp_path))
    assert verdict[0] == hashlib.sha256(content).hexdigest()
