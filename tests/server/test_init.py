"""`evergold init`: a server's folder that starts, with one administrator and nothing of the demo."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.base.db import make_engine, reading
from app.base.errors import InvalidForm
from app.declarations.check import check_phases
from app.models import Competition, Submission, User
from app.people.auth import NewAccount, authenticate
from app.server.datadir import ServeError
from app.server.folder import PHASES, init_server
from evergold.cli import run
from evergold.cli.output import Code
from tests import postgres
from tests.services import free_port

pytestmark = pytest.mark.usefixtures("cheap_passwords")

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PASSWORD = "correct horse battery"


def init(folder: Path, username: str = "ada", password: str = PASSWORD) -> list[Path]:
    return init_server(folder, NewAccount(username, "ada@example.org", password), NOW)


def test_fresh_folder_has_one_administrator_and_no_demo(tmp_path: Path) -> None:
    init(tmp_path)
    engine = make_engine(f"sqlite:///{tmp_path / 'var/evergold.db'}")
    with reading(engine) as session:
        assert authenticate(session, "ada", PASSWORD).is_administrator
        assert [
            session.scalar(select(func.count()).select_from(table)) for table in (User, Competition, Submission)
        ] == [
            1,
            0,
            0,
        ]
    engine.dispose()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        ".env.example",
        ".gitignore",
        "competitions",
        "phases.yaml",
        "var",
        "var/evergold.db",
        "var/gold",
    ]


def test_skeleton_is_a_valid_phases_file(tmp_path: Path) -> None:
    init(tmp_path)
    assert check_phases(tmp_path / "phases.yaml", now=NOW) == []


def test_commented_example_is_valid_once_its_files_are_there(tmp_path: Path) -> None:
    example = PHASES[PHASES.index("# competitions:") :]
    text = "version: 1\n" + textwrap.dedent("".join(line[2:] + "\n" for line in example.splitlines()))
    (tmp_path / "phases.yaml").write_text(text)
    (tmp_path / "detection.blind.csv").write_text(
        "ID,Language,MWE,Previous,Target,Next\n1,EN,night owl,a,b night owl,c\n2,PT,pé frio,a,b pé frio,c\n"
    )
    assert [str(finding) for finding in check_phases(tmp_path / "phases.yaml", now=NOW)] == []


def test_every_setting_of_the_environment_example_exists() -> None:
    from app.base.config import Settings
    from app.server.folder import ENVIRONMENT

    named = set(re.findall(r"# EVERGOLD_([A-Z_]+)=", ENVIRONMENT))
    assert named - {"GOLD_DIR"} <= {name.upper() for name in Settings.model_fields}


def test_server_that_is_there_is_left_alone(tmp_path: Path) -> None:
    init(tmp_path)
    with pytest.raises(ServeError, match="Nothing was changed"):
        init(tmp_path, username="eve")


def test_refused_password_leaves_nothing_that_would_be_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(InvalidForm):
        init(tmp_path, password="short")
    init(tmp_path)


def test_interrupted_init_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var/evergold.db.unfinished").write_bytes(b"half a database")
    init(tmp_path)


def test_command_says_what_is_wrong_with_the_account(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    code = run(["init", str(tmp_path / "new"), "--admin-username", "A B", "--admin-email", "x", "--password-stdin"])
    assert code == Code.ERROR
    said = capsys.readouterr().err
    assert all(name in said for name in ("username:", "email:", "password:"))
    assert "Traceback" not in said


def test_without_a_terminal_missing_answers_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(["init", str(tmp_path)]) == Code.USAGE
    assert "--admin-username" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------------- another database


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    with postgres.database(postgres_server) as address:
        yield address


def init_by_command(monkeypatch: pytest.MonkeyPatch, folder: Path, username: str = "ada") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    arguments = ["--admin-username", username, "--admin-email", f"{username}@example.org", "--password-stdin"]
    return run(["init", str(folder), *arguments])


@pytest.mark.parametrize("named_in", ["environment", ".env"])
def test_the_administrator_is_made_in_the_database_that_is_named(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_in: str
) -> None:
    if named_in == ".env":
        monkeypatch.setenv("EVERGOLD_DATABASE_URL", "")  # so that what the file says is forgotten after the test
        monkeypatch.delenv("EVERGOLD_DATABASE_URL")
        (tmp_path / ".env").write_text(f"EVERGOLD_DATABASE_URL={database}\n")
    else:
        monkeypatch.setenv("EVERGOLD_DATABASE_URL", database)
    assert init_by_command(monkeypatch, tmp_path) == Code.OK
    assert not (tmp_path / "var/evergold.db").exists(), "no second database that nobody reads"
    assert (tmp_path / "phases.yaml").exists()
    engine = make_engine(database)
    with reading(engine) as session:
        assert authenticate(session, "ada", PASSWORD).is_administrator
    engine.dispose()


def test_a_database_with_accounts_is_left_alone(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", database)
    assert init_by_command(monkeypatch, tmp_path / "one") == Code.OK
    assert init_by_command(monkeypatch, tmp_path / "two", "eve") == Code.ERROR
    assert "has accounts. Nothing was changed" in capsys.readouterr().err
    assert not (tmp_path / "two/phases.yaml").exists()


def test_a_database_that_is_not_there_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", f"postgresql://ada:hunter2@127.0.0.1:{free_port()}/evergold")
    assert init_by_command(monkeypatch, tmp_path) == Code.ERROR
    said = capsys.readouterr().err
    assert "cannot be used" in said
    assert "hunter2" not in said
    assert not (tmp_path / "phases.yaml").exists()
