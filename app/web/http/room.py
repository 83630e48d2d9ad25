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
    """Return the storage left in this user's quota. user: None for the server itself, which has no limit."""
    with reading(server.engine) as session:
        return room_of(session, user, limits_of(server.settings))


async def room_left(server: Server, user: User | None) -> Room:
    """Return the result of `room_for`, called in a thread."""
    return await run_sync(room_for, server, user)


async def room_left_in(server: Server, user: User, competition: str) -> Room:
    """Return the storage left in the quota of the competition's owner, for uploads by its editors."""

    def owner() -> User | None:
        with reading(server.engine) as session:
            return owner_of(session, organised(session, user, competition, Right.EDIT))

    return await room_left(server, await run_sync(owner))


@contextmanager
def within(room: Room, limit_bytes: int) -> Iterator[int]:
    """Yield the size limit for an upload; raise QuotaReached if the upload exceeds the owner's quota.

    Two concurrent uploads may see the same free storage, so the total is checked again under the user's lock.
    """
    bound = min(limit_bytes, room.left)
    try:
        yield bound
    except UploadTooLarge:
        if bound < limit_bytes:
            raise room.no_room() from None
        raise
