"""The published clients of Codabench, as they are, by their own commands and tools, against a running server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from sqlalchemy import select

from app.base.db import reading, writing
from app.models import ApiToken, User
from app.people.auth import promote
from demo.codabench.pack import HERE
from tests.processes import START_SECONDS
from tests.server.processes import ITEMS, Server, embedded, on_real_parts
from tests.test_end_to_end import BROKEN, GOOD, MACRO_F1

pytestmark = pytest.mark.services

PASSWORD = "correct horse battery"
PAIR = """\
version: 1
competitions:
  - name: pair
    title: "Pairs of tasks"
    description: "Both at *once*."
    registration: {mode: open}
    tasks:
      - {name: first, type: idiom-detection, title: "First", options: {languages: [en]}}
      - {name: second, type: idiom-detection, title: "Second", options: {languages: [en]}}
    boards:
      - name: first
        title: "First"
        task: first
        columns: [{metric: macro_f1, split: zero_shot/all, title: "All"}]
      - name: second
        title: "Second"
        task: second
        columns: [{metric: macro_f1, split: zero_shot/all, title: "All"}]
    phases:
      - name: evaluation
        title: "Evaluation"
        start: "2020-01-01 00:00 UTC"
        visibility: {precision: full, slices: all}
        tasks:
          first: {gold: swans/gold.csv, items: items.csv}
          second: {gold: swans/gold.csv, items: items.csv, limits: {total: 2}}
      - name: over
        title: "Over"
        start: "2020-01-01 00:00 UTC"
        end: "2020-01-02 00:00 UTC"
        tasks:
          first: {gold: swans/gold.csv, items: items.csv}
