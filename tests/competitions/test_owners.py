"""Competitions handed over, organisers who leave, and bytes of an owner: counted for the owner, whoever adds them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm
from app.base.storage import UNLIMITED_BYTES
from app.competitions.find import find_competition, named_competition
from app.competitions.organisers import (
    LastOrganiser,
    OrganiserLimits,
    OwnersRole,
    QuotaReached,
    Room,
    check_bytes_left,
    check_competitions_left,
    check_may_create,
    check_owner_bytes_left,
    hand_over,
    may_create,
    needs_to_take,
    room_of,
    take_role,
    used_bytes,
)
from app.models import (
    ALL_RIGHTS,
    AuditEntry,
    Blueprint,
    BlueprintFile,
    Competition,
    Revision,
    RevisionFile,
    RevisionSource,
    Right,
    Role,
    User,
)
from app.people.act import Act
from app.people.rights import ANY_RIGHT, grant_role
from tests import rich_rows
from tests.world import COMPETITION, NOW, PHASE, TASK, add_competition, add_user

LIMITS = OrganiserLimits("anybody", competitions=2, bytes=10_000)
ELSEWHERE = "elsewhere"
MEBIBYTE = 1024 * 1024


@pytest.fixture
def people(sqlite_engine: Engine) -> dict[str, User]:
    """Olga owns ours and Elsa the one elsewhere; Edda organises both of them, Tess tests ours."""
    names = ("elsa", "olga", "edda", "tess", "root")
    found = {name: add_user(sqlite_engine, name, is_administrator=name == "root") for name in names}
    for place, owner in ((ELSEWHERE, "elsa"), (COMPETITION, "olga")):
        add_competition(sqlite_engine, name=place)
        with writing(sqlite_engine) as session:
            competition = named_competition(session, place)
            competition.owner_id = found[owner].id
            for name in (owner, "edda"):
                grant_role(session, competition, found[name], Role.ORGANISER, NOW)
    with writing(sqlite_engine) as session:
        grant_role(session, named_competition(session, COMPETITION), found["tess"], Role.TESTER, NOW)
    return found


def owner(engine: Engine, name: str = COMPETITION) -> int | None:
    with reading(engine) as session:
        return named_competition(session, name).owner_id


def give(engine: Engine, to: str, by: User | None, limits: OrganiserLimits = LIMITS) -> User:
    with writing(engine) as session:
        return hand_over(Act(session, by, NOW, get_settings()), find_competition(session, COMPETITION), to, limits)


# ------------------------------------------------------------------------------------------------------- handing over


def test_its_owner_hands_it_over_to_somebody_who_organises_it(sqlite_engine: Engine, people: dict[str, User]) -> None:
    for by in (people["edda"], people["elsa"], people["tess"]):
        with pytest.raises(Forbidden, match="Only the owner of a competition"):
            give(sqlite_engine, "edda", by)
    for other in ("elsa", "tess", "nobody"):
        with pytest.raises(InvalidForm) as refused:
            give(sqlite_engine, other, people["olga"])
        assert list(refused.value.fields) == ["owner"]
    assert give(sqlite_engine, "olga", people["olga"]).username == "olga", "who owns it already"
    assert give(sqlite_engine, " Edda ", people["olga"]).username == "edda"
    assert (owner(sqlite_engine), owner(sqlite_engine, ELSEWHERE)) == (people["edda"].id, people["elsa"].id)
    assert give(sqlite_engine, "olga", people["root"]).username == "olga"
    assert give(sqlite_engine, "edda", None).username == "edda", "on the command line"
    with reading(sqlite_engine) as session:
        entries = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "competition.hand_over").order_by(AuditEntry.id)
        )
        told = [(one.actor.partition(" (")[0], one.details["to"], one.details["before"]) for one in entries]
    olga, edda = people["olga"].id, people["edda"].id
    assert told == [("olga", "edda", olga), ("root", "olga", edda), ("command line", "edda", olga)]


def test_nobody_is_handed_more_competitions_than_they_may_own(sqlite_engine: Engine, people: dict[str, User]) -> None:
    """Check the limit of the recipient, who counts what they own, not what they organise."""
    with writing(sqlite_engine) as session:
        session.get_one(User, people["olga"].id).competitions_limit = 0
        for name in ("edda-a", "edda-b"):
            session.add(Competition(name=name, title="Edda's", created_at=NOW, owner_id=people["edda"].id))
    with pytest.raises(QuotaReached) as refused:
        give(sqlite_engine, "edda", people["olga"])
    assert refused.value.details == {"limit": 2, "used": 2}
    assert owner(sqlite_engine) == people["olga"].id
    with writing(sqlite_engine) as session:
        session.get_one(User, people["edda"].id).competitions_limit = 3
    assert give(sqlite_engine, "edda", people["olga"]).username == "edda"
    with writing(sqlite_engine) as session:
        check_competitions_left(session, session.get_one(User, people["elsa"].id), LIMITS)


# ------------------------------------------------------------------------------------------------------------ leaving


def leave(engine: Engine, user: User, by: User | None, role: Role = Role.ORGANISER, place: str = COMPETITION) -> bool:
    with writing(engine) as session:
        return take_role(Act(session, by, NOW, get_settings()), find_competition(session, place), user, role)


def test_the_last_organiser_stays_and_testers_and_organisers_elsewhere_are_none(
    sqlite_engine: Engine, people: dict[str, User]
) -> None:
    edda, olga = people["edda"], people["olga"]
    with pytest.raises(OwnersRole):
        leave(sqlite_engine, olga, olga)
    with writing(sqlite_engine) as session:
        find_competition(session, COMPETITION).owner_id = None
    assert leave(sqlite_engine, olga, olga)
    with pytest.raises(LastOrganiser):
        leave(sqlite_engine, edda, edda)
    assert leave(sqlite_engine, people["tess"], people["tess"], Role.TESTER), (
        "who holds another role leaves as they like"
    )
    assert leave(sqlite_engine, edda, edda, place=ELSEWHERE), "there is its owner"
    assert leave(sqlite_engine, edda, None), "the command line takes it from the last one, too"
    assert not leave(sqlite_engine, edda, None)


def test_whoever_holds_fewer_rights_takes_nobodys_with_more(sqlite_engine: Engine, people: dict[str, User]) -> None:
    """Check that rights elsewhere do not count; the other way round it is allowed."""
    fay = add_user(sqlite_engine, "fay")
    with writing(sqlite_engine) as session:
        for place, rights in ((COMPETITION, (Right.EDIT,)), (ELSEWHERE, ALL_RIGHTS)):
            grant_role(session, named_competition(session, place), fay, Role.ORGANISER, NOW, rights=rights)
    with pytest.raises(Forbidden, match="edda has rights that you lack"):
        leave(sqlite_engine, people["edda"], fay)
    assert leave(sqlite_engine, fay, people["edda"])


@pytest.mark.parametrize(
    ("role", "whom", "needs"),
    [
        (Role.ORGANISER, " Edda", ANY_RIGHT),
        (Role.ORGANISER, "olga", Right.EDIT),
        (Role.TESTER, "edda", Right.EDIT),
    ],
)
def test_leaving_needs_no_right(people: dict[str, User], role: Role, whom: str, needs: object) -> None:
    assert needs_to_take(people["edda"], role, whom) == needs


# -------------------------------------------------------------------------------------------------------------- bytes


def keep_files(engine: Engine, place: str, number: int, **sizes: int) -> None:
    """A revision with files of these sizes, by their names; a name is a content."""
    with writing(engine) as session:
        revision = Revision(
            competition_id=named_competition(session, place).id,
            number=number,
            source=RevisionSource.FILE,
            made_at=NOW,
            author="ada",
            document={},
            fingerprint=str(number),
            changes=[],
        )
        session.add(revision)
        session.flush()
        for path, size in sizes.items():
            session.add(RevisionFile(revision_id=revision.id, path=path, sha256=path * 64, size_bytes=size))


def draft(engine: Engine, user: User, *sizes: int) -> None:
    with writing(engine) as session:
        blueprint = Blueprint(owner_id=user.id, document={}, made_at=NOW, changed_at=NOW)
        session.add(blueprint)
        session.flush()
        for number, size in enumerate(sizes):
            session.add(
                BlueprintFile(blueprint_id=blueprint.id, path=f"{number}.csv", sha256=f"{number:064}", size_bytes=size)
            )


@pytest.fixture
def full(sqlite_engine: Engine, people: dict[str, User]) -> Engine:
    """Olga's: drafts of 3, files of 70 (one in two revisions, one in both competitions), gold of 2 · 900."""
    draft(sqlite_engine, people["olga"], 1, 2)
    draft(sqlite_engine, people["elsa"], 4)
    keep_files(sqlite_engine, COMPETITION, 1, a=10, b=20)
    keep_files(sqlite_engine, COMPETITION, 2, a=10, c=40)
    keep_files(sqlite_engine, ELSEWHERE, 1, a=10, d=100)
    for place, versions in ((COMPETITION, 2), (ELSEWHERE, 1)):
        for _ in range(versions):
            rich_rows.add_gold(sqlite_engine, place, PHASE, TASK, NOW)
    return sqlite_engine


