"""The declaration is for organisers who may edit; one alone does not let anybody make another competition."""

from __future__ import annotations

from app.models import Right
from tests.web.one_right import Organisers, only

HERE, API_HERE = "/competitions/{competition}", "/api/v1/competitions/{competition}"
FOR_EDITORS = (
    f"GET {HERE}/edit",
    f"POST {HERE}/edit",
    f"GET {HERE}/edit/texts",
    f"POST {HERE}/edit/texts",
    f"POST {HERE}/edit/images",
    f"GET {HERE}/history",
    f"GET {HERE}/history/{{number}}",
    f"POST {HERE}/history/{{number}}",
    f"POST {HERE}/rewrite",
    f"GET {HERE}/setup/{{step}}",
    f"POST {HERE}/setup/{{step}}",
    f"POST {HERE}/setup-items",
    f"GET {API_HERE}/declaration",
    f"PATCH {API_HERE}/declaration",
    f"GET {API_HERE}/declaration.zip",
    f"GET {API_HERE}/revisions",
    f"GET {API_HERE}/revisions/{{number}}",
    f"POST {API_HERE}/revisions/{{number}}/apply",
)
FOR_OTHERS = ("POST /organise", "POST /organise/bundle", "POST /organise/zip", "POST /api/v1/competitions")


def test_each_route_is_for_the_right_to_edit(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_EDITORS) == only(Right.EDIT, FOR_EDITORS)


def test_no_right_in_a_competition_lets_one_make_another(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_OTHERS) == {route: [] for route in FOR_OTHERS}


def test_a_draft_is_published_with_the_right_to_edit(organisers: Organisers) -> None:
    publish = f"POST {HERE}/setup/{{step}}"
    assert organisers.let_in((publish,), step="publish") == only(Right.EDIT, (publish,))
