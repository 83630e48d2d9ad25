"""The sweep's own thread sends news to webhooks, and loads nothing for a server that has none."""

from __future__ import annotations

from sqlalchemy import Engine, select

from app.base.db import writing
from app.models import NewsKind, User, Webhook
from app.webhooks.due import are_watched, is_any_due
from app.webhooks.keeping import send_test
from tests.news.hooked import LOOPBACK, appoint, hook, statuses
from tests.processes import wait_until
from tests.receiver import receiver
from tests.world import NOW
from workers.delivering import delivering


def test_what_is_noted_arrives_while_the_sweep_runs(engine: Engine, people: list[User]) -> None:
    with receiver() as there:
        webhook_id = hook(engine, appoint(engine, people[3]), there, NewsKind.QUESTION_ASKED)
        with writing(engine) as session:
            webhook = session.scalars(select(Webhook).where(Webhook.id == webhook_id)).one()
            webhook.address = there.address  # by its number: nobody resolves a name here
            assert not is_any_due(session, NOW)
            send_test(session, webhook, NOW)
            assert is_any_due(session, NOW)
            assert not are_watched(session)
        with delivering(engine, LOOPBACK):
            wait_until(lambda: statuses(engine, webhook_id) == ["delivered"], "the test was delivered")
        assert len(there.received) == 1
