"""Wrong usage: refused before anything is done, with its own exit status."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from evergold.cli import run
from evergold.cli.output import Code
from tests.world import COMPETITION, PHASE, TASK, add_competition, add_user

PLACE = f"{COMPETITION}/{PHASE}/{TASK}"


@pytest.mark.parametrize(
    "words",
    [
        ["account", "delete", "ada", "--undo", "--at-once"],
        ["admin", "people", "--group", "robots"],
        ["admin", "mails", "--mail", "7"],
        ["life", "set", COMPETITION, "--halt", "sideways"],
        ["life", "set", COMPETITION, "--stage", "proud"],
        ["rows", "mark", PLACE, "hidden", "--submission", "x"],
        ["rows", "mark", PLACE, "better", "--team", "Ada"],
        ["runs", "--queue-again"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_wrong_usage(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    add_competition(sqlite_engine)
    add_user(sqlite_engine, "ada")
    assert run(words) == Code.USAGE
