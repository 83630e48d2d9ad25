"""Every page of the application, visited in Chromium: it can be read by everybody, weighs little, and asks nobody else.

A route of a page that no visit below leads to fails a test, and so does one that is no page and is not named as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser
from sqlalchemy import select

from app.config import Settings
from app.db import reading, writing
from app.judging.marks import save_marks
from app.judging.rounds import publish_round
from app.main import create_app
from app.models import EntryRule, JudgingText, Role, TeamKind, User
from app.queries import find_competition
from app.roles import grant_role
from app.routes.pages.guide import GUIDES
from tests import judging, world
from tests.app.embargo import add_phase, declare, enter, freeze
from tests.web import mwe_world, paraphrase_world, probing_world
from tests.web.access import Reader, reader_of
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, HOME, SUBMIT_PAGE
from tests.web.routes import addresses
from tests.web.site import BROWSER, Site, log_in
from tests.web.test_browser import chromium  # noqa: F401 - a fixture
from tests.web.test_passwords import ask, links, path_of
from tests.whole import open_competition, sent, taking_part
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

pytestmark = pytest.mark.browser

#: Who looks.
NOBODY, ADA, OLGA = "nobody", "ada", "olga"
ROUND = f"{COMPETITION_PAGE}/judging/human"
#: No pages, though people meet them: where they lead, what they are part of, or for whom they are.
NO_PAGES = {
    "/competitions": "leads home",
    "/favicon.ico": "leads to a picture",
    "/robots.txt": "for robots",
    "/healthz": "for whoever runs the server",
    "/readyz": "for whoever runs the server",
    "/metrics": "for whoever runs the server",
    "/submissions/{submission_id}/live": "a part of the submission's page",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as somebody sees it. is_refused: its form, sent as it is; without: a part that is not ours."""

    template: str
    path: str = ""
    who: str = NOBODY
    status: int = 200
    is_refused: bool = False
    without: str = ""

    @property
    def address(self) -> str:
        return self.path or self.template

    def __str__(self) -> str:
        return f"{self.address} for {self.who}{' after a refusal' if self.is_refused else ''}"


BOARD = "/competitions/{competition}/phases/{phase}/boards/{board}"
ASKED = "/competitions/{competition}/phases/{phase}/tasks/{task}"
SHEETS = "/competitions/{competition}/judging/{round_name}"

#: A competition of idiom detection that has begun: submissions in every state, an official board, gold to come.
IDIOMS = [
    Visit("/"),
    Visit("/", who=ADA),
    Visit("/nothing", status=404),
    Visit("/login"),
    Visit("/login", is_refused=True),
    Visit("/register"),
    Visit("/register", is_refused=True),
    Visit("/password/forgot"),
    Visit("/password/new", "{password}"),
    Visit("/password/new", "/password/new?link=old", status=422),
    Visit("/status"),
    Visit("/guide"),
    Visit("/guide/metrics"),
    *(Visit("/guide/{name}", f"/guide/{name}") for name in GUIDES),
    Visit("/docs", without=".swagger-ui"),
    Visit("/competitions/{competition}", COMPETITION_PAGE),
    Visit("/competitions/{competition}", COMPETITION_PAGE, OLGA),
    Visit(BOARD, BOARD_PAGE),
    Visit(BOARD, BOARD_PAGE, ADA),
    Visit(BOARD, BOARD_PAGE, OLGA),
    Visit(f"{BOARD}/official", f"{BOARD_PAGE}/official"),
    Visit(f"{BOARD}/official/{{number}}", f"{BOARD_PAGE}/official/1"),
    Visit("/competitions/{competition}/tasks/{task}/results", f"{COMPETITION_PAGE}/tasks/{TASK}/results"),
    Visit(f"{ASKED}/submit", SUBMIT_PAGE, ADA),
    Visit(f"{ASKED}/submit", SUBMIT_PAGE, ADA, is_refused=True),
    Visit(f"{ASKED}/gold", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/gold", OLGA),
    Visit("/account", who=ADA),
    Visit("/submissions", who=ADA),
    Visit("/submissions/{submission_id}", "{queued}", ADA),
    Visit("/submissions/{submission_id}", "{scored}", ADA),
    Visit("/submissions/{submission_id}", "{scored}", OLGA),
    Visit("/submissions/{submission_id}", "{rejected}", ADA),
    Visit("/submissions/{submission_id}", "{failed}", ADA),
    Visit("/submissions/{submission_id}/report", "{scored}/report", ADA),
]
#: A report of identification, with its heat map.
IDENTIFICATION = [
    Visit("/submissions/{submission_id}/report", "{report}", ADA),
    Visit("/submissions/{submission_id}/report", "{report}?view=categories", ADA),
    Visit("/submissions/{submission_id}", "{scored}", ADA),
]
#: A report of probing and the pictures of its board.
PROBING = [
    Visit("/submissions/{submission_id}/report", "{report}", ADA),
    Visit("/submissions/{submission_id}/report/figures/{name}.svg", "{figure}", ADA),
    Visit(BOARD, "{board}"),
    Visit(f"{BOARD}/figures/{{name}}.svg", "{board_figure}"),
]
#: A board of paraphrasing with its picture, and a round of judging with marks.
PARAPHRASING = [
    Visit(BOARD, BOARD_PAGE),
    Visit(f"{ASKED}/judging", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/judging", OLGA),
    Visit(f"{ASKED}/judging", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/judging", OLGA, is_refused=True),
    Visit("/competitions/{competition}/judging", f"{COMPETITION_PAGE}/judging", OLGA),
    Visit("/competitions/{competition}/judging", f"{COMPETITION_PAGE}/judging", ADA),
    Visit(SHEETS, ROUND, OLGA),
    Visit(SHEETS, ROUND),
    Visit(f"{SHEETS}/figures/{{name}}.svg", "{judging_figure}"),
    Visit("/judging", who=ADA),
    Visit(f"{SHEETS}/items/{{language}}/{{place}}", f"{ROUND}2/items/en/1", ADA),
    Visit(f"{SHEETS}/items/{{language}}", f"{ROUND}/items/en", ADA),
]
ALL = [*IDIOMS, *IDENTIFICATION, *PROBING, *PARAPHRASING]


def test_every_page_is_visited() -> None:
    gets = {address.template for address in addresses(create_app(Settings())) if address.method == "GET"}
    pages = {template for template in gets if not template.startswith("/api/")} - NO_PAGES.keys()
    assert pages - {visit.template for visit in ALL} == set(), "pages that nobody visits"
    assert NO_PAGES.keys() <= gets, "no longer there"