OLGAS, ELSAS = 3 + 70 + 1800, 4 + 110 + 900


def test_drafts_files_and_gold_of_a_persons_competitions_are_counted(full: Engine, people: dict[str, User]) -> None:
    with reading(full) as session:
        assert [used_bytes(session, people[name]) for name in ("olga", "elsa", "edda")] == [OLGAS, ELSAS, 0]
        rooms = {name: room_of(session, people[name], LIMITS) for name in ("olga", "edda", "root")}
        assert room_of(session, None, LIMITS) == rooms["root"] == Room(UNLIMITED_BYTES, 0, UNLIMITED_BYTES)
    assert rooms["olga"] == Room(LIMITS.bytes - OLGAS, OLGAS, LIMITS.bytes)
    assert rooms["edda"] == Room(LIMITS.bytes, 0, LIMITS.bytes)
    assert rooms["olga"].no_room().details == {"limit": LIMITS.bytes, "used": OLGAS}
    with reading(full) as session:
        assert room_of(session, people["olga"], OrganiserLimits("anybody", 2, 5)) == Room(0, OLGAS, 5)
        people["olga"].mebibytes_limit = 1
        assert room_of(session, people["olga"], LIMITS) == Room(MEBIBYTE - OLGAS, OLGAS, MEBIBYTE)


