"""`evergold announce`, `questions`, `invitations` and `export predictions|participants` against a running server."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import OutgoingMail, Right, Role, TokenScope
from app.people import auth
from app.people.act import Act
from app.people.invitations import invite
from app.people.rights import find_user, grant_role, has_role
from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.rich_world import FIRST_ANNOUNCEMENT, FIRST_QUESTION
from tests.web.site import Site
from tests.world import COMPETITION, NOW, PHASE

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tokens(site: Site) -> dict[str, str]:
    """Olga organises, Ada has a score, Bob's file was rejected."""
    found = {}
    for name in ("olga", "ada", "bob"):
        user = world.add_user(site.engine, name)
        with writing(site.engine) as session:
            _, found[name] = auth.create_token(session, user, "cli", NOW, scopes=list(TokenScope))
            if name == "olga":
                grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        if name == "ada":
            world.score(site.engine, world.submit(site.engine, user).run_id, 0.5)
        if name == "bob":
            world.reject(site.engine, world.submit(site.engine, user).run_id)
    return found


@pytest.fixture
def evergold(
    site: Site, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Evergold:
    """Return the command line of a user, `olga` by default."""
    monkeypatch.setenv("EVERGOLD_SERVER", site.url)

    def evergold(*arguments: object, who: str = "olga", stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setenv("EVERGOLD_TOKEN", tokens[who])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        logged = ("[info ", "[error ")  # the server's own log
        said = [line for line in captured.out.splitlines(keepends=True) if not any(word in line for word in logged)]
        return code, "".join(said), captured.err

    return evergold


def mails(site: Site) -> int:
    with reading(site.engine) as session:
        return session.scalars(select(func.count()).select_from(OutgoingMail)).one()


def test_an_announcement_from_preview_to_withdrawal(site: Site, evergold: Evergold, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("Until **Sunday**.")
    publish = ("announce", "publish", COMPETITION, "--title", "The deadline moves", "--text", text)
    to = ("--mail", "without-valid:evaluation")
    assert (
        evergold(*publish, *to, "--preview")[1] == "2 people would get a mail, 0 more have switched such mails off.\n"
    )
    code, _, err = evergold(*publish, *to)
    assert (code, mails(site)) == (Code.USAGE, 0)
    assert "2 people would get a mail" in err
    assert "--yes" in err
    code, out, err = evergold(*publish, *to, "--yes", "--pin")
    assert (code, mails(site)) == (Code.OK, 2), err
    assert out.splitlines()[0].endswith(
        f"{site.url}/competitions/{COMPETITION}/announcements#announcement-{FIRST_ANNOUNCEMENT}"
    )
    assert "Mails written: 2." in out
    assert evergold("announce", "list", COMPETITION)[1].splitlines()[1:] == [
        f"{FIRST_ANNOUNCEMENT}\t10 Jan 2026, 12:00 UTC\tyes\tThe deadline moves"
    ]
    assert (
        evergold("announce", "edit", COMPETITION, FIRST_ANNOUNCEMENT, "--unpin", "--text", "-", stdin="Monday")[0]
        == Code.OK
    )
    [one] = json.loads(evergold("announce", "list", COMPETITION, "--json")[1])["announcements"]
    assert (one["title"], one["text"], one["is_pinned"]) == ("The deadline moves", "Monday", False)
    assert evergold("announce", "withdraw", COMPETITION, FIRST_ANNOUNCEMENT)[0] == Code.OK
    assert evergold("announce", "withdraw", COMPETITION, FIRST_ANNOUNCEMENT)[0] == Code.ERROR
    assert evergold("announce", "edit", COMPETITION, FIRST_ANNOUNCEMENT)[0] == Code.ERROR
    assert mails(site) == 2


def test_what_is_wrong_with_an_announcement_is_said(evergold: Evergold, tmp_path: Path) -> None:
    publish = ("announce", "publish", COMPETITION, "--title", "x", "--text")
    assert "not a text file" in evergold(*publish, tmp_path / "none.md")[2]
    code, _, err = evergold(*publish, "-", "--mail", "everybody", "--preview", stdin="x")
    assert (code, "Unknown group" in err) == (Code.ERROR, True)
    code, _, err = evergold(*publish, "-", stdin=" ")
    assert (code, "text: Please write something here." in err) == (Code.ERROR, True)
    assert evergold(*publish, "-", who="ada", stdin="x")[0] == Code.ERROR


def test_a_question_from_asking_to_its_answer(site: Site, evergold: Evergold) -> None:
    asking = ("questions", "ask", COMPETITION, "--title", "Is it blind?", "--text", "-")
    code, out, err = evergold(*asking, who="ada", stdin="May we?")
    assert (code, out) == (
        Code.OK,
        f"Asked: {site.url}/competitions/{COMPETITION}/questions#question-{FIRST_QUESTION}\n",
    ), err
    assert evergold("questions", "list", COMPETITION, "--open")[1].splitlines()[1] == (
        f"{FIRST_QUESTION}\t10 Jan 2026, 12:00 UTC\tAda\twaits\tIs it blind?\t"
    )
    assert (
        evergold("questions", "answer", COMPETITION, FIRST_QUESTION, "--text", "-", who="ada", stdin="No.")[0]
        == Code.ERROR
    )
    assert "privately" in evergold("questions", "answer", COMPETITION, FIRST_QUESTION, "--text", "-", stdin="No.")[1]
    assert len(evergold("questions", "list", COMPETITION, who="bob")[1].splitlines()) == 1
    evergold("questions", "answer", COMPETITION, FIRST_QUESTION, "--text", "-", "--public", stdin="Never.")
    [one] = json.loads(evergold("questions", "list", COMPETITION, "--json", who="bob")[1])["questions"]
    assert (one["answer"], one["asker"]) == ("Never.", None)
    assert evergold("questions", "list", COMPETITION, "--open")[1].splitlines()[1:] == []
    evergold(*asking, "--show-name", who="bob", stdin="And this?")
    second = FIRST_QUESTION + 1
    assert evergold("questions", "close", COMPETITION, second)[1] == f"Closed question {second} of {COMPETITION}.\n"
    assert "closed" in evergold("questions", "list", COMPETITION)[1]
    assert evergold("questions", "reopen", COMPETITION, second)[0] == Code.OK
    assert evergold("questions", "close", COMPETITION, 99)[0] == Code.ERROR


def test_predictions_are_downloaded_whole_or_not_at_all(
    site: Site, evergold: Evergold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = evergold("export", "predictions", COMPETITION, "--entries", "--phase", PHASE)
    assert (code, out) == (Code.OK, ""), err
    with zipfile.ZipFile(f"{COMPETITION}-predictions.zip") as found:
        # Nothing is stored for submissions that only the database knows: the manifest says so.
        assert found.namelist() == ["manifest.csv", "manifest.json"]
        [one] = json.loads(found.read("manifest.json"))["submissions"]
    assert (one["team"], one["file"]) == ("Ada", "")
    other = tmp_path / "other.zip"
    code, _, err = evergold("export", "predictions", COMPETITION, "--phase", "nowhere", "--output", other)
    assert (code, "has no phase 'nowhere'" in err) == (Code.ERROR, True)
    assert evergold("export", "predictions", COMPETITION, "--output", other, who="ada")[0] == Code.ERROR
    assert evergold("export", "predictions", COMPETITION, "--output", tmp_path / "no" / "x.zip")[0] == Code.ERROR
    assert sorted(path.name for path in tmp_path.glob("*.zip*")) == [f"{COMPETITION}-predictions.zip"]


def test_participants_are_listed(evergold: Evergold) -> None:
    lines = evergold("export", "participants", COMPETITION)[1].splitlines()
    assert lines[1:] == [
        "ada\tada@example.org\tAda\tAda\t10 Jan 2026, 12:00 UTC\tevaluation 1",
        "bob\tbob@example.org\tBob\tBob\t10 Jan 2026, 12:00 UTC\tevaluation 1",
        "earl\tearl@example.org\tEarl\t\t1 Jan 2026, 13:00 UTC\tearlier 1",
    ]
    assert evergold("export", "participants", COMPETITION, "--csv")[1].splitlines()[0].startswith("username,email,")
    assert len(json.loads(evergold("export", "participants", COMPETITION, "--json")[1])["participants"]) == 3
    assert evergold("export", "participants", COMPETITION, who="ada")[0] == Code.ERROR


def test_an_invitation_is_listed_and_accepted(site: Site, evergold: Evergold) -> None:
    with writing(site.engine) as session:
        found, olga = find_competition(session, COMPETITION), find_user(session, "olga")
        find_user(session, "ada").email_confirmed_at = NOW
        for role in (Role.ORGANISER, Role.TESTER):
            invite(Act(session, olga, NOW, site.settings), found, "ada", role, rights=[Right.GOLD])
    listed = evergold("invitations", who="ada")[1].splitlines()
    assert sorted(listed[1:]) == [
        f"1\t{COMPETITION}\torganiser\tgold\tolga\tMon 9 Feb 2026, 00:00 AoE (9 Feb, 12:00 your time)",
        f"2\t{COMPETITION}\ttester\t\tolga\tMon 9 Feb 2026, 00:00 AoE (9 Feb, 12:00 your time)",
    ]
    assert evergold("invitations", "--accept", 1, who="bob")[0] == Code.ERROR, "it is another's"
    assert evergold("invitations", "--accept", 1, "--decline", 2, who="ada")[0] == Code.USAGE
    assert (
        evergold("invitations", "--accept", 1, who="ada")[1] == f"Accepted: you now have the role in {COMPETITION}.\n"
    )
    assert evergold("invitations", "--decline", 2, who="ada")[1] == "Declined.\n"
    assert evergold("invitations", who="ada")[1].startswith("No invitations.")
    with reading(site.engine) as session:
        assert has_role(session, find_user(session, "ada"), find_competition(session, COMPETITION), Role.ORGANISER)
