"""Receives a request body that consists of one file, and stores it while it arrives."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import Request

from app.base.storage import StoredFile, UploadWriter
from app.web.http.multipart import PIECE_BYTES


async def receive_body(request: Request, writer: UploadWriter) -> StoredFile:
    """Store the body and return the stored file; nothing remains of an incomplete body."""
    try:
        pending = bytearray()
        async for chunk in request.stream():
            pending += chunk
            if len(pending) >= PIECE_BYTES:
                await run_sync(writer.write, bytes(pending))
                pending.clear()
        return await run_sync(_finish, writer, bytes(pending))
    finally:
        writer.discard()


def _finish(writer: UploadWriter, rest: bytes) -> StoredFile:
    if rest:
        writer.write(rest)
    return writer.finish()
