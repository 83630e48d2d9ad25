"""Rescoring: who sees submissions sees its sets; who starts, drops or publishes one has the right to gold, too."""

from __future__ import annotations

from app.models import Right
from tests.web.one_right import Organisers, only

SETS, API_SETS = "/competitions/{competition}/rescoring", "/api/v1/competitions/{competition}/rescorings"
FOR_SUBMISSIONS = (
    f"GET {SETS}",
    f"GET {SETS}/{{rescoring}}",
    f"GET {API_SETS}",
    f"GET {API_SETS}/{{rescoring}}",
    f"GET {API_SETS}/{{rescoring}}/diff",
)
FOR_TWO_RIGHTS = tuple(
    f"POST {sets}{deed}" for sets in (SETS, API_SETS) for deed in ("", "/{rescoring}/drop", "/{rescoring}/publish")
)


def test_each_route_to_read_is_for_the_right_to_submissions(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_SUBMISSIONS) == only(Right.SUBMISSIONS, FOR_SUBMISSIONS)


def test_nobody_with_one_right_starts_drops_or_publishes(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_TWO_RIGHTS) == {route: [] for route in FOR_TWO_RIGHTS}
