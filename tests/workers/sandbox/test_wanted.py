"""Environments that competitions need: found in tasks and programs, built for organisers whom the server approved."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import storage_of
from app.competitions.find import find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import Right, Role, User
from app.people.rights import grant_role
from tests.programs import COMPETITION, PHASE, TASK, document, write_competition
from tests.world import NOW, add_user
from workers.sandbox.commands import main
from workers.sandbox.environments import DeclaredEnvironment, default_environment, find_environment
from workers.sandbox.wanted import Need, needs_of

pytestmark = pytest.mark.usefixtures("workplace")
NUMPY = ["numpy==2.1.0"]


@pytest.fixture
def rooms() -> Iterator[Path]:
    """An empty folder for environments, which the user of sandboxes can enter."""
    with tempfile.TemporaryDirectory(prefix="evergold-environments-") as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERGOLD_ENVIRONMENTS_DIR", name)
        yield Path(name)


@pytest.fixture
def olga(engine: Engine) -> User:
    return add_user(engine, "olga")


def declare(engine: Engine, folder: Path, owner: User | None, **options: Any) -> None:
    """Apply the competition of the tests with these options of its program."""
    loaded = load_competitions(write_competition(folder, document(**options)))
    with writing(engine) as session:
        apply_phases(session, loaded, storage=storage_of(get_settings()), now=NOW)
        find_competition(session, COMPETITION).owner_id = owner.id if owner else None


def needs(engine: Engine, names: Sequence[str] = (COMPETITION,)) -> list[Need]:
    with reading(engine) as session:
        return needs_of(session, names)


def change(engine: Engine, user: User, **values: bool) -> None:
    with writing(engine) as session:
        for name, value in values.items():
            setattr(session.get_one(User, user.id), name, value)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"environment": NUMPY, "python": "3.9"}, DeclaredEnvironment(tuple(NUMPY), "3.9")),
        ({"environment": "default"}, default_environment()),
        ({"environment": []}, DeclaredEnvironment(())),
        ({}, DeclaredEnvironment(("# Python alone",))),  # the program's own requirements.txt
    ],
)
def test_what_a_task_declares_is_found(
    engine: Engine, tmp_path: Path, options: Mapping[str, Any], wanted: DeclaredEnvironment
) -> None:
    declare(engine, tmp_path / "forms", None, **options)
    assert needs(engine) == [Need(COMPETITION, (f"{TASK} ({PHASE})",), wanted)]


def test_image_needs_no_environment(engine: Engine, tmp_path: Path) -> None:
    declare(engine, tmp_path / "forms", None, image=f"scorer@sha256:{'0' * 64}")
    assert needs(engine) == []


def test_packages_are_built_for_owners_whom_the_server_approved(engine: Engine, tmp_path: Path, olga: User) -> None:
    declare(engine, tmp_path / "forms", olga, environment=NUMPY)
    assert [one.refused for one in needs(engine)] == [
        "olga may edit it, and is not approved: `evergold account approve` does, if you trust them with that"
    ]
    change(engine, olga, is_approved_organiser=True)
    assert [one.refused for one in needs(engine)] == [""]


@pytest.mark.parametrize(("right", "is_refused"), [(Right.EDIT, True), (Right.GOLD, False), (Right.SUBMISSIONS, False)])
def test_whoever_may_edit_it_has_to_be_approved_too(
    engine: Engine, tmp_path: Path, right: Right, is_refused: bool
) -> None:
    declare(engine, tmp_path / "forms", None, environment=NUMPY)
    with writing(engine) as session:
        eve, here = session.merge(add_user(engine, "eve")), find_competition(session, COMPETITION)
        grant_role(session, here, eve, Role.ORGANISER, NOW, rights=frozenset({right}))
    assert [bool(one.refused) for one in needs(engine)] == [is_refused]


@pytest.mark.parametrize(
    ("rule", "approved", "refused"),
    [
        ("anybody", False, ""),
        ("admins", True, "has packages built for administrators alone"),
        ("approved", False, "is not approved"),
    ],
)
def test_a_setting_names_who(
    engine: Engine, tmp_path: Path, olga: User, rule: str, approved: bool, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_ORGANISERS", rule)
    change(engine, olga, is_approved_organiser=approved)
    declare(engine, tmp_path / "forms", olga, environment=NUMPY)
    (need,) = needs(engine)
    assert refused in need.refused
    assert bool(need.refused) == bool(refused)
    change(engine, olga, is_administrator=True)
    assert needs(engine)[0].refused == ""


@pytest.mark.parametrize("environment", ["default", [], ["# nothing"]])
def test_what_runs_nobodys_code_needs_no_approval(engine: Engine, tmp_path: Path, olga: User, environment: Any) -> None:
    declare(engine, tmp_path / "forms", olga, environment=environment)
    assert [one.refused for one in needs(engine)] == [""]


def test_all_that_a_competition_declares_is_built_and_the_rest_is_named(
    engine: Engine, tmp_path: Path, olga: User, rooms: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(engine, tmp_path / "forms", olga)
    assert main(["wanted", COMPETITION]) == 0
    assert capsys.readouterr().out.endswith("Python of /usr with no packages\tto be built\n")
    assert main(["build", COMPETITION]) == 0
    assert find_environment(DeclaredEnvironment(())).parent == rooms
    assert main(["wanted", COMPETITION]) == 0
    assert capsys.readouterr().out.endswith("\tbuilt\n")

    declare(engine, tmp_path / "forms", olga, environment=NUMPY)
    assert main(["build", COMPETITION]) == 1
    assert "olga may edit it, and is not approved" in capsys.readouterr().err
    assert main(["build", "nowhere"]) == 1
    assert "there is no competition nowhere" in capsys.readouterr().err


def test_what_one_machine_wants_another_one_builds(
    engine: Engine, tmp_path: Path, olga: User, rooms: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The builder of a server in containers reaches no database."""
    declare(engine, tmp_path / "forms", olga)
    assert main(["wanted", "--json"]) == 0
    listed = tmp_path / "wanted.json"
    listed.write_text(capsys.readouterr().out)
    assert main(["build", f"--from={listed}"]) == 0
    assert find_environment(DeclaredEnvironment(())).parent == rooms
    document_of_one = json.loads(listed.read_text())
    document_of_one["wanted"][0] |= {"refused": "not these", "wanted": {"requirements": NUMPY, "python": ""}}
    listed.write_text(json.dumps(document_of_one))
    assert main(["build", f"--from={listed}"]) == 1
    assert "not these" in capsys.readouterr().err
    listed.write_text('{"wanted": [{}]}')
    assert main(["build", f"--from={listed}"]) == 1
    assert "is not what `evergold environments wanted --json` prints" in capsys.readouterr().err


def test_tables_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    get_settings.cache_clear()
    assert main(["wanted"]) == 1
    assert "the declarations cannot be read from the database: no such table: competitions" in capsys.readouterr().err
