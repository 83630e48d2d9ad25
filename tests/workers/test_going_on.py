"""A worker that has ended a turn continues with the next message, for a while; one message is still one turn."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.models import RunStatus, ScoringRun, User
from tests.rich_world import fresh
from tests.workers.files import upload
from workers import turns
from workers.turns import take_turn

pytestmark = pytest.mark.usefixtures("workplace")


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the messages that the broker holds besides the one that came through Celery."""
    held: list[str] = []
    monkeypatch.setattr(turns, "pop_message", lambda queue: bool(held) and held.pop() == queue)
    return held


def scored(engine: Engine) -> int:
    with reading(engine) as session:
        return len(session.scalars(fresh(ScoringRun).where(ScoringRun.status == RunStatus.SCORED)).all())


def test_as_many_are_scored_as_there_are_messages(engine: Engine, ada: User, messages: list[str]) -> None:
    for _ in range(4):
        upload(engine, ada)
    messages += ["cpu", "cpu"]
    take_turn("first", "cpu")
    assert (scored(engine), messages) == (3, [])


def test_no_message_is_taken_after_a_turn_that_found_nothing(engine: Engine, ada: User, messages: list[str]) -> None:
    upload(engine, ada)
    messages += ["cpu", "cpu", "cpu"]
    take_turn("first", "cpu")
    assert (scored(engine), messages) == (1, ["cpu", "cpu"])


def test_a_worker_comes_back_to_celery(
    engine: Engine, ada: User, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check it, since otherwise stopping it would wait for everything in the queue."""
    monkeypatch.setattr(turns, "GO_ON_SECONDS", 0.0)
    for _ in range(3):
        upload(engine, ada)
    messages += ["cpu", "cpu"]
    take_turn("first", "cpu")
    assert (scored(engine), len(messages)) == (1, 2)
