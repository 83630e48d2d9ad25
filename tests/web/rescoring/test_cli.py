"""`evergold rescore …` and `rescorings` against a running server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.base.db import writing
from app.models import RescoringState, TokenScope
from app.people import auth
from evergold.cli import rescore, run
from evergold.cli.output import Code
from tests import world
from tests.competitions.embargo import enter
from tests.rescoring.rescored import NOTE, score_set, start, the_set
from tests.rich_world import FIRST_SET
from tests.web.site import Person, Site
from tests.world import COMPETITION, NOW, PHASE, TASK

Evergold = Callable[..., tuple[int, str, str]]
SET = f"{COMPETITION}/{FIRST_SET}"


@pytest.fixture
def entered(site: Site, ada: Person) -> dict[str, Any]:
    """Ada 0.9 and Bob 0.5."""
    return {
        "ada": enter(site.engine, ada.user, 0.9),
        "bob": enter(site.engine, world.add_user(site.engine, "bob"), 0.5),
    }


@pytest.fixture
def evergold(
    site: Site, entered: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Evergold:
    """The command line of an organiser, whose token is for organising."""
    olga = world.add_user(site.engine, "olga", is_administrator=True)
    with writing(site.engine) as session:
        _, secret = auth.create_token(session, olga, "cli", NOW, scopes=list(TokenScope))
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", secret)

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        said = [line for line in captured.out.splitlines(keepends=True) if "[info " not in line]  # the server's own log
        return code, "".join(said), captured.err

    return evergold


def test_the_whole_story_on_the_command_line(site: Site, entered: dict[str, Any], evergold: Evergold) -> None:
    code, out, err = evergold("rescore", "start", f"{COMPETITION}/{PHASE}/{TASK}", "--note", NOTE)
    assert (code, "Rescored: 0 of 2." in out, f"/rescoring/{FIRST_SET}" in err) == (
        Code.OK,
        True,
        True,
    )
    code, _, err = evergold("rescore", "publish", SET)
    assert (code, "2 of 2 submissions are not rescored yet" in err) == (Code.ERROR, True)
    score_set(site.engine, FIRST_SET, {entered["ada"]: 0.4, entered["bob"]: 0.5})
    code, out, _ = evergold("rescore", "diff", SET)
    assert code == Code.OK
    assert "zero-shot, Evaluation: 2 rows of 2 changed." in out
    assert "Ada\t1\t2\t0.9000\t0.4000\t2\t" in out
    code, out, _ = evergold("rescorings", COMPETITION)
    assert f"{FIRST_SET}\topen\t2 of 2\t{PHASE}/{TASK}\t{NOTE}" in out
    assert evergold("rescore", "publish", SET, "--tell-teams")[0] == Code.OK
    assert the_set(site.engine, FIRST_SET).state == RescoringState.PUBLISHED
    assert "published" in evergold("rescore", "status", SET)[1]


def test_a_set_is_dropped_and_everything_comes_as_json(site: Site, evergold: Evergold) -> None:
    _, out, _ = evergold("rescore", "start", COMPETITION, "--note", NOTE, "--with-rejected", "--json")
    assert json.loads(out)["with_rejected"] is True
    assert json.loads(evergold("rescore", "diff", SET, "--json")[1])["progress"]["waiting"] == 3, (
        "of all phases: of the one that went before, too"
    )
    assert json.loads(evergold("rescore", "drop", SET, "--json")[1])["state"] == "dropped"
    assert json.loads(evergold("rescorings", COMPETITION, "--json")[1])["rescorings"][0]["progress"] is None


@pytest.mark.parametrize("place", ["idioms", "idioms/", "idioms/one", "idioms/1/2", "/1"])
def test_what_is_no_set_is_told(evergold: Evergold, place: str) -> None:
    code, _, err = evergold("rescore", "status", place)
    assert (code, "is not COMPETITION/SET" in err) == (Code.USAGE, True)


def test_publishing_waits_where_that_is_asked_for(
    site: Site, entered: dict[str, Any], evergold: Evergold, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = start(site.engine)
    waited = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        score_set(site.engine, number, {entered["ada"]: 0.4, entered["bob"]: 0.5})

    with monkeypatch.context() as patient:  # no longer: the site waits for its last requests, too
        patient.setattr(time, "sleep", sleep)
        assert evergold("rescore", "publish", f"{COMPETITION}/{number}", "--wait")[0] == Code.OK
    assert waited == [rescore.ASK_SECONDS]


def test_without_a_token_nothing_is_asked(site: Site, evergold: Evergold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVERGOLD_TOKEN")
    code, _, err = evergold("rescorings", COMPETITION)
    assert (code, "You are not logged in" in err) == (Code.ERROR, True)
