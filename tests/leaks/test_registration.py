"""Answers to organisers' questions at registration are read by organisers and by nobody else, on any page."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Registration, RegistrationStatus, User
from tests.leaks.place import Place
from tests.web.routes import addresses
from tests.world import COMPETITION, NOW

SECRET = "zq-affiliation-of-alpha"


@pytest.fixture
def answered(guarded: Place) -> Place:
    """Everybody is registered, and alpha has answered."""
    with writing(guarded.site.engine) as session:
        competition = find_competition(session, COMPETITION)
        competition.registration = {"questions": [{"name": "affiliation"}]}
        for user in session.scalars(select(User)).all():
            answers = {"affiliation": SECRET} if user.username == "alpha" else {}
            session.merge(
                Registration(
                    competition_id=competition.id,
                    user_id=user.id,
                    status=RegistrationStatus.APPROVED,
                    registered_at=NOW,
                    answers=answers,
                )
            )
    return guarded


def read_by(place: Place, role: str, *, near: bool) -> set[str]:
    """The addresses of the competition at which somebody reads alpha's answer. near: those that speak of people."""
    asked = [
        address
        for address in addresses(place.site.app)
        if address.method == "GET"
        and "/competitions/{competition}" in address.template
        and (not near or any(word in address.template for word in ("regist", "team", "participants")))
    ]
    with place.client(role) as visitor:
        return {one.template for one in asked if SECRET in visitor.send("GET", place.fill(one)).text}


PAGE, API = "/competitions/{competition}/registration", "/api/v1/competitions/{competition}/registration"


@pytest.mark.parametrize("near", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_answers_are_for_who_gave_them_and_for_organisers(answered: Place, near: bool) -> None:
    assert read_by(answered, "participant", near=near) == {PAGE, API}
    assert read_by(answered, "other team", near=near) == set()
    assert read_by(answered, "organiser elsewhere", near=near) == set()
    assert read_by(answered, "organiser", near=near) >= {f"{PAGE}s", f"{API}s", f"{API}s.csv"}
