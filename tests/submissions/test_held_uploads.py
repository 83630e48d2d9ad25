"""Files that come before their submission: each person's own, held for a day, and no more than some at a time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.models import HeldUpload, User
from app.submissions.held_uploads import (
    HELD,
    HELD_AT_ONCE,
    HeldFile,
    NotUploadedYet,
    UploadedAlready,
    announce_upload,
    check_awaited,
    forget_held_uploads,
    held_file,
    record_upload,
)
from tests.world import NOW, SECOND, upload_of


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def announce(engine: Engine, user: User, name: str, now: datetime = NOW) -> tuple[UUID, str]:
    with writing(engine) as session:
        return announce_upload(session, user, name, now)


def send(engine: Engine, secret: str, content: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        record_upload(session, secret, upload_of(content), now)


def held(engine: Engine, user: User, key: UUID, now: datetime = NOW) -> HeldFile:
    with reading(engine) as session:
        return held_file(session, user, key, now)


def names(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return sorted(session.scalars(select(HeldUpload.filename)))


def test_a_file_is_its_senders_under_its_own_key_and_address(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    (first, address), (other, _), (of_bob, his) = (
        announce(engine, user, name) for user, name in ((ada, "c:\\a.csv"), (ada, "b.csv"), (bob, "a.csv"))
    )
    send(engine, address, "mine")
    send(engine, his, "his")
    assert held(engine, ada, first) == HeldFile(upload_of("mine"), "a.csv")
    assert held(engine, bob, of_bob) == HeldFile(upload_of("his"), "a.csv")
    with pytest.raises(NotUploadedYet):
        held(engine, ada, other)
    with pytest.raises(NotFound):
        held(engine, bob, first)


def test_an_address_takes_one_file_once_more_and_no_other(engine: Engine, people: list[User]) -> None:
    key, address = announce(engine, people[0], "a.csv")
    for _ in range(2):
        send(engine, address, "mine")
    with pytest.raises(UploadedAlready):
        send(engine, address, "another")
    assert held(engine, people[0], key).file == upload_of("mine")
    with pytest.raises(NotFound):
        send(engine, "somewhere else", "mine")


def test_after_a_day_a_file_is_neither_awaited_nor_there(engine: Engine, people: list[User]) -> None:
    key, address = announce(engine, people[0], "old.csv")
    send(engine, address, "mine")
    announce(engine, people[0], "young.csv", NOW + SECOND)
    last = NOW + HELD - SECOND
    with reading(engine) as session:
        check_awaited(session, address, last)
        with pytest.raises(NotFound):
            check_awaited(session, address, NOW + HELD)
    assert held(engine, people[0], key, last).filename == "old.csv"
    with pytest.raises(NotFound):
        held(engine, people[0], key, NOW + HELD)
    with writing(engine) as session:
        assert forget_held_uploads(session, last) == 0
        assert forget_held_uploads(session, NOW + HELD) == 1
    assert names(engine) == ["young.csv"]


def test_the_oldest_of_ones_own_make_room(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    announce(engine, bob, "bob.csv", NOW - SECOND)
    for number in range(HELD_AT_ONCE + 2):
        announce(engine, ada, f"{number:02}.csv", NOW + number * SECOND)
    assert names(engine) == [*(f"{number:02}.csv" for number in range(2, HELD_AT_ONCE + 2)), "bob.csv"]
