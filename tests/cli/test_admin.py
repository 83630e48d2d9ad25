"""`evergold admin …`: the use cases of the administrators' pages, from the command line, each in the audit log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading
from app.models import AuditEntry
from evergold.cli import run
from evergold.cli.output import Code
from tests.cli.test_accounts import server  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("cheap_passwords")


def test_what_administrators_do_on_the_pages_is_done_by_command(
    server: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    def done(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        assert run(["admin", *words, "--data-dir", str(server), "--json"]) == Code.OK, capsys.readouterr().err
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    assert [one["username"] for one in done("people", "ad")["accounts"]] == ["ada"]
    assert done("block", "ada", "--reason", "Spam.") == {"username": "ada", "changed": True}
    assert done("person", "ada")["blocked_reason"] == "Spam."
    assert [one["username"] for one in done("people", "--group", "blocked")["accounts"]] == ["ada"]
    assert done("unblock", "ada")["changed"]
    assert not done("unblock", "ada")["changed"]
    assert done("organiser", "ada", "barred", "--competitions", "3")["changed"]
    assert done("ban-domain", "spam.example")["value"] == "spam.example"
    assert done("set", "questions_per_hour", "3")["value"] == 3
    assert {one["name"] for one in done("settings")["settings"] if one["is_changed"]} == {
        "banned_domains",
        "questions_per_hour",
    }
    assert done("reset", "questions_per_hour")["value"] == 10
    number = done("announce", "We move.", "--severity", "urgent", "--until", "2099-01-01 00:00 UTC")["id"]
    assert [one["text"] for one in done("announcements")["announcements"]] == ["We move."]
    assert done("end-announcement", str(number)) == {"id": number}
    assert done("competitions")["competitions"] == []
    with reading(get_engine(get_settings().database_address)) as session:
        entries = session.execute(select(AuditEntry.action, AuditEntry.actor).order_by(AuditEntry.id)).all()
    assert [action for action, _ in entries][1:] == [
        "account.block",
        "account.unblock",
        "organiser.rules",
        "setting.change",
        "setting.change",
        "setting.reset",
        "announcement.make",
        "announcement.end",
    ]
    assert all(actor.startswith("command line (") for _, actor in entries)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["set", "registration", "ajar"], Code.ERROR, "It must be one of open, closed, but is 'ajar'"),
        (["set", "nope", "1"], Code.ERROR, "There is no setting 'nope'"),
        (["organiser", "ada", "king"], Code.USAGE, "choose one of rule, approved, barred"),
        (["people", "--group", "robots"], Code.USAGE, "choose one of all, blocked"),
        (["announce", "x", "--until", "soon"], Code.USAGE, "--until: 'soon' is not a date and time"),
        (["announce", "x", "--severity", "loud"], Code.USAGE, "choose one of info, warning, urgent"),
        (["end-announcement", "7"], Code.ERROR, "There is no current or coming announcement 7"),
        (["block", "zoe"], Code.ERROR, "There is no account 'zoe'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    server: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: Code,
    said: str,
) -> None:
    assert run(["admin", *words, "--data-dir", str(server)]) == code
    assert said in capsys.readouterr().err


def test_announcements_are_shown_with_their_moments(
    server: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    begins, ends = "1 Jan 2099, 00:00 UTC", "2 Jan 2099, 00:00 UTC"
    for more in ([], ["--until", "2099-01-02 00:00 UTC"]):
        command = ["admin", "announce", "We move.", "--from", "2099-01-01 00:00 UTC", *more]
        assert run([*command, "--data-dir", str(server)]) == Code.OK
        assert f"is shown from {begins}." in capsys.readouterr().out
    assert run(["admin", "announcements", "--data-dir", str(server)]) == Code.OK
    listed = [line.split("\t")[2:] for line in capsys.readouterr().out.splitlines()[1:]]
    assert sorted(listed) == [[begins, "", "We move."], [begins, ends, "We move."]]
