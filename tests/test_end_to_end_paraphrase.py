"""BERTScore from upload to board, with real processes: a run waits while no worker has torch, until one comes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.evergold.scoring.bert_files import WHY
from tests.paraphrase_server import (
    EXPECTED,
    MODEL,
    TORCH_SECONDS,
    ParaphraseServer,
    paraphrase_server,
    wait_for_line,
    zipped_prediction,
)
from tests.processes import is_gone, wait_until
from tests.test_end_to_end import API, board_rows, register, until_final, value

pytestmark = [pytest.mark.services, pytest.mark.soak]

PHASE = f"{API}/competitions/rewrite/phases/evaluation"


@pytest.fixture(scope="module")
def server() -> Iterator[ParaphraseServer]:
    pytest.importorskip("torch", reason=WHY)
    with paraphrase_server() as running:
        yield running


@pytest.fixture(scope="module")
def team(server: ParaphraseServer) -> Iterator[httpx.Client]:
    with register(server.address, "ada") as client:
        yield client


def upload(team: httpx.Client) -> dict[str, Any]:
    answer = team.post(f"{PHASE}/tasks/paraphrase/submissions", files={"file": ("system.zip", zipped_prediction())})
    assert answer.status_code == 202, answer.text
    document: dict[str, Any] = answer.json()
    return document


def workers(server: ParaphraseServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(server.told("workers", "--json"))["workers"]
    return found


def test_without_torch_it_waits_in_words_and_is_scored_when_a_worker_that_has_it_comes(
    server: ParaphraseServer, team: httpx.Client
) -> None:
    lean = server.start_worker("lean", "--queues", "auto", torch=False)
    wait_for_line(lean, "ready.")
    sent = upload(team)
    location = sent["links"]["self"]
    waiting = team.get(location).json()
    assert (waiting["status"], waiting["stage"], waiting["queue_position"]) == ("queued", "waiting", 1)
    assert waiting["waiting_for"] == {"queue": "gpu", "since": waiting["submitted_at"]}
    assert re.search(r"waiting for a worker with torch since \d+ \w{3} \d{4}, \d\d:\d\d UTC", waiting["message"])
    page = team.get(sent["links"]["page"], headers={"Accept": "text/html"}).text
    assert "waiting for a worker with torch since" in page
    assert "No worker" not in page, "why is for organisers"
    [listed] = workers(server)
    assert (listed["queues"], listed["device"], listed["self_check"]) == (["cpu"], None, None)
    assert "torch" not in listed["versions"]

    able = server.start_worker("able", "--queues", "gpu")
    scored = until_final(team, location, seconds=TORCH_SECONDS)
    assert scored["status"] == "scored", able.said()[-3000:]
    for metric in ("bertscore", "removed", "entropy"):
        tolerance = 1e-5 if metric == "bertscore" else 1e-12
        assert value(scored, metric, "macro") == pytest.approx(EXPECTED[f"{metric} macro"], abs=tolerance)
    assert board_rows(team, f"{PHASE}/boards/quality")["ada"]["rank"] == 1
    said = {worker["queues"][0]: worker for worker in workers(server)}
    assert (said["gpu"]["self_check"], said["gpu"]["models"]) == ("passed", [MODEL])
    assert f"torch:{said['gpu']['versions']['torch'].partition('+')[0]}" in scored["scores"][0]["signature"]
    assert "scored" not in lean.said().replace("run_ended", ""), "the lean one never had it"


def test_the_next_one_finds_the_vectors_of_gold_on_disk(server: ParaphraseServer, team: httpx.Client) -> None:
    kept = sorted((server.folder / "vectors").glob("*.npz"))
    assert len(kept) == 2, "a file for each language's gold"
    assert until_final(team, upload(team)["links"]["self"], seconds=TORCH_SECONDS)["status"] == "scored"
    assert sorted((server.folder / "vectors").glob("*.npz")) == kept


def test_a_worker_that_ends_is_gone_from_the_list_and_the_next_run_waits_again(
    server: ParaphraseServer, team: httpx.Client
) -> None:
    [gpu] = [worker for worker in workers(server) if worker["queues"] == ["gpu"]]
    process = int(re.findall(r":(\d+)-", gpu["name"])[0])
    os.kill(process, 15)
    wait_until(lambda: is_gone(process), "it has ended")  # to ask for the list is a process more each time
    wait_until(lambda: [worker["queues"] for worker in workers(server)] == [["cpu"]], "it is gone")
    assert team.get(upload(team)["links"]["self"]).json()["stage"] == "waiting"
