"""Organisers with one right: texts are for those who decide about their kind, people for those who edit."""

from __future__ import annotations

from app.models import Right
from tests.web.one_right import Organisers, only

PLACE = "/competitions/{competition}"
FOR_EDITORS = (
    f"GET /api/v1{PLACE}/blocked",
    f"PUT /api/v1{PLACE}/blocked/{{username}}",
    f"DELETE /api/v1{PLACE}/blocked/{{username}}",
    f"POST {PLACE}/moderation/block",
    f"POST {PLACE}/moderation/unblock",
)
FOR_ALL = (
    f"GET {PLACE}/moderation",
    f"GET /api/v1{PLACE}/reports",
    f"GET /api/v1{PLACE}/hidden-texts",
)


def test_people_are_blocked_by_those_who_edit(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_EDITORS) == only(Right.EDIT, FOR_EDITORS)


def test_every_organiser_sees_the_page_and_nobody_of_next_door_does(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_ALL) == {route: list(Right) for route in FOR_ALL}
