"""The demo: real submissions of three accounts, once; never on a server that somebody administers."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine, func, select, update

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.competitions.find import find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import CompetitionTask, Phase, PhaseTask, RunStatus, ScoringRun, Submission, Team, TeamMember, User
from app.people.auth import authenticate
from app.people.rights import ANY_RIGHT, may_organise
from app.server import prepare
from app.server.datadir import ServeError

pytestmark = pytest.mark.usefixtures("cheap_passwords")

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture
def applied(sqlite_engine: Engine, storage: Path) -> Engine:
    """A database with the repository's own phases.yaml."""
    with writing(sqlite_engine) as session:
        apply_phases(session, load_competitions(ROOT / "phases.yaml"), storage=FolderStorage(storage), now=NOW)
    return sqlite_engine


def submit_demo(engine: Engine, storage: Path, now: datetime = NOW) -> list[int]:
    with writing(engine) as session:
        return prepare.submit_demo(session, FolderStorage(storage), now)


def test_every_team_submits_to_every_task_of_both_phases_that_it_has_a_file_for(applied: Engine, storage: Path) -> None:
    runs = submit_demo(applied, storage)
    with reading(applied) as session:
        submitted = session.execute(
            select(Team.name, Phase.name, CompetitionTask.name)
            .select_from(Submission)
            .join(Team, Team.id == Submission.team_id)
            .join(TeamMember, TeamMember.team_id == Team.id)
            .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
            .join(Phase, Phase.id == PhaseTask.phase_id)
            .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        ).all()
    detection, similarity, paraphrase = "idiom-detection", "idiom-similarity", "idiom-paraphrase"
    expected = {
        (team, phase, task)
        for phase in ("practice", "evaluation")
        for team, task in [
            ("Magpie", detection),
            ("Magpie", similarity),
            ("Saudade Lab", detection),
            ("Saudade Lab", similarity),
            ("Loureiro", detection),
            ("Magpie", paraphrase),
            ("Saudade Lab", paraphrase),
            ("Loureiro", paraphrase),
        ]
    }
    assert {tuple(row) for row in submitted} == expected
    assert len(submitted) == len(runs) == 16


def test_submissions_wait_for_a_worker_like_any_other(applied: Engine, storage: Path) -> None:
    runs = submit_demo(applied, storage)
    with reading(applied) as session:
        statuses = session.scalars(select(ScoringRun.status).where(ScoringRun.id.in_(runs)))
        assert set(statuses) == {RunStatus.QUEUED}


def test_second_start_submits_nothing(applied: Engine, storage: Path) -> None:
    submit_demo(applied, storage)
    assert submit_demo(applied, storage) == []
    with reading(applied) as session:
        people = session.scalar(select(func.count()).select_from(User).where(User.password_hash.is_not(None)))
        assert people == len(prepare.TEAMS) + 1  # and an organiser


def test_interrupted_set_up_is_completed(applied: Engine, storage: Path) -> None:
    """An account without its submissions: what a crash between the two could leave on a server without transactions."""
    with writing(applied) as session:
        prepare._account(session, prepare.TEAMS[0], NOW)
    assert len(submit_demo(applied, storage)) == 16


def test_printed_passwords_log_in(applied: Engine, storage: Path) -> None:
    submit_demo(applied, storage)
    with reading(applied) as session:
        for team in prepare.TEAMS:
            assert authenticate(session, team.username, team.password).display_name == team.display_name


def test_phase_that_is_over_is_left_out(applied: Engine, storage: Path) -> None:
    with writing(applied) as session:
        session.execute(update(Phase).where(Phase.name == "evaluation").values(ends_at=NOW))
    assert len(submit_demo(applied, storage)) == 8


def test_gold_is_installed_once_and_renewed_when_it_differs(tmp_path: Path) -> None:
    prepare.install_gold(tmp_path)
    installed = {path.relative_to(tmp_path / "demo") for path in (tmp_path / "demo").rglob("*.*")}
    assert installed == {path.relative_to(ROOT / "demo/gold") for path in (ROOT / "demo/gold").rglob("*.*")}
    assert {path.suffix for path in installed} == {".csv", ".json", ".cupt"}
    assert len(installed) == 20
    kept, changed = sorted(tmp_path.rglob("*.csv"))[:2]
    changed.write_text("ID\n")
    before = kept.stat().st_mtime_ns
    prepare.install_gold(tmp_path)
    assert kept.stat().st_mtime_ns == before
    assert changed.read_bytes() == (ROOT / "demo/gold" / changed.relative_to(tmp_path / "demo")).read_bytes()


def test_gold_that_phases_name_is_gold_that_is_installed(tmp_path: Path) -> None:
    prepare.install_gold(tmp_path)
    phases = yaml.safe_load((ROOT / "phases.yaml").read_text())["competitions"][0]["phases"]
    named = {asked["gold"] for phase in phases for asked in phase["tasks"].values()}
    assert named
    assert all((tmp_path / name).exists() for name in named)


def test_the_demo_has_an_organiser_who_can_log_in(applied: Engine, storage: Path) -> None:
    submit_demo(applied, storage)
    assert submit_demo(applied, storage) == []
    with reading(applied) as session:
        user = authenticate(session, prepare.ORGANISER.username, prepare.ORGANISER.password)
        assert may_organise(session, user, find_competition(session, prepare.COMPETITION), ANY_RIGHT)
        assert not user.is_administrator
        assert not session.scalars(select(Submission.id).where(Submission.user_id == user.id)).all()
    assert {"title": "Organiser", "username": "organiser", "password": "organiser-demo"} in prepare.logins()


def test_server_with_an_administrator_never_gets_demo_accounts(applied: Engine, storage: Path) -> None:
    with writing(applied) as session:
        user = prepare._account(session, prepare.TEAMS[0], NOW)
        user.is_administrator = True
    with reading(applied) as session, pytest.raises(ServeError, match="real server"):
        prepare.check_demo_allowed(session)


def test_server_without_the_demo_competition_never_gets_demo_accounts(sqlite_engine: Engine) -> None:
    with reading(sqlite_engine) as session, pytest.raises(ServeError, match="competition 'demo'"):
        prepare.check_demo_allowed(session)


def test_what_pip_installs_has_no_demo_and_says_where_there_is_one(
    applied: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "DEMO", tmp_path / "nowhere")
    with (
        reading(applied) as session,
        pytest.raises(ServeError, match="which only a checkout of Evergold has: use `make run`"),
    ):
        prepare.check_demo_allowed(session)


def test_demo_folder_that_is_gone_stops_nothing_else(
    applied: Engine, storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "demo/gold", tmp_path / "copy/gold")
    monkeypatch.setattr(prepare, "DEMO", tmp_path / "copy")
    assert submit_demo(applied, storage) == []
