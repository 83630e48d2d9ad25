"""Receiving a multipart upload: pushed through a parser piece by piece, the file straight to storage.

Every bound is enforced while reading: the file, each field, the whole body, and how long a sender may be silent.
Whatever goes wrong, also a connection that breaks, leaves no file behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

from anyio.to_thread import run_sync
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.base.errors import EmptyUpload, EvergoldError, InvalidForm, UploadTooLarge
from app.base.storage import StoredFile, UploadWriter
from app.base.text import readable_size

FILE_FIELD = "file"
FIELD_LIMIT_BYTES = 32 * 1024
#: What a body may hold besides the file: fields, boundaries, headers.
OVERHEAD_BYTES = 256 * 1024
#: The file goes to the disk, in a thread, in pieces of this size.
PIECE_BYTES = 256 * 1024
SILENCE_SECONDS = 60.0


class NotMultipart(EvergoldError):
    status = 415
    code = "not_multipart"


class MalformedUpload(EvergoldError):
    status = 400
    code = "malformed_upload"


class UploadStalled(EvergoldError):
    status = 408
    code = "upload_stalled"


class FileWriter(Protocol):
    """Takes a file piece by piece, as `app.base.storage.UploadWriter` does."""

    def write(self, chunk: bytes, /) -> object: ...

    def finish(self) -> StoredFile: ...

    def discard(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Upload:
    """A stored file, the name it had on the sender's side, and the fields that came with it."""

    file: StoredFile
    filename: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request's body, not read yet. content_length: as declared, None when the body is chunked."""

    chunks: AsyncIterator[bytes]
    content_type: str
    content_length: int | None


@dataclass(slots=True)
class _Form:
    """What the parser has seen so far. `pending`: bytes of the file that are not written yet."""

    fields: dict[str, str] = field(default_factory=dict)
    filename: str | None = None
    pending: bytearray = field(default_factory=bytearray)
    header_name: bytearray = field(default_factory=bytearray)
    header_value: bytearray = field(default_factory=bytearray)
    headers: dict[bytes, bytes] = field(default_factory=dict)
    part: str | None = None
    value: bytearray = field(default_factory=bytearray)
    is_whole: bool = False


async def receive_upload(
    incoming: Incoming,
    *,
    folder: Path,
    limit_bytes: int,
    fields: frozenset[str],
    before_file: Callable[[Mapping[str, str]], None] = lambda fields: None,
    before_storing: Callable[[Mapping[str, str]], None] = lambda fields: None,
    into: FileWriter | None = None,
) -> Upload:
    """The upload, stored. `fields`: the names allowed besides `file`; `before_file` sees those that came before it,
    `before_storing` all of them, while nothing is kept yet.

    into: what takes the file instead of a plain writer in `folder`.
    """
    writer = into or UploadWriter(folder, limit_bytes)
    try:
        check_declared_size(incoming.content_length, limit_bytes)
        form = _Form()
        parser = _parser(incoming.content_type, form, fields, before_file)
        async with asyncio.timeout(None) as patience:
            received = 0
            async for chunk in _watched(incoming.chunks, patience):
                received += len(chunk)
                if received > limit_bytes + OVERHEAD_BYTES:
                    _refuse_size(limit_bytes)
                _push(parser, chunk)
                if len(form.pending) >= PIECE_BYTES:
                    await _write(form, writer)
        return await _finish(form, writer, before_storing)
    except TimeoutError:
        raise UploadStalled(f"Nothing arrived for {SILENCE_SECONDS:.0f} seconds; please upload again.") from None
    finally:
        writer.discard()


def check_declared_size(content_length: int | None, limit_bytes: int) -> None:
    """Raises UploadTooLarge for a body that says beforehand that it is."""
    if content_length is not None and content_length > limit_bytes + OVERHEAD_BYTES:
        _refuse_size(limit_bytes)


async def _watched(chunks: AsyncIterator[bytes], patience: asyncio.Timeout) -> AsyncIterator[bytes]:
    """The chunks, each of which must come in time; the time that we take to store them does not count."""
    while True:
        patience.reschedule(asyncio.get_running_loop().time() + SILENCE_SECONDS)
        chunk = await anext(chunks, None)
        patience.reschedule(None)
        if chunk is None:
            return
        yield chunk


