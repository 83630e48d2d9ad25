"""Hidden parts of a board are shown only to organisers with the right to submissions, who may also mark rows."""

from __future__ import annotations

import re

import pytest

from app.models import Right
from tests import world
from tests.boards.marks import HIDDEN, mark
from tests.competitions.embargo import declare, freeze, hide
from tests.web.one_right import Organisers, only
from tests.web.routes import NAMES
from tests.web.site import Person, Site, run_of
from tests.world import HOUR, NOW

HERE, API_HERE = "/competitions/{competition}", "/api/v1/competitions/{competition}"
ROWS, API_ROWS = (f"{here}/phases/{{phase}}/tasks/{{task}}/rows" for here in (HERE, API_HERE))
BOARD, API_BOARD = (f"{here}/phases/{{phase}}/boards/{{board}}" for here in (HERE, API_HERE))
FOR_SUBMISSIONS = (
    f"GET {ROWS}",
    f"POST {ROWS}",
    f"POST {ROWS}/{{mark_id}}/clear",
    f"GET {API_ROWS}",
    f"PUT {API_ROWS}",
    f"DELETE {API_ROWS}/{{mark_id}}",
)
BEHIND = (
    f"GET {BOARD}/official",
    f"GET {BOARD}/official/{{number}}",
    f"GET {BOARD}/official/{{number}}/rows/{{submission_id}}",
    f"GET {BOARD}/rows/{{submission_id}}",
    f"GET {BOARD}/pictures/{{picture}}.svg",
    f"GET {API_BOARD}/official",
    f"GET {API_BOARD}/official/{{number}}",
    f"GET {API_BOARD}/citation",
    f"GET {API_BOARD}/pictures/{{picture}}",
)
#: Pages and answers that are there for everybody, with as many rows as each may see.
NAMING = (
    BOARD,
    f"{BOARD}/pictures",
    f"{HERE}/tasks/{{task}}/results",
    API_BOARD,
    f"{API_BOARD}.csv",
    f"{API_BOARD}/table",
    f"{API_HERE}/tasks/{{task}}/results",
    f"{API_HERE}/tasks/{{task}}/results.csv",
)


@pytest.fixture
def sent(site: Site, ada: Person) -> str:
    """The id of the one row of a board that stays hidden after its phase, and was frozen."""
    submission = ada.submitted()
    world.score(site.engine, run_of(site, submission), 0.75)
    declare(site.engine, ends_at=NOW)
    hide(site.engine, board="hidden", own_scores="never")
    site.set_clock(NOW + HOUR)
    freeze(site.engine, NOW + HOUR)
    return str(submission["id"])


def test_each_route_to_marks_is_for_the_right_to_submissions(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_SUBMISSIONS) == only(Right.SUBMISSIONS, FOR_SUBMISSIONS)


def test_whoever_lacks_the_right_marks_no_team_that_is_there(site: Site, organisers: Organisers) -> None:
    """A form that cannot be done shows its page again, which is refused for itself: this one could be done."""
    al = world.add_user(site.engine, "al")
    world.add_team(site.engine, al, name="Alpha")
    world.submit(site.engine, al)
    forms = (f"POST {ROWS}", f"POST {ROWS}/{{mark_id}}/clear")
    marked = str(mark(site.engine, "Alpha", HIDDEN, "why"))
    assert organisers.without(Right.SUBMISSIONS).let_in(forms, mark_id=marked) == {form: [] for form in forms}


def test_what_a_hidden_board_has_is_there_for_that_right_alone(sent: str, organisers: Organisers) -> None:
    found = organisers.let_in(BEHIND, refused=404, submission_id=sent, picture="distribution", number="1")
    assert found == only(Right.SUBMISSIONS, BEHIND)


@pytest.mark.parametrize("template", NAMING)
def test_a_hidden_row_is_named_to_that_right_alone(sent: str, organisers: Organisers, template: str) -> None:
    path = template.format_map(NAMES)
    shown = {right: client.send("GET", path).text for right, client in organisers.clients.items()}
    assert [right for right, text in shown.items() if re.search(r"\bAda\b", text)] == [Right.SUBMISSIONS]
