"""Teams from before there were registrations: after the upgrade their members are registered, and have captains."""

from __future__ import annotations

from sqlalchemy import Engine, select

from app.base.db import reading
from app.competitions.find import find_competition
from app.models import Registration, RegistrationStatus, User
from app.teams.membership import team_of_captain
from app.teams.registration import participants_of, standing
from tests.test_migration_of_visibility import upgraded  # noqa: F401 - a fixture
from tests.world import COMPETITION, NOW


def test_who_took_part_is_registered_and_speaks_for_their_team(upgraded: Engine) -> None:  # noqa: F811
    with reading(upgraded) as session:
        competition = find_competition(session, COMPETITION)
        row = session.scalars(select(Registration)).one()
        assert (row.competition_id, row.status, row.registered_at) == (competition.id, RegistrationStatus.APPROVED, NOW)
        assert [user.username for user in participants_of(session, competition)] == ["ada"]
        ada = session.scalars(select(User)).one()
        assert standing(session, competition, ada).missing is None
        assert team_of_captain(session, competition, ada).name == "Ada"