async def _write(form: _Form, writer: FileWriter) -> None:
    piece, form.pending = bytes(form.pending), bytearray()
    await run_sync(writer.write, piece)


async def _finish(form: _Form, writer: FileWriter, before_storing: Callable[[Mapping[str, str]], None]) -> Upload:
    if not form.is_whole:
        raise MalformedUpload("The upload ends in the middle: its last boundary is missing.")
    if form.filename is None:
        _wrong_field(FILE_FIELD, "The file is missing: send it as the multipart field 'file'.")
    before_storing(form.fields)
    if form.pending:
        await _write(form, writer)
    try:
        return Upload(await run_sync(writer.finish), form.filename, form.fields)
    except EmptyUpload:
        if not form.filename:  # what a browser sends when nothing was chosen
            _wrong_field(FILE_FIELD, "No file was chosen.")
        raise


# ------------------------------------------------------------------------------------------------------------ parsing


def _parser(
    content_type: str, form: _Form, fields: frozenset[str], before_file: Callable[[Mapping[str, str]], None]
) -> MultipartParser:
    """A parser that fills `form`."""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        raise NotMultipart("Send the file as multipart/form-data, in the field 'file' (curl -F file=@predictions.csv).")
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise MalformedUpload("The Content-Type header names no multipart boundary.")

    def part_begin() -> None:
        form.part, form.headers, form.value = None, {}, bytearray()

    def header_field(data: bytes, start: int, end: int) -> None:
        form.header_name += data[start:end]

    def header_value(data: bytes, start: int, end: int) -> None:
        form.header_value += data[start:end]

    def header_end() -> None:
        form.headers[bytes(form.header_name).lower()] = bytes(form.header_value)
        form.header_name, form.header_value = bytearray(), bytearray()

    def headers_finished() -> None:
        _open_part(form, fields)
        if form.part == FILE_FIELD:
            before_file(form.fields)

    def part_data(data: bytes, start: int, end: int) -> None:
        if form.part == FILE_FIELD:
            form.pending += memoryview(data)[start:end]
            return
        form.value += data[start:end]
        if len(form.value) > FIELD_LIMIT_BYTES:
            _wrong_field(str(form.part), "This text is too long.")

    def part_end() -> None:
        if form.part is not None and form.part != FILE_FIELD:
            form.fields[form.part] = _decoded(form.part, bytes(form.value))

    def end() -> None:
        form.is_whole = True

    try:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": part_begin,
                "on_header_field": header_field,
                "on_header_value": header_value,
                "on_header_end": header_end,
                "on_headers_finished": headers_finished,
                "on_part_data": part_data,
                "on_part_end": part_end,
                "on_end": end,
            },
        )
    except FormParserError as error:
        raise MalformedUpload(f"The multipart boundary cannot be used: {error}.") from None


def _push(parser: MultipartParser, chunk: bytes) -> None:
    try:
        parser.write(chunk)
    except FormParserError:
        raise MalformedUpload("The body is not multipart/form-data with the boundary that its header names.") from None


def _open_part(form: _Form, fields: frozenset[str]) -> None:
    """Look at the headers of a part: is it the file, or a field that is known, for the first time?"""
    disposition, options = parse_options_header(form.headers.get(b"content-disposition", b"").decode("latin-1"))
    name = _text(options.get(b"name", b""))
    if disposition != b"form-data" or not name:
        raise MalformedUpload("A part of the upload has no name.")
    if name != FILE_FIELD and name not in fields:
        known = ", ".join(f"'{known}'" for known in (FILE_FIELD, *sorted(fields)))
        _wrong_field(name[:60], f"There is no such field; there are {known}.")
    if name in form.fields or (name == FILE_FIELD and form.filename is not None):
        _wrong_field(name, "It was sent twice; send one file, and every field once.")
    form.part = name
    if name == FILE_FIELD:
        form.filename = _text(options.get(b"filename", b""))


def _decoded(name: str, value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        _wrong_field(name, "This text is not UTF-8.")


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="replace")


def _wrong_field(name: str, sentence: str) -> NoReturn:
    raise InvalidForm(sentence, fields={name: sentence})


def _refuse_size(limit_bytes: int) -> NoReturn:
    message = f"The file is larger than the {readable_size(limit_bytes)} allowed here."
    raise UploadTooLarge(message, limit_bytes=limit_bytes)
