"""`evergold admin …`: pausing, draining, storage, mails, limits, health and reports on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.models import AuditEntry, OutgoingMail, RunStatus
from app.people.mail import GIVEN_UP, send_mail
from evergold.cli import run
from evergold.cli.output import Code
from tests.world import COMPETITION, NOW, add_competition, add_user, fail, submit, the_run

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evergold(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Evergold:
    """`evergold admin …` on the test's database; exit code, stdout, stderr."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))

    def evergold(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["admin", *map(str, arguments)])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return evergold


def test_scoring_is_paused_drained_and_resumed(evergold: Evergold, sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    submit(sqlite_engine, add_user(sqlite_engine, "ada"))
    assert evergold("pause", COMPETITION, "--reason", "Wrong gold.")[0] == Code.OK
    assert evergold("drain", "scorer-1")[0] == Code.OK
    found = json.loads(evergold("queue", "--json")[1])
    assert [(one["place"], one["host"]) for one in found["holds"]] == [("", "scorer-1"), (COMPETITION, None)]
    assert "Wrong gold." in evergold("queue")[1]
    assert evergold("resume", COMPETITION)[0] == Code.OK
    assert evergold("undrain", "scorer-1")[0] == Code.OK
    refused = evergold("resume", COMPETITION)
    assert (refused[0], f"Nothing is paused for competition {COMPETITION}." in refused[2]) == (Code.ERROR, True)
    assert evergold("pause", "nowhere")[0] == Code.ERROR
    with reading(sqlite_engine) as session:
        deeds = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert deeds[-4:] == ["scoring.pause", "worker.drain", "scoring.resume", "worker.resume"]


def test_failed_runs_run_again_and_failed_mails_go_again(evergold: Evergold, sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    failed = submit(sqlite_engine, ada).run_id
    fail(sqlite_engine, failed)
    assert "1 run will be scored again" in evergold("run-again", failed)[1]
    assert the_run(sqlite_engine, failed).status == RunStatus.QUEUED
    with writing(sqlite_engine) as session:
        mail = send_mail(session, ada, "A subject", "Words.", now=NOW)
        assert mail is not None
        mail.status, mail.ended_at, mail.last_error = GIVEN_UP, NOW, "550 unknown"
    assert "550 unknown" in evergold("mails")[1]
    assert evergold("mails", "--mail", mail.id)[0] == Code.USAGE
    assert json.loads(evergold("mails", "--send-again", "--mail", mail.id, "--json")[1])["sent_again"] == 1
    with reading(sqlite_engine) as session:
        assert session.get_one(OutgoingMail, mail.id).status == "waiting"


def test_storage_limits_health_and_reports_are_shown(evergold: Evergold, sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    submit(sqlite_engine, add_user(sqlite_engine, "ada"))
    stored = json.loads(evergold("storage", "--unowned", "--json")[1])
    assert any(one["kind"] == "submissions" for one in stored["stored"])
    assert "submissions" in evergold("storage")[1]
    assert "No request was refused lately." in evergold("limits")[1]
    assert json.loads(evergold("limits", "--json")[1]) == {"refused": []}
    code, out, _ = evergold("health")
    assert (code, "sweep" in out) == (Code.ERROR, True)  # no sweep, no worker
    assert {"name", "is_well", "says"} == set(json.loads(evergold("health", "--json")[1])["parts"][0])
    assert "No report is open." in evergold("reports", COMPETITION)[1]
    assert json.loads(evergold("reports", "--json")[1]) == {"reports": []}
