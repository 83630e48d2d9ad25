"""Organisers with one right each: extensions, the status of a competition, and what each finds on the desk."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.models import Right
from tests import world
from tests.competitions.allowing import allow
from tests.web.one_right import Organisers, only
from tests.web.site import Site

HERE, API_HERE = "/competitions/{competition}", "/api/v1/competitions/{competition}"
DESK = f"GET {HERE}/desk"
EXTENSIONS = (
    f"GET {HERE}/allowances",
    f"POST {HERE}/allowances",
    f"POST {HERE}/allowances/{{allowance_id}}/take-back",
    f"GET {API_HERE}/allowances",
    f"PUT {API_HERE}/allowances",
    f"DELETE {API_HERE}/allowances/{{allowance_id}}",
)
#: The last one makes it private: who organises next door does not find it any more.
STATUS = (
    f"GET {HERE}/life",
    f"POST {HERE}/life/deletion",
    f"POST {HERE}/life/deletion/stop",
    f"GET {API_HERE}/life",
    f"POST {HERE}/life/confirmation",
    f"GET {API_HERE}/life/confirmation",
    f"PUT {API_HERE}/life/confirmation",
    f"PUT {API_HERE}/life/deletion",
    f"DELETE {API_HERE}/life/deletion",
    f"POST {HERE}/life",
)


@pytest.mark.parametrize(
    ("right", "routes"),
    [(Right.SUBMISSIONS, EXTENSIONS), (Right.EDIT, STATUS), (Right.EDIT, (f"PUT {API_HERE}/life",))],
    ids=["extensions", "status", "status by API"],
)
def test_each_route_is_for_one_right(organisers: Organisers, right: Right, routes: Sequence[str]) -> None:
    assert organisers.let_in(routes) == only(right, routes)


def test_every_organiser_has_the_desk_and_nobody_alone_sends_its_mails_again(organisers: Organisers) -> None:
    again = f"POST {HERE}/desk/mail"
    assert organisers.let_in((DESK, again)) == {DESK: list(Right), again: []}


def test_whoever_lacks_the_right_extends_nothing_of_a_team_that_is_there(site: Site, organisers: Organisers) -> None:
    """A form that cannot be done shows its page again, which is refused for itself: this one could be done."""
    extend, end = f"POST {HERE}/allowances", f"POST {HERE}/allowances/{{allowance_id}}/take-back"
    world.add_team(site.engine, world.add_user(site.engine, "al"), name="Alpha")
    number = str(allow(site.engine, "Alpha", extra_total=1))
    found = organisers.without(Right.SUBMISSIONS).let_in((extend, end), allowance_id=number)
    assert found == {extend: [], end: []}
