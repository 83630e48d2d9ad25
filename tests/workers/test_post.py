"""The sweep's process also sends mail, leaves a sign of life, and lets nothing of the one disturb the other."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.logs import bound_fields, configure_logging
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


def test_every_line_of_a_worker_about_a_run_has_its_id(
    engine: Engine, ada: User, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = submit(engine, ada, content="never stored").run_id  # scoring fails: the file is not there
    configure_logging("json")
    try:
        take_turn.apply(args=[run_id, CPU_QUEUE])
    finally:
        configure_logging("text")
    seen = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert celery.tasks[take_turn.name] is not None
    assert len(seen) >= 2
    assert {event["run_id"] for event in seen} == {run_id}
    assert "run_id" not in bound_fields(), "the next run's lines are its own"
