"""The Python client: what programs get of answers, errors with code and details, and where a token goes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from evergold.client import (
    BadAddress,
    Client,
    ClientError,
    Place,
    Refused,
    Unreachable,
    credentials,
)
from evergold.scoring import Problem, Score

Answer = Callable[[httpx.Request], httpx.Response]

SCORE = {"metric": "macro_f1", "split": "en", "value": 0.75, "reason": None, "signature": "toy:1|macro_f1|en"}
PROBLEM = {
    "code": "duplicate-id",
    "message": "id 2 appears twice",
    "file": None,
    "line": 3,
    "column": "ID",
    "text": "2",
    "severity": "error",
    "sentence": "line 3, column ID: id 2 appears twice",
}
SUBMISSION: dict[str, Any] = {
    "id": "5a",
    "status": "scored",
    "message": "Scored.",
    "competition": "demo",
    "phase": "dev",
    "task": "idioms",
    "method": "XLM-R",
    "submitted_at": "2026-01-11T09:00:00Z",
    "scores": [SCORE],
    "problems": [],
    "links": {"page": "/submissions/5a"},
}
BOARD: dict[str, Any] = {
    "name": "all",
    "title": "All",
    "competition": "demo",
    "phase": "dev",
    "columns": [{"metric": "macro_f1", "split": "en"}, {"metric": "macro_f1", "split": "pt"}],
    "rows": [
        {
            "rank": 1,
            "team": "ada",
            "kind": "team",
            "method": "XLM-R",
            "track": None,
            "achieved_at": "2026-01-11T09:00:00Z",
            "cells": [{"value": 0.75}, {"value": None}],
        },
        {
            "rank": None,
            "team": "Baseline",
            "kind": "baseline",
            "method": "",
            "track": None,
            "achieved_at": None,
            "cells": [{"value": 0.5}, {"value": 0.25}],
        },
    ],
}


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without a log-in, and wait for nothing."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("evergold.client.http.time.sleep", lambda seconds: None)


@pytest.fixture
def prediction(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text("ID,Label\n1,0\n")
    return path


def client_of(answer: Answer) -> Client:
    return Client("https://scores.example.org/", "evg_a", transport=httpx.MockTransport(answer))


def always(document: Any, status: int = 200) -> Answer:
    return lambda request: httpx.Response(status, json=document)


def test_a_submission_goes_where_it_is_told_and_comes_back_with_its_scores(prediction: Path) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        waits = {**SUBMISSION, "status": "queued", "scores": [], "stamp": "queued.1"}
        return httpx.Response(202, json=waits) if request.method == "POST" else httpx.Response(200, json=SUBMISSION)

    with client_of(answer) as client:
        submission = client.submit(prediction, to="demo/dev/idioms", wait=True, method="XLM-R", card={"code": "x"})
    sent, asked = requests
    assert sent.url.path == "/api/v1/competitions/demo/phases/dev/tasks/idioms/submissions"
    assert sent.headers["Authorization"] == "Bearer evg_a"
    assert b"1,0" in sent.content
    assert json.dumps({"code": "x"}).encode() in sent.content
    assert (asked.url.path, dict(asked.url.params)) == ("/api/v1/submissions/5a", {"wait": "10", "seen": "queued.1"})
    assert (submission.id, submission.status, submission.is_final) == ("5a", "scored", True)
    assert submission.scores == (Score("macro_f1", "en", 0.75, None, "toy:1|macro_f1|en"),)
    assert (submission.to, submission.method) == ("demo/dev/idioms", "XLM-R")
    assert submission.submitted_at == datetime(2026, 1, 11, 9, tzinfo=UTC)
    assert submission.page == "https://scores.example.org/submissions/5a"


def test_without_waiting_it_is_as_it_was_accepted(prediction: Path) -> None:
    with client_of(always({**SUBMISSION, "status": "queued", "scores": []}, 202)) as client:
        submission = client.submit(prediction, "demo/dev/idioms", wait=False)
    assert (submission.status, submission.is_final) == ("queued", False)


def test_a_rejected_file_has_its_problems_and_raises_nothing(prediction: Path) -> None:
    rejected = {**SUBMISSION, "status": "rejected", "scores": [], "problems": [PROBLEM | {"of_tomorrow": 1}]}
    with client_of(always(rejected, 202)) as client:
        submission = client.submit(prediction, "demo/dev/idioms")
    assert submission.problems == (Problem("duplicate-id", "id 2 appears twice", None, 3, "ID", "2"),)


def test_a_problem_of_an_older_server_lacks_what_this_one_did_not_say(prediction: Path) -> None:
    problem = {"code": "duplicate-id", "message": "id 2 appears twice", "line": 3}
    with client_of(always({**SUBMISSION, "status": "rejected", "scores": [], "problems": [problem]}, 202)) as client:
        submission = client.submit(prediction, "demo/dev/idioms")
    assert submission.problems == (Problem("duplicate-id", "id 2 appears twice", line=3),)


def test_an_upload_says_what_it_was_given_and_nothing_else(prediction: Path) -> None:
    forms: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        forms.append(request.read())
        return httpx.Response(202, json=SUBMISSION)

    with client_of(answer) as client:
        client.submit(prediction, "demo/dev/idioms")
        client.submit(prediction, "demo/dev/idioms", track="open", system="Parrot")
    names = [set(re.findall(rb'form-data; name="(\w+)"', form)) for form in forms]
    assert names == [{b"file", b"method", b"description"}, {b"file", b"method", b"description", b"track", b"system"}]
    assert re.search(rb'name="track"\r\n\r\nopen\r\n.*name="system"\r\n\r\nParrot\r\n', forms[1], re.DOTALL)


TABLE = "/competitions/demo/phases/dev/boards/all/table"


@pytest.mark.parametrize(
    ("call", "method", "path", "params"),
    [
        (lambda client: client.choose("5a"), "PUT", "/submissions/5a/choice", {}),
        (lambda client: client.choose("5a", board="all"), "PUT", "/submissions/5a/choice", {"board": "all"}),
        (lambda client: client.choose("5a", board="all", undo=True), "DELETE", "/submissions/5a/choice", {}),
        (lambda client: client.withdraw("5a"), "PUT", "/submissions/5a/withdrawal", {}),
        (lambda client: client.withdraw("5a", undo=True), "DELETE", "/submissions/5a/withdrawal", {}),
        (lambda client: client.edit_card("5a", {}, 3), "PUT", "/submissions/5a/card", {"version": "3"}),
        (lambda client: client.submissions(5), "GET", "/submissions", {"limit": "5"}),
        (
            lambda client: client.submissions(ranks_then=True),
            "GET",
            "/submissions",
            {"limit": "20", "ranks_then": "true"},
        ),
        (lambda client: client.board_table("demo/dev/all"), "GET", TABLE, {"format": "markdown"}),
        (
            lambda client: client.board_table("demo/dev/all", "latex", columns=["f1 en"], decimals=0, official=True),
            "GET",
            TABLE,
            {"format": "latex", "column": "f1 en", "decimals": "0", "official": "true"},
        ),
        (lambda client: client.citation("demo"), "GET", "/competitions/demo/citation", {}),
        (
            lambda client: client.citation("demo/dev/all"),
            "GET",
            "/competitions/demo/phases/dev/boards/all/citation",
            {},
        ),
        (lambda client: client.revoke_token(7), "DELETE", "/tokens/7", {}),
    ],
)
def test_each_call_is_one_request_that_says_what_it_was_told(
    call: Callable[[Client], object], method: str, path: str, params: dict[str, str]
) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={**SUBMISSION, "submissions": []})

    with client_of(answer) as client:
        call(client)
    [sent] = requests
    assert (sent.method, sent.url.path, dict(sent.url.params)) == (method, f"/api/v1{path}", params)


def test_a_refusal_has_status_code_and_details(prediction: Path) -> None:
    error = {"error": {"code": "limit_reached", "message": "All used.", "details": {"limit": 2}}}
    with client_of(always(error, 429)) as client, pytest.raises(ClientError) as caught:
        client.submit(prediction, "demo/dev/idioms")
    refused = caught.value
    assert isinstance(refused, Refused)
    assert (refused.status, refused.code, refused.message, refused.details) == (
        429,
        "limit_reached",
        "All used.",
        {"limit": 2},
    )


def test_a_server_that_is_away_is_told_from_one_that_refuses() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    with client_of(refuse) as client, pytest.raises(Unreachable, match="no route") as caught:
        client.competitions()
    assert caught.value.code == "network"


def test_what_is_no_evergold_server_says_so() -> None:
    with client_of(lambda request: httpx.Response(200, text="<html>")) as client, pytest.raises(Refused) as caught:
        client.competitions()
    assert caught.value.code == "not_evergold"


def test_a_board_is_rows_by_the_names_of_its_columns() -> None:
    with client_of(always(BOARD)) as client:
        board = client.board("demo/dev/all")
    assert (board.place, board.title, len(board)) == ("demo/dev/all", "All", 2)
    assert board.columns == ["macro_f1 en", "macro_f1 pt"]
    ada, baseline = board
    assert ada["achieved_at"] == datetime(2026, 1, 11, 9, tzinfo=UTC)
    assert (ada["rank"], ada["team"], ada["macro_f1 en"], ada["macro_f1 pt"]) == (1, "ada", 0.75, None)
    assert (baseline["rank"], baseline["achieved_at"], baseline["macro_f1 pt"]) == (None, None, 0.25)


def test_a_board_is_a_frame_where_pandas_is() -> None:
    pandas = pytest.importorskip("pandas")
    with client_of(always(BOARD)) as client:
        board = client.board("demo/dev/all")
    frame = board.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["rank", "team", "kind", "method", "track", "achieved_at", *board.columns]
    assert frame["macro_f1 en"].tolist() == [0.75, 0.5]
    with client_of(always({**BOARD, "rows": []})) as client:
        assert list(client.board("demo/dev/all").frame().columns) == list(frame.columns)


def test_a_frame_without_pandas_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with client_of(always(BOARD)) as client, pytest.raises(ImportError, match=r"pip install pandas"):
        client.board("demo/dev/all").frame()


def test_a_check_is_waited_for(prediction: Path) -> None:
    answers = iter(
        [
            {"id": "v1", "status": "queued", "message": "…"},
            {"id": "v1", "status": "running", "message": "…"},
            {"id": "v1", "status": "invalid", "message": "1 problem.", "problems": [PROBLEM]},
        ]
    )
    with client_of(lambda request: httpx.Response(200, json=next(answers))) as client:
        validation = client.validate(prediction, "demo/dev/idioms")
    assert (validation.is_valid, validation.status) == (False, "invalid")
    assert [str(problem) for problem in validation.problems] == ["line 3, column ID: id 2 appears twice"]


def test_submissions_are_listed() -> None:
    with client_of(always({"submissions": [SUBMISSION], "next": None})) as client:
        [submission] = client.submissions(limit=5)
    assert submission.id == "5a"


@pytest.mark.parametrize("place", ["demo/dev", "demo//x", "", "a/b/c/d", "demo/../me"])
def test_what_is_no_place_is_said_before_anything_is_sent(place: str) -> None:
    with client_of(always({})) as client, pytest.raises(ValueError, match="is not competition/phase/name"):
        client.board(place)


def test_names_cannot_reach_another_resource() -> None:
    assert Place.parse("a b/1#2/c?x").path("boards") == "/competitions/a%20b/phases/1%232/boards/c%3Fx"


def test_a_stored_token_goes_to_its_own_server_alone() -> None:
    credentials.store(credentials.Credentials("https://one.example.org", "evg_secret", "ada"))
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(200, json={"competitions": []})

    for server, token in ((None, None), ("https://two.example.org", None), (None, "")):
        with Client(server, token, transport=httpx.MockTransport(answer)) as client:
            client.competitions()
    assert seen == ["Bearer evg_secret", None, None]


def test_the_environment_goes_before_what_is_stored_and_nobody_has_a_token_without_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert credentials.choose(None) == (credentials.DEFAULT_SERVER, None)
    credentials.store(credentials.Credentials("https://one.example.org", "evg_stored", "ada"))
    assert credentials.choose(None) == ("https://one.example.org", "evg_stored")
    monkeypatch.setenv("EVERGOLD_TOKEN", "evg_given")
    assert credentials.choose(None) == ("https://one.example.org", "evg_given")
    monkeypatch.setenv("EVERGOLD_SERVER", "https://two.example.org/")
    assert credentials.choose(None) == ("https://two.example.org", "evg_given")
    assert credentials.choose("https://three.example.org") == ("https://three.example.org", "evg_given")
    monkeypatch.delenv("EVERGOLD_TOKEN")
    assert credentials.choose(None) == ("https://two.example.org", None)


def test_an_address_without_scheme_is_refused() -> None:
    with pytest.raises(BadAddress):
        Client("scores.example.org")


def test_announcements_of_the_server_are_listed_and_an_older_server_has_none() -> None:
    told = {"id": 1, "text": "We move.", "severity": "urgent", "starts_at": "2026-01-10T12:00:00Z", "ends_at": None}
    with client_of(always({"announcements": [told]})) as client:
        assert client.server_announcements() == [told]
    nothing = {"error": {"code": "not_found", "message": "There is nothing at this address.", "details": {}}}
    with client_of(always(nothing, 404)) as client:
        assert client.server_announcements() == []
