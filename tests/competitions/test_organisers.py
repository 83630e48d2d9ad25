"""The right to make competitions, and the number allowed: counted so that two requests at the same moment
gain nothing.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import MEBIBYTE, Settings
from app.base.db import reading, writing
from app.base.errors import Forbidden
from app.base.live_settings import Rule
from app.base.storage import StoredFile
from app.competitions.organisers import (
    OrganiserLimits,
    QuotaReached,
    check_competitions_left,
    check_may_create,
    used_bytes,
)
from app.declarations.apply.changes import Changes, Work
from app.declarations.apply.files import note_missing_competitions
from app.declarations.blueprints.kept import add_file, begin_blueprint
from app.models import BlueprintFile, Competition, User
from app.people.act import UserAct
from tests.threads import in_threads
from tests.world import NOW, add_user

LIMITS = OrganiserLimits("anybody", competitions=2, bytes=100)
ONE_MEBIBYTE = Settings(mebibytes_per_organiser=1)


def own(engine: Engine, user: User, name: str) -> bool:
    """Return whether one more was made."""
    try:
        with writing(engine) as session:
            check_competitions_left(session, user, LIMITS)
            session.add(Competition(name=name, title=name, created_at=NOW, owner_id=user.id))
    except QuotaReached:
        return False
    return True


@pytest.mark.both
def test_nobody_owns_more_by_making_several_at_once(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    assert sum(in_threads(6, lambda number: own(engine, ada, f"made-{number}"))) == 2
    with reading(engine) as session:
        owned = select(func.count()).select_from(Competition).where(Competition.owner_id == ada.id)
        assert session.scalar(owned) == 2


@pytest.mark.both
def test_limits_of_their_own_are_those_of_the_moment(engine: Engine) -> None:
    """An administrator lowers and raises them while several are made: the person was loaded before."""
    ada = add_user(engine, "ada")

    def one_more(limit: int, number: int) -> bool:
        return own(engine, ada, f"made-{limit}-{number}")

    for limit, made in ((1, 1), (4, 3), (2, 0)):
        with writing(engine) as session:
            session.get_one(User, ada.id).competitions_limit = limit
        assert sum(in_threads(6, partial(one_more, limit))) == made


@pytest.mark.both
def test_nor_more_bytes_by_sending_several_files_at_once(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        blueprint = begin_blueprint(UserAct(session, ada, NOW, ONE_MEBIBYTE), {"name": "next"}).id

    def send(number: int) -> bool:
        try:
            with writing(engine) as session:
                file = StoredFile(f"{number:064}", MEBIBYTE * 2 // 5)
                add_file(UserAct(session, ada, NOW, ONE_MEBIBYTE), blueprint, f"{number}.csv", file)
        except QuotaReached:
            return False
        return True

    assert sum(in_threads(6, send)) == 2
    with reading(engine) as session:
        assert used_bytes(session, ada) == 2 * (MEBIBYTE * 2 // 5)
        sent = select(func.count()).select_from(BlueprintFile).where(BlueprintFile.blueprint_id == blueprint)
        assert session.scalar(sent) == 2


def test_administrators_have_no_bound(sqlite_engine: Engine) -> None:
    root = add_user(sqlite_engine, "root", is_administrator=True)
    assert all(own(sqlite_engine, root, f"made-{number}") for number in range(3))


@pytest.mark.parametrize("rule", ["anybody", "approved", "admins"])
def test_who_may_not_is_told_what_to_do(sqlite_engine: Engine, rule: Rule) -> None:
    ada = add_user(sqlite_engine, "ada", is_confirmed=False)
    said = {
        "anybody": "Confirm your e-mail address first",
        "approved": "they approve organisers",
        "admins": "Only administrators",
    }
    with pytest.raises(Forbidden, match=said[rule]):
        check_may_create(ada, rule)


def test_what_was_made_in_the_browser_is_not_missed_in_the_file(sqlite_engine: Engine) -> None:
    own(sqlite_engine, add_user(sqlite_engine, "ada"), "made-in-the-browser")
    with reading(sqlite_engine) as session:
        changes = Changes()
        work = cast(Work, SimpleNamespace(session=session, changes=changes))
        note_missing_competitions(work, set())
    noted = [str(change) for change in changes.made]
    assert "left alone: competition 'neighbours' is no longer declared" in noted
    assert not any("made-in-the-browser" in one for one in noted)
