"""Bundles that programs announce and send: each to its own address, of its own sender, for a day and of a few."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.declarations.bundle_uploads import (
    INTERRUPTED,
    KEPT,
    KEPT_AT_ONCE,
    LONGEST,
    Creation,
    announce_bundle,
    claim_bundle,
    creation_by_key,
    creation_by_number,
    finish_bundle,
    forget_bundles,
    release_bundle,
    sender_of,
)
from app.models import BundleUpload, User
from app.submissions.held_uploads import NotUploadedYet, UploadedAlready
from tests.rich_world import fresh
from tests.world import HOUR, NOW, SECOND, add_user


@pytest.fixture
def users(sqlite_engine: Engine) -> list[User]:
    return [add_user(sqlite_engine, name) for name in ("ada", "bob")]


def announce(engine: Engine, user: User, now: datetime = NOW) -> str:
    """Announce a bundle; return the secret of its address."""
    with writing(engine) as session:
        return announce_bundle(session, user, now)[1]


def sender(engine: Engine, secret: str, now: datetime = NOW) -> str | None:
    with reading(engine) as session:
        found = sender_of(session, secret, now)
        return found.username if found is not None else None


def claim(engine: Engine, secret: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        claim_bundle(session, secret, now)


def numbers(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return [one.id for one in session.scalars(fresh(BundleUpload).order_by(BundleUpload.id))]


def became(engine: Engine, user: User, number: int, now: datetime = NOW) -> Creation:
    """Return what is reported by number, and in the same way by key."""
    with reading(engine) as session:
        found = creation_by_number(session, user, number, now)
        key = session.get_one(BundleUpload, number).key
        assert creation_by_key(session, user, key, now) == found
        return found


def test_each_address_is_of_its_sender_until_a_bundle_came_to_it(sqlite_engine: Engine, users: list[User]) -> None:
    ada, bob = users
    first, second, bobs = (announce(sqlite_engine, user) for user in (ada, ada, bob))
    assert [sender(sqlite_engine, one) for one in (first, second, bobs, "other")] == ["ada", "ada", "bob", None]
    assert [sender(sqlite_engine, first, NOW + KEPT - SECOND), sender(sqlite_engine, first, NOW + KEPT)] == [
        "ada",
        None,
    ]
    claim(sqlite_engine, second)
    for late in (sender, claim):
        with pytest.raises(UploadedAlready):
            late(sqlite_engine, second)
    assert [sender(sqlite_engine, one) for one in (first, bobs)] == ["ada", "bob"]
    claim(sqlite_engine, first)
    with writing(sqlite_engine) as session:
        release_bundle(session, second)
    claim(sqlite_engine, second, NOW + KEPT - SECOND)
    with pytest.raises(UploadedAlready):
        claim(sqlite_engine, first)
    with pytest.raises(UploadedAlready):
        claim(sqlite_engine, bobs, NOW + KEPT)


def test_what_became_of_a_bundle_is_told_to_its_sender_for_a_day(sqlite_engine: Engine, users: list[User]) -> None:
    ada, bob = users
    secrets = [announce(sqlite_engine, user) for user in (ada, ada, bob)]
    mine, waits, bobs = numbers(sqlite_engine)
    with pytest.raises(NotUploadedYet):
        became(sqlite_engine, ada, mine)
    for secret in (secrets[0], secrets[2]):
        claim(sqlite_engine, secret)
    assert became(sqlite_engine, ada, mine) == Creation(mine, False, None, "")
    with writing(sqlite_engine) as session:
        finish_bundle(session, secrets[0], "swans", "two dates were assumed", NOW + SECOND)
    assert became(sqlite_engine, ada, mine) == Creation(mine, True, "swans", "two dates were assumed")
    assert became(sqlite_engine, bob, bobs) == Creation(bobs, False, None, "")
    later = NOW + LONGEST
    assert became(sqlite_engine, bob, bobs, later - SECOND) == Creation(bobs, False, None, "")
    assert became(sqlite_engine, bob, bobs, later) == Creation(bobs, True, None, INTERRUPTED)
    assert became(sqlite_engine, ada, mine, later) == Creation(mine, True, "swans", "two dates were assumed")
    with pytest.raises(NotUploadedYet):
        became(sqlite_engine, ada, waits, later)
    assert became(sqlite_engine, ada, mine, NOW + KEPT - SECOND).competition == "swans"
    for user, number, now in ((bob, mine, NOW), (ada, bobs, NOW), (ada, mine, NOW + KEPT), (ada, 4711, NOW)):
        with pytest.raises(NotFound):
            became(sqlite_engine, user, number, now)
    with reading(sqlite_engine) as session:
        key = session.get_one(BundleUpload, mine).key
        assert creation_by_key(session, bob, key, NOW) is None
        assert creation_by_key(session, ada, key, NOW + KEPT) is None


def test_the_oldest_of_ones_own_make_room(sqlite_engine: Engine, users: list[User]) -> None:
    """Check the order in which they were announced, whatever their numbers; another user's stay."""
    ada, bob = users
    bobs = announce(sqlite_engine, bob, NOW - 10 * HOUR)
    hours = (3, 1, 2, *range(4, KEPT_AT_ONCE + 1))
    secrets = {hour: announce(sqlite_engine, ada, NOW + hour * timedelta(minutes=1)) for hour in hours}
    later = NOW + HOUR
    assert [sender(sqlite_engine, one, later) for one in secrets.values()] == ["ada"] * KEPT_AT_ONCE
    for _ in range(2):
        announce(sqlite_engine, ada, later)
    gone = [hour for hour, secret in secrets.items() if sender(sqlite_engine, secret, later) is None]
    assert gone == [1, 2]
    assert sender(sqlite_engine, bobs, later) == "bob"


def test_of_those_of_one_moment_the_last_stay(sqlite_engine: Engine, users: list[User]) -> None:
    ada, _ = users
    secrets = [announce(sqlite_engine, ada) for _ in range(KEPT_AT_ONCE + 2)]
    assert [sender(sqlite_engine, one) for one in secrets] == [None, None, *["ada"] * KEPT_AT_ONCE]


def test_what_is_older_than_a_day_is_forgotten(sqlite_engine: Engine, users: list[User]) -> None:
    announce(sqlite_engine, users[0], NOW)
    kept = announce(sqlite_engine, users[1], NOW + SECOND)
    with writing(sqlite_engine) as session:
        before = len(session.scalars(select(BundleUpload.id)).all())
        assert forget_bundles(session, NOW + KEPT - 2 * HOUR) == 0
        assert forget_bundles(session, NOW + KEPT) == 2, "and next door's"
        assert len(session.scalars(select(BundleUpload.id)).all()) == before - 2 == 1
    assert sender(sqlite_engine, kept, NOW + KEPT) == "bob"
