"""A real sweep that is killed between a request and the record of its answer: nothing is lost, and receivers notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from app.base.db import writing
from app.models import NewsKind, User, WebhookDelivery
from tests.news.hooked import appoint, deliveries, hook, statuses
from tests.news.test_sending import asked
from tests.processes import Service, kill, wait_until
from tests.receiver import Receiver
from tests.services import environment_of, start_sweep

pytestmark = pytest.mark.services


@contextmanager
def sweep_of(engine: Engine, folder: Path) -> Iterator[Service]:
    """The whole process, in the block; killed at its end."""
    engine.dispose()  # the fixtures copied its file, which takes away the locks that tell SQLite of our connections
    environment = environment_of(
        database_url=engine.url.render_as_string(hide_password=False),
        data_dir=folder,
        webhook_ranges="127.0.0.1/32",
        webhook_http="true",
    )
    sweep = start_sweep(folder, environment)
    try:
        yield sweep
    finally:
        kill(sweep)


def test_what_a_killed_sweep_had_sent_is_sent_again_with_the_same_id(
    engine: Engine, people: list[User], there: Receiver, tmp_path: Path
) -> None:
    webhook_id = hook(engine, appoint(engine, people[3]), there, NewsKind.QUESTION_ASKED, host="127.0.0.1")
    asked(engine, people[0])
    there.drips = True  # its answer begins, and does not end before the sweep does
    with sweep_of(engine, tmp_path) as sweep:
        wait_until(lambda: there.received, "the request is there", sweep)
    [delivery] = deliveries(engine, webhook_id)
    assert (delivery.status, delivery.answered, delivery.attempts) == ("waiting", None, 1), "nobody noted anything"
    assert delivery.next_attempt_at > datetime.now(UTC), "it is reserved for the one that was killed"
    there.drips = False
    with writing(engine) as session:  # as if the lease were over
        session.execute(update(WebhookDelivery).values(next_attempt_at=datetime.now(UTC)))
    with sweep_of(engine, tmp_path) as sweep:
        wait_until(lambda: statuses(engine, webhook_id) == ["delivered"], "it is delivered", sweep)
    first, again = there.received
    assert first.headers["webhook-id"] == again.headers["webhook-id"] == delivery.message
    assert first.body == again.body
