"""`evergold judge …` against a running server, and `evergold role …` on its database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from app.base.config import get_settings
from app.base.db import reading
from app.competitions.find import find_competition
from app.models import TokenScope
from app.people.rights import list_roles
from evergold.cli import run
from evergold.cli.output import Code
from tests import world
from tests.judging import judged as judging
from tests.web.site import Site
from tests.world import COMPETITION, NOW, PHASE, TASK

PLACE = f"{COMPETITION}/{PHASE}/{TASK}"
HEADER = "submission,item,annotator,mwe_sense,rest_sense,naturalness"

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def systems(empty_site: Site) -> dict[str, UUID]:
    world.add_competition(empty_site.engine, per_day=None)
    judging.add_task(empty_site.engine)
    return judging.enter_three(empty_site.engine)


@pytest.fixture
def evergold(
    empty_site: Site, systems: dict[str, UUID], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Evergold:
    """The command line of an organiser, whose token is for organising."""
    from app.base.db import writing
    from app.people import auth

    olga = world.add_user(empty_site.engine, "olga", is_administrator=True)
    with writing(empty_site.engine) as session:
        _, secret = auth.create_token(session, olga, "cli", NOW, scopes=list(TokenScope))
    monkeypatch.setenv("EVERGOLD_SERVER", empty_site.url)
    monkeypatch.setenv("EVERGOLD_TOKEN", secret)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", empty_site.settings.database_address)
    get_settings.cache_clear()

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        said = [line for line in captured.out.splitlines(keepends=True) if "[info " not in line]  # the server's own log
        return code, "".join(said), captured.err

    return evergold


def marks(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


def test_a_round_from_start_to_publication(
    empty_site: Site, evergold: Evergold, systems: dict[str, UUID], tmp_path: Path
) -> None:
    world.add_user(empty_site.engine, "anna")
    guidelines = tmp_path / "guidelines.md"
    guidelines.write_text("Be fair.")
    code, out, err = evergold(
        "judge",
        "start",
        PLACE,
        "--items",
        2,
        "--seed",
        3,
        "--annotator",
        "en:anna",
        "--guidelines",
        guidelines,
        "--submission",
        systems["alpha"],
    )
    assert code == Code.OK, err
    assert f"Round human of {PLACE}, not published." in out
    assert "en\tanna\t0\t2" in out
    assert "Alpha en: undefined (fewer than two annotators), 0 annotators." in out
    assert "Correlation macro: undefined (fewer than three systems have both scores)." in out
    code, out, _ = evergold("judge", "status", COMPETITION)
    assert out.splitlines()[1] == f"human\t{PHASE}/{TASK}\tbrowser\tno"
    code, out, _ = evergold("judge", "publish", f"{COMPETITION}/human", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (Code.ERROR, "round_unfinished")
    code, out, _ = evergold("judge", "publish", f"{COMPETITION}/human", "--unfinished")
    assert (code, out) == (
        Code.OK,
        f"Published: {empty_site.url}/competitions/{COMPETITION}/judging/human\n",
    )
    assert evergold("judge", "publish", f"{COMPETITION}/human", "--withdraw")[:2] == (
        Code.OK,
        f"Withdrawn: {COMPETITION}/human.\n",
    )


def test_marks_in_and_out(evergold: Evergold, systems: dict[str, UUID], tmp_path: Path) -> None:
    file = marks(tmp_path / "marks.csv", f"{systems['alpha']},en-1,A1,3,3,3", f"{systems['beta']},en-1,A1,0,0,0")
    assert evergold("judge", "import", file, "--to", PLACE, "--name", "paper")[:2] == (
        Code.OK,
        "Round paper: 2 added, 0 changed, 0 unchanged.\n",
    )
    code, out, _ = evergold("judge", "import", file, "--to", PLACE, "--name", "paper", "--json")
    assert json.loads(out) == {"round": "paper", "added": 0, "changed": 0, "unchanged": 2}
    exported = tmp_path / "out.csv"
    assert evergold("judge", "export", f"{COMPETITION}/paper", "--output", exported)[0] == Code.OK
    assert exported.read_text().splitlines() == evergold("judge", "export", f"{COMPETITION}/paper")[1].splitlines()
    assert "1 annotator." in evergold("judge", "status", f"{COMPETITION}/paper")[1]
    code, out, _ = evergold("judge", "import", exported, "--to", PLACE, "--name", "paper", "--json")
    assert json.loads(out)["unchanged"] == 2


def test_a_wrong_file_leaves_with_its_problems(evergold: Evergold, systems: dict[str, UUID], tmp_path: Path) -> None:
    file = marks(tmp_path / "marks.csv", f"{systems['alpha']},en-1,A1,3,3,9", f"{systems['alpha']},en-9,A1,3,3,3")
    code, out, err = evergold("judge", "import", file, "--to", PLACE)
    assert code == Code.REJECTED
    assert out.splitlines() == [
        "line 2, column naturalness: a mark must be a number from 0 to 3, not 9",
        "line 3, column item: en-9 is not an item of this task",
    ]
    assert "2 problems; nothing was imported" in err
    code, out, _ = evergold("judge", "import", file, "--to", PLACE, "--json")
    assert (code, len(json.loads(out)["problems"])) == (Code.REJECTED, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("judge", "start", "idioms"),
        ("judge", "start", PLACE, "--annotator", "anna"),
        ("judge", "export", "idioms"),
        ("judge", "publish", "idioms/a/b"),
        ("role", "grant", COMPETITION, "olga", "king"),
    ],
)
def test_wrong_usage_has_its_own_code(evergold: Evergold, arguments: tuple[str, ...]) -> None:
    assert evergold(*arguments)[0] == Code.USAGE


def test_roles_are_granted_listed_and_revoked(empty_site: Site, evergold: Evergold) -> None:
    world.add_user(empty_site.engine, "anna")
    assert evergold("role", "grant", COMPETITION, "anna", "organiser")[1] == f"anna is organiser of {COMPETITION}.\n"
    assert evergold("role", "grant", COMPETITION, "Anna", "organiser")[1] == "anna was organiser already.\n"
    assert evergold("role", "list", COMPETITION)[1].splitlines()[1].startswith("anna\torganiser\t")
    with reading(empty_site.engine) as session:
        assert [one.username for one in list_roles(session, find_competition(session, COMPETITION))] == ["anna"]
    code, out, _ = evergold("role", "revoke", COMPETITION, "anna", "organiser", "--json")
    assert json.loads(out) == {"username": "anna", "role": "organiser", "changed": True}
    assert evergold("role", "revoke", COMPETITION, "anna", "organiser")[1] == "anna was no organiser.\n"
    assert evergold("role", "grant", COMPETITION, "nobody", "organiser")[0] == Code.ERROR
    assert evergold("role", "list", "nothing")[0] == Code.ERROR