def test_bytes_are_charged_to_the_owner_to_the_last_one(full: Engine, people: dict[str, User]) -> None:
    left = LIMITS.bytes - OLGAS
    with writing(full) as session:
        here = named_competition(session, COMPETITION)
        check_owner_bytes_left(session, here, left, LIMITS)
        with pytest.raises(QuotaReached) as refused:
            check_owner_bytes_left(session, here, left + 1, LIMITS)
        assert refused.value.details == {"limit": LIMITS.bytes, "used": OLGAS}
        check_bytes_left(session, people["edda"], left + 1, LIMITS)
        check_bytes_left(session, people["root"], 10 * LIMITS.bytes, LIMITS)
        here.owner_id = None
        check_owner_bytes_left(session, here, 10 * LIMITS.bytes, LIMITS)
        session.get_one(User, people["olga"].id).mebibytes_limit = 0
        with pytest.raises(QuotaReached):
            check_bytes_left(session, people["olga"], 1, LIMITS)


# ------------------------------------------------------------------------------------------------------ who may create


@pytest.mark.parametrize(
    ("person", "rules"),
    [
        ({}, {"anybody"}),
        ({"email_confirmed_at": None}, set()),
        ({"is_approved_organiser": True}, {"anybody", "approved"}),
        ({"is_approved_organiser": True, "email_confirmed_at": None}, {"approved"}),
        ({"is_approved_organiser": True, "is_barred_organiser": True}, set()),
        ({"is_administrator": True}, {"anybody", "approved", "admins"}),
        ({"is_administrator": True, "is_barred_organiser": True}, {"anybody", "approved", "admins"}),
    ],
)
def test_who_may_make_competitions_by_the_rule_of_the_server(person: dict[str, Any], rules: set[str]) -> None:
    user = User(
        **{
            "email_confirmed_at": NOW,
            "is_approved_organiser": False,
            "is_barred_organiser": False,
            "is_administrator": False,
            **person,
        }
    )
    found = {rule for rule in ("anybody", "approved", "admins") if may_create(user, rule)}
    assert found == rules
    for rule in ("anybody", "approved", "admins"):
        assert not may_create(None, rule)
        if rule in rules:
            check_may_create(user, rule)
            continue
        with pytest.raises(Forbidden) as refused:
            check_may_create(user, rule)
        assert ("do not let you" in refused.value.message) == user.is_barred_organiser
