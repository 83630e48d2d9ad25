"""Roles: who is written to about a competition, and who is not although they have a part in it."""

from __future__ import annotations

from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Role
from app.people.roles import addresses_for_replies, grant_role, organisers_of
from tests.world import COMPETITION, NOW, add_competition, add_user


def test_letters_to_organisers_go_to_no_annotator_and_to_nobody_who_organises_elsewhere(sqlite_engine: Engine) -> None:
    for name in (COMPETITION, "others"):
        add_competition(sqlite_engine, name=name)
    add_user(sqlite_engine, "root", is_administrator=True)
    anna, elsa, olga = (add_user(sqlite_engine, name) for name in ("anna", "elsa", "olga"))
    with writing(sqlite_engine) as session:
        here, elsewhere = (find_competition(session, name) for name in (COMPETITION, "others"))
        grant_role(session, here, anna, Role.ANNOTATOR, NOW)
        grant_role(session, here, olga, Role.ORGANISER, NOW)
        grant_role(session, elsewhere, elsa, Role.ORGANISER, NOW)
    with reading(sqlite_engine) as session:
        assert [user.username for user in organisers_of(session, COMPETITION)] == ["olga"]
        assert addresses_for_replies(session, here.id) == ["olga@example.org"]
