"""The effect of one more submission on the entry, as the upload form describes it, by the phase's rule."""

from __future__ import annotations

import pytest

from app.models import EntryRule
from tests import world
from tests.competitions.embargo import declare
from tests.web.reading import text_of
from tests.web.site import BOARD, SUBMIT, Person, Site, run_of

FORM = SUBMIT.removeprefix("/api/v1").replace("/submissions", "/submit")
CHOICE = "You can choose another one afterwards."
LADDER = "Your record counts: it changes only if a submission is a clear improvement."


def said(person: Person) -> str:
    return text_of(person.client.get(FORM, headers={"Accept": "text/html"}).text)


@pytest.mark.parametrize(
    ("rule", "first", "later"),
    [
        ("best", "The best submission counts, and this is your first.", "this one replaces 0.5000 if it is better."),
        ("last", "The latest submission counts, and this is your first.", "this one replaces 0.5000."),
        ("all", "Every submission counts, this one too.", "Every submission counts, this one too."),
        ("ladder", LADDER, LADDER),
    ],
)
def test_it_says_what_counts(site: Site, ada: Person, rule: str, first: str, later: str) -> None:
    declare(site.engine, entry_rule=EntryRule(rule), without_choice=EntryRule.ALL)
    assert first in said(ada)
    world.score(site.engine, run_of(site, ada.submitted()), 0.5)
    assert later in said(ada)
    assert CHOICE not in said(ada)


def test_where_teams_choose_it_says_what_counts_without_and_with_a_choice(site: Site, ada: Person) -> None:
    declare(site.engine, entry_rule=EntryRule.CHOSEN, without_choice=EntryRule.LAST)
    assert f"The latest submission counts, and this is your first. {CHOICE}" in said(ada)
    sent = ada.submitted()
    world.score(site.engine, run_of(site, sent), 0.5)
    assert f"this one replaces 0.5000. {CHOICE}" in said(ada)
    board = BOARD.rpartition("/")[2]
    assert ada.client.put(f"/api/v1/submissions/{sent['id']}/choice", params={"board": board}).status_code == 200
    assert "Your choice counts: this submission counts only if you choose it." in said(ada)


def test_scores_that_are_hidden_are_not_said(site: Site, ada: Person) -> None:
    declare(site.engine, visibility={"own_scores": "never"})
    world.score(site.engine, run_of(site, ada.submitted()), 0.5)
    assert "The best submission counts: this one does if it is better." in said(ada)
