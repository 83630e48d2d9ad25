"""Commits that arrived, but whose answer did not: the run is scored once, and everything that it names exists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.base.db import reading, writing
from app.models import RunStatus, User
from app.runs.outcomes import record_scores
from tests.sealed import make_key, seal_gold
from tests.workers.files import GOLD, upload
from tests.world import board_version_number, the_run
from workers import lease, score
from workers.score import read_outcomes

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("workplace")]


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks right after the commit of the first transaction that records scores."""
    monkeypatch.setattr(lease, "ASK_AGAIN_SECONDS", 0.01)
    tries: list[bool] = []

    @contextmanager
    def breaking_once(engine: Engine) -> Iterator[Any]:
        with writing(engine) as session:
            yield session
        if tries == [True]:
            tries.append(False)
            raise OperationalError("COMMIT", {}, Exception("the connection is lost"))

    def recorded(*arguments: Any, **named: Any) -> bool:
        tries.append(True)
        return record_scores(*arguments, **named)

    monkeypatch.setattr(score, "writing", breaking_once)
    monkeypatch.setattr(score, "record_scores", recorded)


def test_a_commit_that_nobody_heard_of_is_kept_with_its_outcomes(engine: Engine, ada: User, unserved: None) -> None:
    make_key(engine)
    seal_gold(engine, GOLD.encode())
    before = board_version_number(engine)
    run_id = upload(engine, ada)
    with capture_logs() as logged:
        score.score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts, board_version_number(engine)) == (RunStatus.SCORED, 1, before + 1)
    assert "database_away" in [entry["event"] for entry in logged], "it was tried again"
    with reading(engine) as session:
        outcomes = read_outcomes(session, run_id)
    assert outcomes is not None
    assert outcomes["items"] == ["1", "2", "3", "4"]