"""


def add_pair(folder: Path) -> None:
    place = folder / "imported" / "pair"
    place.mkdir(parents=True)
    (place / "competition.yaml").write_text(PAIR)
    (place / "items.csv").write_text(ITEMS)


@pytest.fixture(scope="module", params=["embedded", pytest.param("real parts", marks=pytest.mark.soak)])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "embedded":
        started = embedded(add_pair)
    else:
        started = on_real_parts(request.getfixturevalue("postgres_server"), add_pair)
    with started as running:
        yield running


@dataclass
class Participant:
    """Somebody with an account, who works with Codabench's command line in a folder."""

    server: Server
    username: str
    folder: Path

    def codabench(self, *command: str, fails: bool = False) -> str:
        """Run a command of codabench-client; return what it prints."""
        environment = {
            **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
            "CODABENCH_URL": f"{self.server.address}/",
            "CODABENCH_USERNAME": self.username,
            "CODABENCH_PASSWORD": PASSWORD,
        }
        done = subprocess.run(  # noqa: S603 - the client of this environment
            [sys.executable, "-m", "codabench", *command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )
        assert done.returncode == int(fails), done.stdout + done.stderr
        return done.stdout + done.stderr

    def zipped(self, content: str, name: str = "mine.zip") -> str:
        """Write a zip with these predictions; return its name."""
        with zipfile.ZipFile(self.folder / name, "w") as written:
            written.writestr("predictions.csv", content)
        return name

    def submit(self, competition: int, content: str, *more: str) -> dict[str, Any]:
        """Submit and wait, as the command does; return its results."""
        waiting = ("--wait", "--interval", "1", "--results-json", "results.json", "--download-dir", "got")
        self.codabench("submit", str(competition), "--phase-index", "0", "-z", self.zipped(content), *waiting, *more)
        found: dict[str, Any] = json.loads((self.folder / "results.json").read_text())
        return found

    def token(self) -> str:
        form = {"username": self.username, "password": PASSWORD}
        answer = httpx.post(f"{self.server.address}/api/api-token-auth/", data=form, timeout=START_SECONDS)
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["token"]
        return token

    @cached_property
    def headers(self) -> dict[str, str]:
        """Return the headers of one log-in, kept: each log-in takes a fifth of a second of processor time."""
        return {"Authorization": f"Token {self.token()}"}

    def get(self, path: str) -> Any:
        answer = httpx.get(f"{self.server.address}{path}", headers=self.headers, timeout=START_SECONDS)
        return answer.raise_for_status().json()


@pytest.fixture
def participant(server: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Participant:
    username = re.sub(r"[^a-z]", "", request.node.name)[-30:]
    form = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    made = httpx.post(f"{server.address}/api/v1/register", json=form, timeout=START_SECONDS)
    assert made.status_code == 201, made.text
    return Participant(server, username, tmp_path)


@pytest.fixture
def pair(server: Server) -> int:
    return _competition(server, "Pairs of tasks")


@pytest.fixture
def swans(server: Server) -> int:
    return _competition(server, "Swan songs")


def _competition(server: Server, title: str) -> int:
    listed = httpx.get(f"{server.address}/api/competitions/", timeout=START_SECONDS).raise_for_status().json()
    return next(int(one["id"]) for one in listed if one["title"] == title)


def test_competitions_lists_and_searches(participant: Participant, pair: int) -> None:
    assert "Swan songs" in participant.codabench("competitions")
    found = participant.codabench("competitions", "--search", "PAIRS")
    assert "Pairs of tasks" in found
    assert "1 competition(s)" in found


def test_show_and_its_download(participant: Participant, pair: int) -> None:
    shown = participant.codabench("show", str(pair), "--save-dir", "saved")
    assert re.search(r"index=0\s+status='Current'\s+name='Evaluation'", shown), shown
    assert re.search(r"index=1\s+status='Previous'\s+name='Over'", shown), shown
    assert "items.csv" in shown
    assert "higher is better" in shown
    assert (participant.folder / "saved" / "input" / "items.csv" / "items.csv").read_text() == ITEMS
    assert "Both at *once*." in (participant.folder / "saved" / "description.md").read_text()


def test_files_downloads_what_the_list_has(participant: Participant, pair: int) -> None:
    told = participant.codabench("files", str(pair), "-o", "files")
    assert re.search(r"\[ok\] (\d+)/\1 file", told), told
    assert (participant.folder / "files" / str(pair) / "items.csv" / "items.csv").read_text() == ITEMS


def test_submit_waits_for_the_scores_and_takes_them_home(participant: Participant, swans: int) -> None:
    results = participant.submit(swans, GOOD)
    assert results["status"] == "Finished"
    assert results["primary"]["metric"] == "All"
    assert results["primary"]["score"] == pytest.approx(MACRO_F1, abs=1e-9)
    assert results["metrics"]["Accuracy"] == 0.75
    got = participant.folder / "got" / str(results["submission_id"])
    scores = json.loads((got / "scoring" / "scores.json").read_text())
    assert scores["macro_f1.zero_shot/all"] == pytest.approx(MACRO_F1, abs=1e-9)
    assert (got / "submission" / "predictions.csv").read_text() == GOOD


def test_one_upload_to_two_tasks_is_one_number_with_the_scores_of_both(participant: Participant, pair: int) -> None:
    results = participant.submit(pair, GOOD)
    assert results["status"] == "Finished"
    scores = {name: value for name, value in results["metrics"].items() if name.endswith("· All")}
    assert scores == {"First · All": pytest.approx(MACRO_F1), "Second · All": pytest.approx(MACRO_F1)}
    found = participant.get("/api/submissions/")["results"]
    assert [one["id"] for one in found] == [results["submission_id"]]
    assert len(found[0]["tasks"]) == len(set(found[0]["links"])) == 2


def test_one_task_alone_may_be_named(participant: Participant, pair: int) -> None:
    tasks = participant.get(f"/api/competitions/{pair}/")["phases"][0]["tasks"]
    results = participant.submit(pair, GOOD, "--tasks", str(tasks[1]["id"]))
    assert [one["name"] for one in participant.get("/api/submissions/")["results"][0]["tasks"]] == ["Second"]
    assert set(results["metrics"]) == {name for name in results["metrics"] if not name.startswith("First")}


def test_what_one_task_refuses_none_accepts(participant: Participant, pair: int) -> None:
    tasks = participant.get(f"/api/competitions/{pair}/")["phases"][0]["tasks"]
    for _ in range(2):
        participant.submit(pair, GOOD, "--tasks", str(tasks[1]["id"]))
    phase = participant.get(f"/api/competitions/{pair}/")["phases"][0]["id"]
    with httpx.Client(
        base_url=participant.server.address, headers=participant.headers, timeout=START_SECONDS
    ) as client:
        announced = client.post(
            "/api/datasets/", data={"type": "submission", "request_sassy_file_name": "a.csv"}
        ).json()
        put = httpx.put(announced["sassy_url"], content=GOOD.encode(), timeout=START_SECONDS)
        assert (put.status_code, put.content) == (200, b"")
        refused = client.post("/api/submissions/", data={"phase": phase, "data": announced["key"]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached"), refused.text
        assert client.get("/api/submissions/").json()["count"] == 2
        alone = {"phase": phase, "data": announced["key"], "tasks": tasks[0]["id"]}
        numbers = [client.post("/api/submissions/", data=alone).json()["id"] for _ in range(2)]
        assert numbers[0] == numbers[1], "a repeated request is the same submission"
        assert client.get("/api/submissions/").json()["count"] == 3
    told = participant.codabench("submit", str(pair), "--phase-index", "0", "-z", "mine.zip", fails=True)
    assert f"cannot submit to phase {phase}" in told


def test_a_broken_file_fails_and_says_why(participant: Participant, swans: int) -> None:
    results = participant.submit(swans, BROKEN)
    assert results["status"] == "Failed"
    assert results["metrics"] == {}
    found = participant.get(f"/api/submissions/{results['submission_id']}/")
    assert "'2'" in found["status_details"]
    (log,) = participant.get(f"/api/submissions/{results['submission_id']}/get_details/")["logs"]
    told = httpx.get(log["data_file"], headers=participant.headers, timeout=START_SECONDS).raise_for_status()
    assert "label" in told.text


def test_a_broken_file_to_several_tasks_fails_with_a_reason_for_each(participant: Participant, pair: int) -> None:
    results = participant.submit(pair, BROKEN)
    assert results["status"] == "Failed"
    found = participant.get(f"/api/submissions/{results['submission_id']}/")
    titles = {one["name"] for one in found["tasks"]}
    assert len(titles) == 2
    assert {line.partition(": ")[0] for line in found["status_details"].splitlines()} == titles


def test_outputs_lists_and_downloads(participant: Participant, swans: int) -> None:
    first = participant.submit(swans, GOOD)
    listed = participant.codabench("outputs", "-p", str(_phase(participant, swans)), "--list")
    assert str(first["submission_id"]) in listed
    told = participant.codabench("outputs", "-p", str(_phase(participant, swans)), "-o", "out")
    assert "no prediction artifact" in told
    got = participant.folder / "out" / str(first["submission_id"])
    assert (got / "scoring" / "scores.json").exists()
    assert json.loads((got / "details.json").read_text())["detailed_result"] is None


def test_rerun_submits_the_same_file_to_another_task(participant: Participant, pair: int) -> None:
    tasks = participant.get(f"/api/competitions/{pair}/")["phases"][0]["tasks"]
    first = participant.submit(pair, GOOD, "--tasks", str(tasks[0]["id"]))["submission_id"]
    assert str(first) in participant.codabench("rerun")
    assert tasks[1]["key"] in participant.codabench("rerun", "-s", str(first))
    told = participant.codabench("rerun", "-s", str(first), "-t", tasks[1]["key"])
    assert "new submission" in told
    found = participant.get("/api/submissions/")["results"]
    assert [one["task"]["name"] for one in found] == ["Second", "First"]
    assert str(found[0]["id"]) in told


def test_create_makes_a_draft_for_whom_the_server_lets(participant: Participant) -> None:
    bundle = str(HERE / "tracks.zip")
    refused = participant.codabench("create", "-b", bundle, fails=True)
    assert "You cannot create a competition on this server yet" in refused
    with writing(participant.server.engine) as session:
        user = session.scalars(select(User).where(User.username == participant.username)).one()
        promote(session, user, datetime.now(UTC))
    told = participant.codabench("create", "-b", bundle)
    assert "status: Finished" in told
    page = re.search(r"http\S+/competitions/(\d+)/", told)
    assert page, told
    assert "phase id=" in participant.codabench("show", page[1])
    failed = participant.codabench("create", "-b", participant.zipped("no bundle"), fails=True)
    assert "competition creation failed: This bundle cannot be imported.\n" in failed


def test_log_ins_share_one_token_for_a_day_and_wrong_ones_get_a_400(participant: Participant) -> None:
    participant.codabench("competitions")
    assert len({participant.token() for _ in range(3)}) == 1
    with reading(participant.server.engine) as session:
        mine = select(ApiToken).where(ApiToken.user.has(username=participant.username))
        (token,) = session.scalars(mine).all()
    assert token.scopes.split() == ["read", "submit", "create"]
    assert token.expires_at is not None
    assert (token.expires_at - token.created_at).total_seconds() == 24 * 3600
    wrong = {"username": participant.username, "password": "not this one"}
    address = f"{participant.server.address}/api/api-token-auth/"
    assert httpx.post(address, data=wrong, timeout=START_SECONDS).status_code == 400


def test_the_tools_of_codabench_mcp(participant: Participant, pair: int) -> None:
    """Use the protocol, through the process that users start."""
    bundle = participant.folder / participant.zipped(GOOD)
    asyncio.run(_use_tools(participant, pair, bundle))


async def _use_tools(participant: Participant, pair: int, bundle: Path) -> None:
    environment = {"CODABENCH_API_TOKEN": participant.token(), "CODABENCH_BASE_URL": participant.server.address}
    command = StdioServerParameters(command=sys.executable, args=["-m", "codabench_mcp.server"], env=environment)
    async with stdio_client(command) as (read, write), ClientSession(read, write) as tools:
        await tools.initialize()

        async def use(name: str, **arguments: Any) -> Any:
            answer = await tools.call_tool(name, arguments)
            text = answer.content[0].text  # type: ignore[union-attr]
            assert not answer.isError, text
            return json.loads(text)

        assert (await use("search_competitions", q="pairs"))["total_count"] == 1
        assert "Both at *once*." in (await use("get_competition_rules", competition_id=pair))["rules_markdown"]
        phase = (await use("list_competition_phases", competition_id=pair))["results"][0]
        assert (await use("get_phase", phase_id=phase["id"])) == phase
        task = (await use("list_competition_tasks", competition_id=pair))["results"][0]
        assert (await use("get_task", task_id=task["id"])) == task
        assert (await use("get_my_profile"))["username"] == participant.username
        key, items = task["public_datasets"][0]["key"], participant.folder / "items.zip"
        await use("download_dataset", key=key, dest_path=str(items))
        assert zipfile.ZipFile(items).read("items.csv").decode() == ITEMS
        sent = await use("submit_to_phase", phase_id=phase["id"], bundle_path=str(bundle), description="by a tool")
        done = await use("poll_submission", submission_id=sent["submission_id"], interval_seconds=0.5)
        assert done["status"] == "Finished"
        assert [one["id"] for one in (await use("list_my_submissions"))["results"]] == [sent["submission_id"]]
        await use("get_submission_logs", submission_id=sent["submission_id"])
        boards = (await use("get_leaderboard", phase_id=phase["id"]))["results"]
        rows = {row["owner"]: row for row in boards[0]["submissions"]}
        assert float(rows[participant.username]["scores"][boards[0]["primary_index"]]["score"]) == pytest.approx(
            MACRO_F1
        )


def _phase(participant: Participant, competition: int) -> int:
    """Return the number of the first phase."""
    found = participant.get(f"/api/competitions/{competition}/")
    return int(found["phases"][0]["id"])
