"""A broker that goes away at a bad moment, and what it must not do to a worker."""

from __future__ import annotations

import logging

import pytest
import redis
from kombu.connection import Connection

import workers.celery_app  # noqa: F401 - for its effect
from tests import services


def test_a_message_whose_acknowledgement_is_lost_leaves_its_place_to_the_next(
    valkey: services.Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(delivery_tag: str) -> None:
        raise redis.ConnectionError("reset by peer")

    with Connection(valkey.address) as connection, connection.channel() as channel:  # type: ignore[no-untyped-call]
        channel.basic_qos(0, 1, False)
        channel.queue_declare("turns")
        channel.basic_publish(channel.prepare_message("ring"), "", "turns")
        message = channel.basic_get("turns")
        assert not channel.qos.can_consume(), "one at a time"
        monkeypatch.setattr(channel.qos, "_remove_from_indices", lose)
        message.ack_log_error(logging.getLogger("kombu"), connection.connection_errors)
        assert channel.qos.can_consume()
