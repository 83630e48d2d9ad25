"""Uploads that count against what an organiser may own: no more of them is stored than fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anyio.to_thread import run_sync

from app.base.db import reading
from app.base.errors import UploadTooLarge
from app.base.storage import Storage
from app.competitions.organisers import Room, limits_of, room_of
from app.models import User
from app.web.http.context import Server
from app.web.http.multipart import FileWriter, Incoming, Upload, receive_upload


def room_for(server: Server, user: User | None) -> Room:
    """Of what this user owns; None: of the server's own, which has no bound."""
    with reading(server.engine) as session:
        return room_of(session, user, limits_of(server.settings))


async def receive_within(
    incoming: Incoming,
    room: Room,
    *,
    storage: Storage,
    limit_bytes: int,
    fields: frozenset[str],
    before_file: Callable[[Mapping[str, str]], None] = lambda fields: None,
    before_storing: Callable[[Mapping[str, str]], None] = lambda fields: None,
    into: FileWriter | None = None,
) -> Upload:
    """As `receive_upload`; raises QuotaReached at the first byte that does not fit, and nothing of the file is left.

    Two uploads at a time may find the same room: what is counted in the end is checked under the person's lock.
    """
    bound = min(limit_bytes, room.left)
    try:
        return await receive_upload(
            incoming,
            storage=storage,
            limit_bytes=bound,
            fields=fields,
            before_file=before_file,
            before_storing=before_storing,
            into=into,
        )
    except UploadTooLarge:
        if bound < limit_bytes:
            raise room.no_room() from None
        raise


async def room_left(server: Server, user: User | None) -> Room:
    """`room_for`, in a thread."""
    return await run_sync(room_for, server, user)
