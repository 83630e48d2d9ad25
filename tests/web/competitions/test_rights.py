"""Organisers with one right each: extensions, the status of a competition, and what each finds on the desk."""

from __future__ import annotations

import pytest

from app.models import Right
from tests.web.one_right import Organisers, only

HERE, API_HERE = "/competitions/{competition}", "/api/v1/competitions/{competition}"
DESK = f"GET {HERE}/desk"
ROUTES = {
    Right.SUBMISSIONS: (
        f"GET {HERE}/allowances",
        f"POST {HERE}/allowances",
        f"POST {HERE}/allowances/{{allowance_id}}/take-back",
        f"GET {API_HERE}/allowances",
        f"PUT {API_HERE}/allowances",
        f"DELETE {API_HERE}/allowances/{{allowance_id}}",
    ),
    Right.EDIT: (
        f"GET {HERE}/life",
        f"POST {HERE}/life",
        f"POST {HERE}/life/deletion",
        f"POST {HERE}/life/deletion/stop",
        f"GET {API_HERE}/life",
        f"PUT {API_HERE}/life",
        f"PUT {API_HERE}/life/deletion",
        f"DELETE {API_HERE}/life/deletion",
    ),
}


@pytest.mark.parametrize("right", ROUTES)
def test_each_route_is_for_one_right(organisers: Organisers, right: Right) -> None:
    assert organisers.let_in(ROUTES[right]) == only(right, ROUTES[right])


def test_every_organiser_has_the_desk_and_nobody_alone_sends_its_mails_again(organisers: Organisers) -> None:
    again = f"POST {HERE}/desk/mail"
    assert organisers.let_in((DESK, again)) == {DESK: list(Right), again: []}
