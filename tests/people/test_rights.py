"""Rights of organisers: those of their role, all of them for owners, and who grants them."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm
from app.competitions.find import find_competition, organised_by
from app.competitions.organisers import OwnersRole, change_rights, give_role, take_role
from app.models import ALL_RIGHTS, AuditEntry, Competition, Right, Role, User
from app.people.act import Act
from app.people.rights import (
    ANY_RIGHT,
    RightMissing,
    addresses_for_replies,
    check_may_organise,
    grant_role,
    has_role,
    may_organise,
    organisers_of,
    rights_of,
    rights_to_give,
)
from tests.world import COMPETITION, NOW, add_competition, add_user

NAMES = ("olga", "edda", "mel", "root", "paul")


@pytest.fixture
def people(sqlite_engine: Engine) -> dict[str, User]:
    """Return people: Olga owns the competition, without a role of her own; Edda edits, Mel answers questions, Paul
    takes part.
    """
    add_competition(sqlite_engine)
    found = {name: add_user(sqlite_engine, name, is_administrator=name == "root") for name in NAMES}
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        here.owner_id = found["olga"].id
        for name, right in (("olga", Right.EDIT), ("edda", Right.EDIT), ("mel", Right.MESSAGES)):
            grant_role(session, here, found[name], Role.ORGANISER, NOW, rights=[right])
    return found


def test_the_owner_and_administrators_hold_every_right(sqlite_engine: Engine, people: dict[str, User]) -> None:
    with reading(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        held = {name: rights_of(session, user, here) for name, user in people.items()}
        assert rights_of(session, None, here) == frozenset()
        assert not may_organise(session, people["paul"], here, ANY_RIGHT)
        assert may_organise(session, people["mel"], here, ANY_RIGHT)
        assert not may_organise(session, people["mel"], here, (Right.MESSAGES, Right.GOLD)), "both are needed"
        assert [one.name for one in organised_by(session, people["edda"])] == [COMPETITION]
        assert organised_by(session, people["mel"]) == [], "nothing of hers to be copied or edited"
    assert held == {
        "olga": ALL_RIGHTS,
        "edda": {Right.EDIT},
        "mel": {Right.MESSAGES},
        "root": ALL_RIGHTS,
        "paul": frozenset(),
    }


def test_a_refusal_names_the_right_and_who_gives_it(sqlite_engine: Engine, people: dict[str, User]) -> None:
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        with pytest.raises(RightMissing) as refused:
            check_may_organise(session, people["mel"], here, (Right.SUBMISSIONS, Right.GOLD))
        assert refused.value.details == {"needed": ["submissions", "gold"], "rights": ["messages"]}
        assert (
            "'gold' (to upload, check and publish gold). Its owner, olga, can give it to you." in refused.value.message
        )
        here.owner_id = None
        with pytest.raises(RightMissing, match="An administrator of this server can give it to you."):
            check_may_organise(session, people["mel"], here, Right.EDIT)
        with pytest.raises(Forbidden, match="Only organisers of the competition can do this") as other:
            check_may_organise(session, people["paul"], here, ANY_RIGHT)
        assert not isinstance(other.value, RightMissing)


@pytest.mark.parametrize(
    ("right", "owner", "told"),
    [
        (Right.MESSAGES, "olga", ["mel", "olga"]),
        (Right.EDIT, "olga", ["edda", "olga"]),
        (Right.SUBMISSIONS, "olga", ["olga"]),
        (Right.SUBMISSIONS, None, ["root"]),
        (Right.MESSAGES, None, ["mel"]),
    ],
)
def test_mail_goes_to_those_who_hold_the_right_to_what_it_says(
    sqlite_engine: Engine, people: dict[str, User], right: Right, owner: str | None, told: list[str]
) -> None:
    with writing(sqlite_engine) as session:
        find_competition(session, COMPETITION).owner_id = people[owner].id if owner else None
    with reading(sqlite_engine) as session:
        assert [user.username for user in organisers_of(session, COMPETITION, right)] == told
        if right is Right.MESSAGES:
            here = find_competition(session, COMPETITION)
            assert addresses_for_replies(session, here.id) == [f"{name}@example.org" for name in told]


def test_nobody_gives_a_right_that_they_lack(sqlite_engine: Engine, people: dict[str, User]) -> None:
    with writing(sqlite_engine) as session:
        here, paul = find_competition(session, COMPETITION), people["paul"]
        assert rights_to_give(session, people["edda"], here, None) == {Right.EDIT}
        assert rights_to_give(session, None, here, None) == ALL_RIGHTS, "the server's command line"
        for wanted in ((), (Right.EDIT, Right.GOLD)):
            with pytest.raises(InvalidForm):
                give_role(Act(session, people["edda"], NOW, get_settings()), here, paul, Role.ORGANISER, wanted)
        assert not has_role(session, paul, here, Role.ORGANISER)
        assert give_role(Act(session, people["edda"], NOW, get_settings()), here, paul, Role.ORGANISER, None)
        assert rights_of(session, paul, here) == {Right.EDIT}


def test_only_who_could_give_rights_takes_them_back(sqlite_engine: Engine, people: dict[str, User]) -> None:
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        with pytest.raises(Forbidden, match="mel has rights that you lack"):
            take_role(Act(session, people["edda"], NOW, get_settings()), here, people["mel"], Role.ORGANISER)
        with pytest.raises(OwnersRole):
            take_role(Act(session, people["root"], NOW, get_settings()), here, people["olga"], Role.ORGANISER)
        assert take_role(Act(session, people["olga"], NOW, get_settings()), here, people["mel"], Role.ORGANISER)
        assert not take_role(Act(session, people["olga"], NOW, get_settings()), here, people["mel"], Role.ORGANISER)


def test_rights_are_changed_by_the_owner_and_the_change_is_recorded(
    sqlite_engine: Engine, people: dict[str, User]
) -> None:
    wanted = [Right.GOLD, Right.EDIT]
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        edda, olga = people["edda"], people["olga"]
        with pytest.raises(Forbidden, match="Only the owner of a competition and administrators"):
            change_rights(Act(session, edda, NOW, get_settings()), here, edda, wanted)
        with pytest.raises(OwnersRole, match="has every right"):
            change_rights(Act(session, olga, NOW, get_settings()), here, olga, wanted)
        with pytest.raises(InvalidForm):
            change_rights(Act(session, olga, NOW, get_settings()), here, people["paul"], wanted)
        assert change_rights(Act(session, olga, NOW, get_settings()), here, edda, wanted)
        assert not change_rights(Act(session, olga, NOW, get_settings()), here, edda, wanted)
        assert rights_of(session, edda, here) == set(wanted)
    with reading(sqlite_engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "role.rights")).one()
        assert (entry.actor, entry.details) == (
            "olga",
            {"user": "edda", "rights": "edit gold", "before": "edit"},
        )
        assert session.scalars(select(Competition).where(Competition.name == COMPETITION)).one().owner_id == olga.id
