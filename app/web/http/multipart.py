"""Receiving multipart uploads: parsed in pieces, with the file streamed to storage.

All size limits (file, field, whole body) are enforced while reading; the minimum rate is enforced by
`app.web.http.arrival`. The parser gets pieces of a fixed size, however the network split the body, so that the same
bytes always get the same result. After any error, even a broken connection, no file is left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn, Protocol

from anyio.to_thread import run_sync
from fastapi import Request
from multipart import MultipartError, MultipartSegment, ParserError, PushMultipartParser, parse_options_header

from app.base.errors import EmptyUpload, EvergoldError, InvalidForm, UploadTooLarge
from app.base.storage import StoredFile
from app.base.text import readable_size
from app.web.http.arrival import mark_received

FILE_FIELD = "file"
FIELD_LIMIT_BYTES = 32 * 1024
#: Allowance for everything besides the file: fields, boundaries, headers.
OVERHEAD_BYTES = 256 * 1024
#: The file is written to disk, in a thread, in pieces of this size.
PIECE_BYTES = 256 * 1024
#: The parser gets the body in pieces of this size.
PARSED_BYTES = 64 * 1024


class NotMultipart(EvergoldError):
    status = 415
    code = "not_multipart"


class MalformedUpload(EvergoldError):
    status = 400
    code = "malformed_upload"


class FileWriter(Protocol):
    """A writer that takes a file piece by piece, like `app.base.storage.UploadWriter`."""

    def write(self, chunk: bytes, /) -> object: ...

    def finish(self) -> StoredFile: ...

    def discard(self) -> None: ...


FieldsCheck = Callable[[Mapping[str, str]], None]


def accept_any_fields(fields: Mapping[str, str]) -> None:
    """Accept any fields without a check."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Requirements of an upload, and the writer of its file.

    fields: names allowed in addition to `file`.
    on_fields: called with the fields that precede the file.
    before_storing: called with all fields before the file is stored.
    """

    writer: FileWriter
    limit_bytes: int
    fields: frozenset[str] = frozenset()
    on_fields: FieldsCheck = accept_any_fields
    before_storing: FieldsCheck = accept_any_fields


@dataclass(frozen=True, slots=True)
class Upload:
    """A stored file with its original name and the fields sent with it. arrived_at: when its last byte arrived."""

    file: StoredFile
    filename: str
    fields: Mapping[str, str]
    arrived_at: datetime


@dataclass(slots=True)
class _Form:
    """The parsed part of an upload. part: the field being read; pending: bytes of the file not yet written."""

    known_fields: frozenset[str]
    on_fields: FieldsCheck
    fields: dict[str, str] = field(default_factory=dict)
    filename: str | None = None
    pending: bytearray = field(default_factory=bytearray)
    part: str = ""
    value: bytearray = field(default_factory=bytearray)


async def receive(request: Request, policy: Policy) -> Upload:
    """Read the body, small or large, and store its file."""
    try:
        _check_declared_size(request.headers.get("content-length", ""), policy.limit_bytes)
        form = _Form(policy.fields, policy.on_fields)
        body, received = _Body(_parser(request.headers.get("content-type", "")), form), 0
        async for chunk in request.stream():
            received += len(chunk)
            if received > policy.limit_bytes + OVERHEAD_BYTES:
                _refuse_size(policy.limit_bytes)
            body.push(chunk)
            if len(form.pending) >= PIECE_BYTES:
                await _write(form, policy.writer)
        arrived_at = mark_received(request)  # before anything is written: a slow disk must not make anybody late
        return await run_sync(_finish, body, policy, arrived_at)
    finally:
        policy.writer.discard()


def _check_declared_size(content_length: str, limit_bytes: int) -> None:
    """Raise UploadTooLarge if the declared size exceeds the limit; a body in chunks declares none."""
    if content_length.isdigit() and int(content_length) > limit_bytes + OVERHEAD_BYTES:
        _refuse_size(limit_bytes)


async def _write(form: _Form, writer: FileWriter) -> None:
    piece, form.pending = bytes(form.pending), bytearray()
    await run_sync(writer.write, piece)


def _finish(body: _Body, policy: Policy, arrived_at: datetime) -> Upload:
    body.close()
    form = body.form
    if form.filename is None:
        refuse_field(FILE_FIELD, "The file is missing: send it as the multipart field 'file'.")
    policy.before_storing(form.fields)
    try:
        return Upload(_store(policy.writer, bytes(form.pending)), form.filename, form.fields, arrived_at)
    except EmptyUpload:
        if not form.filename:  # browsers send this when no file was chosen
            refuse_field(FILE_FIELD, "No file was chosen.")
        raise


def _store(writer: FileWriter, rest: bytes) -> StoredFile:
    """Write the last piece and finish the file."""
    if rest:
        writer.write(rest)
    return writer.finish()


# ------------------------------------------------------------------------------------------------------------ parsing


class _Parser(PushMultipartParser):  # type: ignore[misc]  # the library has no types
    """A parser that refuses a bare CR or LF in a part header.

    Whether the library accepts it depends on how the body is split.
    """

    def _on_segment_headerline(self, line: bytes) -> None:
        if b"\n" in line or b"\r" in line:
            raise ParserError("Invalid line break in segment header")
        super()._on_segment_headerline(line)


@dataclass(slots=True)
class _Body:
    """A body given to the parser in pieces of PARSED_BYTES; parsed parts go into the form."""

    parser: _Parser
    form: _Form
    waiting: bytearray = field(default_factory=bytearray)
    has_begun: bool = False

    def push(self, chunk: bytes) -> None:
        """Parse the data received so far; raise MalformedUpload."""
        self.waiting += chunk
        while len(self.waiting) >= PARSED_BYTES:
            self._parse(bytes(self.waiting[:PARSED_BYTES]))
            del self.waiting[:PARSED_BYTES]

    def close(self) -> None:
        """Parse the rest of the body; raise MalformedUpload unless it is complete."""
        if self.waiting:
            self._parse(bytes(self.waiting))
        try:
            self.parser.close()
        except MultipartError:
            raise MalformedUpload("The upload is incomplete: its last boundary is missing.") from None

    def _parse(self, piece: bytes) -> None:
        """Parse one piece; raise MalformedUpload if the body does not begin with its boundary.

        Whether the library skips a preamble depends on its length.
        """
        begins = self.has_begun or piece.removeprefix(b"\r\n").startswith(b"--" + self.parser.boundary)
        self.has_begun = True
        try:
            if not begins:
                raise ParserError("The body does not begin with its boundary")
            for event in self.parser.parse(piece):
                _put(self.form, event)
        except MultipartError:
            sentence = "The body is not multipart/form-data with the boundary that its header names."
            raise MalformedUpload(sentence) from None


def _parser(content_type: str) -> _Parser:
    """Return a parser for the body that this Content-Type announces."""
    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data":
        raise NotMultipart("Send the file as multipart/form-data, in the field 'file' (curl -F file=@predictions.csv).")
    if not options.get("boundary"):
        raise MalformedUpload("The Content-Type header does not name a multipart boundary.")
    try:
        # Names are accepted as bytes, and decoded as UTF-8 by `_text`: one odd letter in a file name must not cause a
        # refusal.
        return _Parser(options["boundary"].encode("latin-1", "replace"), header_charset="latin-1")
    except MultipartError as error:
        raise MalformedUpload(f"The multipart boundary cannot be used: {error}.") from None


def _put(form: _Form, event: MultipartSegment | bytes | bytearray | None) -> None:
    """Apply one event of the parser to the form: a part begins, continues or ends."""
    if isinstance(event, MultipartSegment):
        _open_part(form, event)
    elif event is None:
        _close_part(form)
    else:
        _fill_part(form, event)


def _open_part(form: _Form, segment: MultipartSegment) -> None:
    """Open a part: the file, or a known field; raise MalformedUpload or InvalidForm for unknown or repeated ones."""
    name = _text(segment.name)
    if not name:
        raise MalformedUpload("A part of the upload has no name.")
    if name != FILE_FIELD and name not in form.known_fields:
        known = ", ".join(f"'{known}'" for known in (FILE_FIELD, *sorted(form.known_fields)))
        refuse_field(name[:60], f"This field does not exist; the fields are {known}.")
    if name in form.fields or (name == FILE_FIELD and form.filename is not None):
        refuse_field(name, "This field was sent twice; send one file and every field once.")
    form.part, form.value = name, bytearray()
    if name == FILE_FIELD:
        form.filename = _text(segment.filename)
        form.on_fields(form.fields)


def _fill_part(form: _Form, piece: bytes | bytearray) -> None:
    if form.part == FILE_FIELD:
        form.pending += piece
        return
    form.value += piece
    if len(form.value) > FIELD_LIMIT_BYTES:
        refuse_field(form.part, "This text is too long.")


def _close_part(form: _Form) -> None:
    if form.part != FILE_FIELD:
        form.fields[form.part] = _decoded(form.part, bytes(form.value))


def _decoded(name: str, value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        refuse_field(name, "This text is not UTF-8.")


def _text(value: str | None) -> str:
    """Return a name as its sender wrote it; the parser has decoded its bytes as Latin-1."""
    return (value or "").encode("latin-1").decode("utf-8", errors="replace")


def refuse_field(name: str, sentence: str) -> NoReturn:
    """Raise InvalidForm for one field of an upload, with this sentence."""
    raise InvalidForm(sentence, fields={name: sentence})


def _refuse_size(limit_bytes: int) -> NoReturn:
    message = f"The file is larger than the {readable_size(limit_bytes)} allowed here."
    raise UploadTooLarge(message, limit_bytes=limit_bytes)
