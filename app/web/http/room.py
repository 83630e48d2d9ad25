"""The storage quota of organisers, applied to their uploads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.to_thread import run_sync

from app.base.db import reading
from app.base.errors import UploadTooLarge
from app.competitions.find import organised
from app.competitions.organisers import Room, limits_of, owner_of, room_of
from app.models import Right, User
from app.web.http.context import Server


def room_for(server: Server, user: User | None) -> Room:
    """Return the room left in this user's quota; None: the server's own, which has no limit."""
    with reading(server.engine) as session:
        return room_of(session, user, limits_of(server.settings))


async def room_left(server: Server, user: User | None) -> Room:
    """Call `room_for` in a thread."""
    return await run_sync(room_for, server, user)


async def room_left_in(server: Server, user: User, competition: str) -> Room:
    """Return the room left in the quota of the competition's owner, for somebody who edits it, in a thread."""

    def owner() -> User | None:
        with reading(server.engine) as session:
            return owner_of(session, organised(session, user, competition, Right.EDIT))

    return await room_left(server, await run_sync(owner))


@contextmanager
def within(room: Room, limit_bytes: int) -> Iterator[int]:
    """Yield the size limit for an upload; raise QuotaReached if the upload was refused for lack of room.

    Two concurrent uploads may see the same room: the final count is checked under the user's lock.
    """
    bound = min(limit_bytes, room.left)
    try:
        yield bound
    except UploadTooLarge:
        if bound < limit_bytes:
            raise room.no_room() from None
        raise
