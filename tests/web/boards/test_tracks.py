"""Tracks over HTTP: chosen with an upload by API, page and command line, and shown wherever a submission is."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.base.db import reading, writing
from app.models import Board, Competition, ScoringRun, Submission
from app.server.programs import code_path
from tests import world
from tests.rich_world import own
from tests.web.site import BOARD, CONTENT, TASK_PATH, Person, Site, csrf_of, log_in

TRACKS = [
    {"name": "closed", "title": "Closed track", "description": "Only the data provided."},
    {"name": "open", "title": "Open track", "description": ""},
]
PAGE = "/competitions/idioms/phases/evaluation/tasks/detection/submit"


@pytest.fixture
def tracks(site: Site) -> None:
    """The competition has two."""
    with writing(site.engine) as session:
        session.scalars(own(Competition)).one().tracks = TRACKS


def score_all(site: Site) -> None:
    with reading(site.engine) as session:
        waiting = [run.id for run in session.scalars(own(ScoringRun).where(ScoringRun.status == "queued"))]
    for run_id in waiting:
        world.score(site.engine, run_id, 0.5)


def tracks_in_the_database(site: Site) -> list[str | None]:
    with reading(site.engine) as session:
        return [found.track for found in session.scalars(own(Submission).order_by(Submission.submitted_at))]


# --------------------------------------------------------------------------------------------------------------- API


@pytest.mark.usefixtures("tracks")
def test_the_track_comes_with_the_upload_and_stands_in_the_answer(ada: Person) -> None:
    document = ada.submitted(track="open")
    assert document["track"] == "open"
    assert ada.client.get(document["links"]["self"]).json()["track"] == "open"


@pytest.mark.usefixtures("tracks")
@pytest.mark.parametrize("fields", [{}, {"track": ""}, {"track": "both"}])
def test_a_missing_or_unknown_track_is_a_wrong_field(site: Site, ada: Person, fields: dict[str, Any]) -> None:
    response = ada.submit(**fields)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_form")
    assert "'closed', 'open'" in response.json()["error"]["details"]["fields"]["track"]
    assert site.submissions() == 0


def test_a_track_where_there_are_none_is_a_wrong_field(ada: Person) -> None:
    response = ada.submit(track="open")
    assert (response.status_code, list(response.json()["error"]["details"]["fields"])) == (422, ["track"])


def test_without_tracks_a_submission_has_none(ada: Person) -> None:
    assert ada.submitted()["track"] is None


@pytest.mark.usefixtures("tracks")
def test_competition_and_task_list_the_tracks(ada: Person) -> None:
    assert ada.client.get("/api/v1/competitions/idioms").json()["tracks"] == TRACKS
    assert ada.client.get(TASK_PATH).json()["tracks"] == TRACKS


@pytest.mark.usefixtures("tracks")
def test_boards_name_the_track_of_each_row(site: Site, ada: Person, eve: Person) -> None:
    ada.submitted(track="open")
    eve.submitted(track="closed")
    score_all(site)
    board = ada.client.get(BOARD).json()
    assert (board["track"], {row["team"]: row["track"] for row in board["rows"]}) == (
        None,
        {"Ada": "open", "Eve": "closed"},
    )
    table = list(csv.DictReader(io.StringIO(ada.client.get(f"{BOARD}.csv").text)))
    assert {row["team"]: row["track"] for row in table} == {"Ada": "open", "Eve": "closed"}


def test_boards_without_tracks_have_no_column_for_them(ada: Person) -> None:
    assert "track" not in ada.client.get(f"{BOARD}.csv").text.splitlines()[0].split(",")


@pytest.mark.usefixtures("tracks")
def test_a_board_of_one_track_has_its_rows_only(site: Site, ada: Person, eve: Person) -> None:
    with writing(site.engine) as session:
        session.scalars(own(Board).where(Board.name == "zero-shot")).one().track = "open"
    ada.submitted(track="open")
    eve.submitted(track="closed")
    score_all(site)
    board = ada.client.get(BOARD).json()
    assert (board["track"], [row["team"] for row in board["rows"]]) == ("open", ["Ada"])


# ------------------------------------------------------------------------------------------------------------- pages


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    """Logged in."""
    with log_in(site) as found:
        yield found


@pytest.mark.usefixtures("tracks")
def test_the_upload_page_offers_the_tracks_and_sends_the_chosen_one(site: Site, browser: httpx.Client) -> None:
    page = browser.get(PAGE).text
    assert page.count('<input type="radio" name="track"') == 2
    assert "Only the data provided." in page
    form = {"csrf_token": csrf_of(page.split("<form class")[1]), "track": "open"}
    answer = browser.post(PAGE, data=form, files={"file": ("a.csv", CONTENT)}).text
    assert "<dt>Track</dt><dd>Open track</dd>" in answer
    assert tracks_in_the_database(site) == ["open"]
    assert "<bdi>Evaluation</bdi>, Open track" in browser.get("/submissions").text


@pytest.mark.usefixtures("tracks")
def test_a_form_without_a_track_comes_back_with_what_was_typed(site: Site, browser: httpx.Client) -> None:
    form = {"csrf_token": csrf_of(browser.get(PAGE).text.split("<form class")[1]), "method": "XLM-R"}
    answer = browser.post(PAGE, data=form, files={"file": ("a.csv", CONTENT)})
    assert answer.status_code == 422
    assert 'id="track-error">Choose a track' in answer.text
    assert 'value="XLM-R"' in answer.text
    assert tracks_in_the_database(site) == []


def test_without_tracks_the_upload_page_does_not_mention_them(browser: httpx.Client) -> None:
    assert "track" not in browser.get(PAGE).text.lower()


@pytest.mark.usefixtures("tracks")
def test_board_and_competition_pages_tell_the_tracks(site: Site, ada: Person) -> None:
    ada.submitted(track="open")
    score_all(site)
    with site.client(Accept="text/html") as browser:
        assert '<span class="badge">Open track</span>' in browser.get(BOARD.removeprefix("/api/v1")).text
        assert "<dt>Closed track</dt><dd>Only the data provided.</dd>" in browser.get("/competitions/idioms").text


# ------------------------------------------------------------------------------------------------------ command line

Evergold = Callable[..., tuple[int, str]]


@pytest.fixture
def evergold(site: Site, ada: Person, tmp_path: Path) -> Evergold:
    """`evergold …` as Ada, in a process of its own; exit code and stdout. Her predictions are in `mine.csv`."""
    (tmp_path / "mine.csv").write_bytes(CONTENT)
    token = ada.client.headers["Authorization"].removeprefix("Bearer ")
    settings = {"EVERGOLD_SERVER": site.url, "EVERGOLD_TOKEN": token, "PYTHONPATH": code_path()}

    def evergold(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "evergold.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=os.environ | settings, capture_output=True, text=True)
        return done.returncode, done.stdout

    return evergold


@pytest.mark.usefixtures("tracks")
def test_the_command_line_sends_the_track(site: Site, evergold: Evergold) -> None:
    submit = ("submit", "mine.csv", "--to", "idioms/evaluation/detection", "--no-wait", "--json")
    code, out = evergold(*submit, "--track", "open")
    assert (code, json.loads(out)["track"]) == (0, "open")
    assert tracks_in_the_database(site) == ["open"]
    code, out = evergold(*submit)
    assert (code, list(json.loads(out)["error"]["details"]["fields"])) == (1, ["track"])


@pytest.mark.usefixtures("tracks")
def test_the_command_line_shows_tracks(site: Site, ada: Person, evergold: Evergold) -> None:
    ada.submitted(track="open")
    score_all(site)
    assert "closed, open" in evergold("competitions")[1]
    heading, row = evergold("board", "idioms/evaluation/zero-shot")[1].splitlines()[1:3]
    assert heading.split("\t")[:3] == ["Rank", "Team", "Track"]
    assert row.split("\t")[:3] == ["1", "Ada", "open"]
