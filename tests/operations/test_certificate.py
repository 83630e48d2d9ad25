"""The end of the public certificate: checked by a real handshake beside the sweep, and shown in health."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.administration.health import health_now
from app.base.config import Settings
from app.base.db import reading
from app.models import Heartbeat
from app.operations.certificate import CERTIFICATE, LEAST_LEFT, note_certificate
from evergold.moments import moment_words
from tests.certificates import DAY, make_authority
from tests.processes import wait_until
from tests.services import free_port
from workers.sweep import watching_certificate

NOW = datetime.now(UTC).replace(microsecond=0)


@contextmanager
def https(folder: Path, ends_at: datetime) -> Iterator[Settings]:
    """A server that shakes hands once with a certificate of an authority that this machine does not know."""
    context = make_authority(folder).server("localhost", ends_at=ends_at)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as connected:
                connected.recv(1)

        serving = threading.Thread(target=serve)
        serving.start()
        yield Settings(base_url=f"https://localhost:{listener.getsockname()[1]}")
        serving.join(10)


def state(engine: Engine, settings: Settings) -> tuple[bool, str] | None:
    parts = {one.name: one for one in health_now(engine, settings, NOW)}
    found = parts.get(CERTIFICATE)
    return (found.is_well, found.says) if found else None


@pytest.mark.both
@pytest.mark.parametrize(
    ("left", "is_well", "word"), [(LEAST_LEFT, True, "ends"), (LEAST_LEFT - DAY, False, "ends"), (-DAY, False, "ended")]
)
def test_an_end_within_three_weeks_is_not_well(
    engine: Engine, tmp_path: Path, left: timedelta, is_well: bool, word: str
) -> None:
    with https(tmp_path, NOW + left) as settings:
        assert state(engine, settings) == (True, "has not been checked yet")
        note_certificate(engine, settings, NOW)
    assert state(engine, settings) == (is_well, f"{word} {moment_words((NOW + left).replace(second=0))}")


def test_an_address_that_cannot_be_reached_is_one_sentence(sqlite_engine: Engine, tmp_path: Path) -> None:
    port = free_port()
    settings = Settings(base_url=f"https://localhost:{port}/")
    for _ in range(2):
        note_certificate(sqlite_engine, settings, NOW)
    says = f"could not be checked: localhost:{port} cannot be reached from the sweep's machine"
    assert state(sqlite_engine, settings) == (True, says)


@pytest.mark.parametrize("address", ["", "http://localhost:1"])
def test_without_https_nobody_looks(sqlite_engine: Engine, address: str) -> None:
    settings = Settings(base_url=address)
    note_certificate(sqlite_engine, settings, NOW)
    with watching_certificate(sqlite_engine, settings):
        pass
    assert state(sqlite_engine, settings) is None
    with reading(sqlite_engine) as session:
        assert session.scalar(select(Heartbeat).where(Heartbeat.name == CERTIFICATE)) is None


def test_the_sweep_looks_at_once(sqlite_engine: Engine, tmp_path: Path) -> None:
    with https(tmp_path, NOW + 90 * DAY) as settings, watching_certificate(sqlite_engine, settings):
        wait_until(lambda: str((state(sqlite_engine, settings) or (0, ""))[1]).startswith("ends"), "it was looked at")
