"""Receives a logo: it is small, held in memory, and re-encoded before it is stored."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import Path, Request

from app.base.storage import StoredFile
from app.looks.logos import READ_BYTES, MadeLogo, make_logo
from app.web.http import csrf
from app.web.http.multipart import FieldsCheck, Policy, accept_any_fields, receive

SchemeHere = Annotated[Literal["light", "dark"], Path(description="for light pages or for dark pages")]


class _InMemory:
    """The content of an upload, held in memory instead of a file."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, piece: bytes) -> None:
        self.content += piece

    def finish(self) -> StoredFile:
        return StoredFile(hashlib.sha256(self.content).hexdigest(), len(self.content))

    def discard(self) -> None:
        """Do nothing, because nothing was stored."""


async def received_logo(request: Request, on_fields: FieldsCheck = accept_any_fields) -> MadeLogo:
    """Receive the upload and return the logo made from its field `file`. Raises InvalidLogo, InvalidForm,
    UploadTooLarge, Busy.
    """
    writer = _InMemory()
    await receive(request, Policy(writer, READ_BYTES, frozenset({csrf.FORM_FIELD}), on_fields))
    return await run_sync(make_logo, writer.content)
