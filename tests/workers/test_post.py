"""The sweep's process also sends mail, leaves a sign of life, and lets nothing of the one disturb the other."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from structlog.testing import capture_logs
from structlog.typing import EventDict

from app.base.db import reading, writing
from app.base.logs import configure_logging
from app.base.queue import CPU_QUEUE
from app.models import Heartbeat, OutgoingMail, User
from app.operations.health import last_beat
from app.people.mail import send_mail
from tests.mail_server import mail_server
from tests.processes import stop, wait_until
from tests.services import environment_of, start_sweep
from tests.world import NOW, add_user, claim, submit
from workers.celery_app import app as celery
from workers.sweep import sweep
from workers.turns import take_turn


def write_mail(engine: Engine, body: str) -> None:
    with writing(engine) as session:
        ada = session.scalars(select(User)).first()
    ada = ada or add_user(engine, "ada")
    with writing(engine) as session:
        send_mail(session, ada, "News", body)


def waiting(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail.body).where(OutgoingMail.status == "waiting")))


def counts(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        return session.get_one(Heartbeat, "sweep").counts


def test_what_a_sweep_does_is_counted(engine: Engine, ada: User, workplace: Path) -> None:
    again, given_up = submit(engine, ada, content="a").run_id, submit(engine, ada, content="b").run_id
    for attempt in range(3):
        claim(engine, given_up, NOW + timedelta(minutes=attempt), lease_seconds=30)
        if attempt < 2:
            sweep(engine, NOW + timedelta(minutes=attempt, seconds=30))
    claim(engine, again, NOW + timedelta(minutes=2), lease_seconds=30)
    sweep(engine, NOW + timedelta(minutes=2, seconds=30))
    told = counts(engine)
    assert (told["requeued"], told["given_up"]) == (3, 1), "twice the one, once the other; the one for good"
    with reading(engine) as session:
        assert last_beat(session, "sweep") == NOW + timedelta(minutes=2, seconds=30)


@pytest.mark.services
def test_the_process_sends_what_waits_and_what_comes(engine: Engine, tmp_path: Path) -> None:
    write_mail(engine, "first")
    with mail_server() as server:
        environment = environment_of(
            data_dir=tmp_path / "server",
            database_url=engine.url.render_as_string(hide_password=False),
            sweep_seconds=0.2,
            smtp_url=server.address,
            base_url="https://scores.example.org",
        )
        process = start_sweep(tmp_path, environment)
        try:
            wait_until(lambda: server.bodies() == ["first\n"], "the first mail arrives", process)
            write_mail(engine, "second")
            wait_until(lambda: server.bodies() == ["first\n", "second\n"], "the second arrives", process)
            wait_until(lambda: waiting(engine) == [], "both are remembered as sent", process)
        finally:
            stop(process)


@pytest.mark.services
def test_a_mail_server_that_hangs_holds_up_no_sweep(engine: Engine, tmp_path: Path) -> None:
    write_mail(engine, "stuck")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        environment = environment_of(
            data_dir=tmp_path / "server",
            database_url=engine.url.render_as_string(hide_password=False),
            sweep_seconds=0.1,
            smtp_url=f"smtp://127.0.0.1:{silent.getsockname()[1]}",
            base_url="https://scores.example.org",
        )
        process = start_sweep(tmp_path, environment)
        try:
            connection, _ = silent.accept()
            began = datetime.now(UTC)

            def swept() -> bool:
                with reading(engine) as session:
                    last = last_beat(session, "sweep")
                return last is not None and last > began

            wait_until(swept, "it sweeps while the mail is stuck", process)
            assert waiting(engine) == ["stuck"]
            connection.close()
        finally:
            stop(process)


# ----------------------------------------------------------------------------------------------------------------- logs


def test_every_line_of_a_worker_about_a_run_has_its_id(engine: Engine, ada: User, workplace: Path) -> None:
    run_id = submit(engine, ada, content="never stored").run_id  # scoring fails: the file is not there
    seen: list[EventDict] = []

    def keep(_: object, __: str, event: EventDict) -> EventDict:
        seen.append(dict(event))
        return event

    import structlog

    with capture_logs(processors=[structlog.contextvars.merge_contextvars, keep]):
        take_turn.apply(args=[run_id, CPU_QUEUE])
    assert celery.tasks[take_turn.name] is not None
    assert len(seen) >= 2
    assert {event["run_id"] for event in seen} == {run_id}
    assert "run_id" not in structlog.contextvars.get_contextvars(), "the next run's lines are its own"


def test_logs_as_json_are_a_document_a_line_without_variables(capsys: pytest.CaptureFixture[str]) -> None:
    import structlog

    configure_logging("json")
    try:
        secret = "hunter2"  # noqa: F841 - a value that a careless traceback would show
        log = structlog.get_logger()
        with structlog.contextvars.bound_contextvars(request_id="trace-0123"):
            log.info("request", path="/ä")
            try:
                raise ValueError("broken")
            except ValueError:
                log.exception("internal_error")
    finally:
        configure_logging("text")
    out = capsys.readouterr().out
    first, second = [json.loads(line) for line in out.splitlines()]
    assert (first["event"], first["level"], first["request_id"], first["path"]) == (
        "request",
        "info",
        "trace-0123",
        "/ä",
    )
    assert "ValueError: broken" in second["exception"]
    assert "hunter2" not in out.replace('secret = "hunter2"', "")
