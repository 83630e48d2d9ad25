"""Uploads that count against what an organiser may own: no more of them is stored than fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.to_thread import run_sync

from app.base.db import reading
from app.base.errors import UploadTooLarge
from app.competitions.organisers import Room, limits_of, room_of
from app.models import User
from app.web.http.context import Server


def room_for(server: Server, user: User | None) -> Room:
    """Of what this user owns; None: of the server's own, which has no bound."""
    with reading(server.engine) as session:
        return room_of(session, user, limits_of(server.settings))


async def room_left(server: Server, user: User | None) -> Room:
    """`room_for`, in a thread."""
    return await run_sync(room_for, server, user)


@contextmanager
def within(room: Room, limit_bytes: int) -> Iterator[int]:
    """The bytes that an upload may have, which `receive_upload` refuses to exceed; raises QuotaReached where it did so
    for want of room.

    Two uploads at a time may find the same room: what is counted in the end is checked under the person's lock.
    """
    bound = min(limit_bytes, room.left)
    try:
        yield bound
    except UploadTooLarge:
        if bound < limit_bytes:
            raise room.no_room() from None
        raise
