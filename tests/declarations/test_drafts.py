"""Drafts of declarations in the database: of two owners, of two competitions, with files of the same paths."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.base.storage import StoredFile
from app.competitions.find import find_competition, named_competition
from app.competitions.organisers import QuotaReached
from app.declarations.blueprints.kept import (
    MOST_BLUEPRINTS,
    ChangedMeanwhile,
    add_file,
    begin_blueprint,
    begin_changes,
    begin_copy,
    find_blueprint,
    list_blueprints,
    remove_file,
    save_document,
    throw_away,
)
from app.models import Blueprint, BlueprintFile, Right, Role, User
from app.people.act import UserAct
from app.people.rights import grant_role, revoke_role
from tests.declarations.place import DEMO, Place
from tests.rich_world import NEIGHBOURS, fresh
from tests.world import DAY, HOUR, NOW, add_user


@pytest.fixture
def users(place: Place) -> dict[str, User]:
    """Ada and Bob edit both competitions; `demo` has two revisions, the other one four."""
    place.edit({"title": "Another title"})
    found = {name: add_user(place.engine, name) for name in ("ada", "bob")}
    with writing(place.engine) as session:
        for name in (DEMO, NEIGHBOURS):
            for user in found.values():
                grant_role(session, find_competition(session, name), user, Role.ORGANISER, NOW, rights=(Right.EDIT,))
    return found


def act(session: Session, user: User, now: datetime = NOW) -> UserAct:
    return UserAct(session, user, now, get_settings())


def begin(engine: Engine, user: User, name: str, now: Any = NOW) -> int:
    with writing(engine) as session:
        return begin_changes(act(session, user, now), named_competition(session, name)).id


def put(engine: Engine, user: User, number: int, path: str, size: int = 1) -> None:
    with writing(engine) as session:
        add_file(act(session, user, NOW + HOUR), number, path, StoredFile(f"{size:064}", size))


def files(engine: Engine, number: int) -> dict[str, int]:
    with reading(engine) as session:
        rows = session.scalars(select(BlueprintFile).where(BlueprintFile.blueprint_id == number))
        return {row.path: row.size_bytes for row in rows}


def test_each_person_changes_each_competition_in_a_draft_of_their_own(place: Place, users: dict[str, User]) -> None:
    ada, bob = users.values()
    begun = {
        (user.username, name): begin(place.engine, user, name) for user in (ada, bob) for name in (DEMO, NEIGHBOURS)
    }
    assert len(set(begun.values())) == 4
    again = {
        (user.username, name): begin(place.engine, user, name) for user in (ada, bob) for name in (DEMO, NEIGHBOURS)
    }
    assert again == begun, "there is one of each, which is gone on with"
    with reading(place.engine) as session:
        for (username, name), number in begun.items():
            found = find_blueprint(session, users[username], number)
            assert found.competition is not None
            assert (found.competition.name, found.base) == (name, 2 if name == DEMO else 4)
            assert found.document["name"] == name
            with pytest.raises(NotFound):
                find_blueprint(session, users["bob" if username == "ada" else "ada"], number)
    assert files(place.engine, begun["ada", NEIGHBOURS]) == {"items.csv": 20}
    assert set(files(place.engine, begun["ada", DEMO])) > {"items.csv", "majority.csv"}


def test_drafts_are_listed_the_last_changed_first(place: Place, users: dict[str, User]) -> None:
    ada, bob = users.values()
    with writing(place.engine) as session:
        made = [begin_blueprint(act(session, ada, NOW + hour * HOUR), {"name": f"n{hour}"}).id for hour in (2, 3, 1)]
        begin_blueprint(act(session, bob, NOW + DAY), {"name": "bobs"})
    with reading(place.engine) as session:
        assert [one.id for one in list_blueprints(session, ada)] == [made[1], made[0], made[2]]
        assert [one.document["name"] for one in list_blueprints(session, bob)] == ["bobs"]


def test_files_are_those_of_one_draft(place: Place, users: dict[str, User]) -> None:
    ada, bob = users.values()
    with writing(place.engine) as session:
        mine, other, bobs = (begin_blueprint(act(session, user), {"name": "n"}).id for user in (ada, ada, bob))
    for number, user in ((mine, ada), (other, ada), (bobs, bob)):
        for path in ("a.csv", "b.csv"):
            put(place.engine, user, number, path)
    put(place.engine, ada, mine, "a.csv", 5)
    assert files(place.engine, mine) == {"a.csv": 5, "b.csv": 1}
    assert files(place.engine, other) == files(place.engine, bobs) == {"a.csv": 1, "b.csv": 1}
    with pytest.raises(NotFound):
        put(place.engine, ada, bobs, "c.csv")
    with writing(place.engine) as session:
        remove_file(session, session.get_one(Blueprint, mine), "b.csv")
        assert find_blueprint(session, ada, mine).changed_at == NOW + HOUR
        throw_away(session, session.get_one(Blueprint, other))
    assert [files(place.engine, number) for number in (mine, other)] == [{"a.csv": 5}, {}]
    assert files(place.engine, bobs) == {"a.csv": 1, "b.csv": 1}
    with reading(place.engine) as session:
        assert {one.id for one in session.scalars(fresh(Blueprint))} == {mine, bobs}


def test_a_draft_is_saved_from_the_version_that_was_read_under_its_own_name(
    place: Place, users: dict[str, User]
) -> None:
    ada = users["ada"]
    number = begin(place.engine, ada, DEMO)

    def save(version: int, document: dict[str, Any], which: int = number) -> int:
        with writing(place.engine) as session:
            return save_document(act(session, ada, NOW + HOUR), which, version, document).version

    assert save(1, {"name": DEMO, "title": "T"}) == 2
    with pytest.raises(ChangedMeanwhile):
        save(1, {"name": DEMO, "title": "U"})
    with pytest.raises(InvalidForm) as refused:
        save(2, {"name": "other", "title": "U"})
    assert list(refused.value.fields) == ["name"]
    with writing(place.engine) as session:
        new = begin_blueprint(act(session, ada), {"name": "first"}).id
    assert save(1, {"name": "second"}, new) == 2, "a new one may be renamed"
    with reading(place.engine) as session:
        assert find_blueprint(session, ada, number).document == {"name": DEMO, "title": "T"}
        assert find_blueprint(session, ada, number).changed_at == NOW + HOUR


def test_who_may_not_edit_the_competition_any_more_has_lost_the_draft(place: Place, users: dict[str, User]) -> None:
    ada = users["ada"]
    here, door = (begin(place.engine, ada, name) for name in (DEMO, NEIGHBOURS))
    with writing(place.engine) as session:
        new = begin_blueprint(act(session, ada), {"name": "n"}).id
        found = find_competition(session, DEMO)
        revoke_role(session, found, ada, Role.ORGANISER, NOW)
        grant_role(session, found, ada, Role.ORGANISER, NOW, rights=(Right.SUBMISSIONS, Right.GOLD, Right.MESSAGES))
    with reading(place.engine) as session:
        with pytest.raises(NotFound):
            find_blueprint(session, ada, here)
        assert [find_blueprint(session, ada, one).id for one in (door, new)] == [door, new]


def test_there_is_an_end_to_the_drafts_of_one_person(place: Place, users: dict[str, User]) -> None:
    ada, bob = users.values()
    with writing(place.engine) as session:
        for number in range(MOST_BLUEPRINTS):
            begin_blueprint(act(session, ada), {"name": f"n{number}"})
        with pytest.raises(QuotaReached):
            begin_blueprint(act(session, ada), {"name": "one more"})
        begin_blueprint(act(session, bob), {"name": "bobs"})


def test_a_copy_has_the_files_of_its_original(place: Place, users: dict[str, User]) -> None:
    with writing(place.engine) as session:
        found = find_competition(session, NEIGHBOURS)
        copied = begin_copy(act(session, users["ada"]), found, {"name": "copy"})
        assert (copied.competition_id, copied.base, copied.document) == (None, None, {"name": "copy"})
    assert files(place.engine, copied.id) == {"items.csv": 20}
