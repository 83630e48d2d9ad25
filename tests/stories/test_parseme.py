"""PARSEME 1.2 as its organisers ran it, with a known system: two tracks, an embargo, official results of each."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import InvalidForm, PhaseNotOpen
from app.base.storage import FolderStorage, store_file
from app.boards.freezing import freeze_due
from app.boards.leaderboard import Leaderboard, build_leaderboard
from app.boards.snapshots import find_official, official_board
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import Change, apply_phases
from app.declarations.check import check_phases, load_competitions
from app.importers.parseme import import_parseme
from app.models import RunStatus, ScoringRun, User
from app.operations.migrate import upgrade
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from tests.official_cases import Parseme, parseme
from tests.world import add_user

COMPETITION, TASK = "parseme-1-2", "mwe-identification"
BOTH, CLOSED, OPEN = "unseen", "unseen-closed", "unseen-open"
EVALUATION = datetime(2020, 7, 1, tzinfo=UTC)
#: The evaluation ends at midnight at the beginning of 4 July, anywhere on Earth.
CLOSE = datetime(2020, 7, 4, 12, tzinfo=UTC)
HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)
#: What the organisers add to the imported evaluation, and to the phase after it.
EMBARGO = """\
        start: 2020-07-01 00:00 UTC
        visibility: {board: hidden, public_from: close, own_scores: after_close}
"""
EVERLASTING = """\
        start: 2020-07-04 00:00 AoE
        carry_over: evaluation
"""


@pytest.fixture
def task(tmp_path_factory: pytest.TempPathFactory) -> Parseme:
    return parseme(tmp_path_factory.mktemp("parseme"))


@pytest.fixture
def engine(task: Parseme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The shared task as `evergold import parseme` makes it, with an embargo on its evaluation."""
    folder = tmp_path / "competition"
    import_parseme(task.root, folder, tmp_path / "gold", "1.2")
    declaration = folder / "competition.yaml"
    text = declaration.read_text(encoding="utf-8")
    for added in (EMBARGO, EVERLASTING):
        (start, _) = added.splitlines(keepends=True)
        assert text.count(start) == 1
        text = text.replace(start, added)
    declaration.write_text(text, encoding="utf-8")
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "gold"))
    get_settings().data_dir.mkdir(parents=True, exist_ok=True)
    found = get_engine(get_settings().database_address)
    upgrade(found)
    assert [finding for finding in check_phases(declaration, now=EVALUATION) if finding.severity == "error"] == []
    with writing(found) as session:
        loaded = load_competitions(declaration)
        changes = apply_phases(
            session, loaded, storage=FolderStorage(get_settings().storage_dir), now=EVALUATION - HOUR
        )
    score_baselines(changes)
    return found


def score_baselines(changes: list[Change]) -> None:
    """Score the baselines: a board is frozen when nothing waits for a worker."""
    from workers.score import score_submission

    for change in changes:
        if change.run_id is not None:
            score_submission(change.run_id)


def submit(
    engine: Engine, user: User, track: str | None, file: tuple[str, Path], now: datetime, phase: str = "evaluation"
) -> str:
    """A system's file of a language, zipped and scored by a worker; the status that came of it."""
    from workers.score import score_submission

    packed = get_settings().data_dir / "system.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        language, path = file
        archive.write(path, f"{language}/test.system.cupt")
    upload = store_file(packed, FolderStorage(get_settings().storage_dir))
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, phase, TASK)
        accepted = accept_submission(session, asked, upload, Sender(user, now), SubmissionForm(track=track))
    score_submission(accepted.run_id)
    with reading(engine) as session:
        run = session.get_one(ScoringRun, accepted.run_id)
        assert run.status is not RunStatus.FAILED, run.failure
        return run.status


def board(
    engine: Engine, name: str, now: datetime, phase: str = "evaluation", viewer: User | None = None
) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), phase, name)
        return build_leaderboard(session, *place, Viewer(viewer, now))


def official(engine: Engine, name: str, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), "evaluation", name)
        return official_board(
            session, find_official(session, *place, None, Viewer(None, now)).snapshot, Viewer(None, now)
        )


def shown(found: Leaderboard) -> list[tuple[int | None, str, str | None, float | None]]:
    """Rank, team, track and unseen F1 of who takes part."""
    ranked = [row for row in found.rows if row.rank is not None]
    return [(row.rank, row.team, row.track, row.cells[found.rank_by].value) for row in ranked]


def test_two_tracks_an_embargo_and_official_results_of_each(engine: Engine, task: Parseme) -> None:
    """Check MTLB-STRUCT's and Seen2Seen's year in small: users of other resources are on a board of their own."""
    ada, bob, eve = (add_user(engine, name) for name in ("ada", "bob", "eve"))
    perturbed, nothing, everything = (
        (task.language, path) for path in (task.system, task.file("test.blind.cupt"), task.file("test.cupt"))
    )
    unseen_f1 = pytest.approx(task.scores["Unseen-in-train: MWE-based"]["F"], abs=5e-5)

    with pytest.raises(InvalidForm) as refused:
        submit(engine, ada, None, perturbed, EVALUATION)
    assert "'closed', 'open'" in refused.value.details["fields"]["track"]
    with pytest.raises(PhaseNotOpen):
        submit(engine, ada, "closed", perturbed, EVALUATION - INSTANT)

    assert submit(engine, ada, "closed", perturbed, EVALUATION) == "scored"
    assert submit(engine, ada, "open", everything, EVALUATION + HOUR) == "scored", "one team, a system in each track"
    assert submit(engine, bob, "open", perturbed, CLOSE - INSTANT) == "scored", "the last instant of AoE counts"
    # What a tired team sends: the blind file as it is, whose annotations are all underscores.
    assert submit(engine, eve, "closed", nothing, CLOSE - HOUR) == "rejected"
    for name in (BOTH, CLOSED, OPEN):
        assert shown(board(engine, name, CLOSE - INSTANT)) == [], "nobody sees a board before the end"
        assert shown(board(engine, name, CLOSE - INSTANT, viewer=ada)) == [], "nor does who is on it"
    with pytest.raises(PhaseNotOpen):
        submit(engine, bob, "open", everything, CLOSE)

    closed = [(1, "Ada", "closed", unseen_f1)]
    opened = [(1, "Ada", "open", 1.0), (2, "Bob", "open", unseen_f1)]
    assert shown(board(engine, CLOSED, CLOSE)) == closed
    assert shown(board(engine, OPEN, CLOSE)) == opened
    assert shown(board(engine, BOTH, CLOSE))[0] == (1, "Ada", "open", 1.0), "over all tracks the best of each team"
    assert (2, "Bob", "open", unseen_f1) in shown(board(engine, BOTH, CLOSE))

    with writing(engine) as session:
        freeze_due(session, CLOSE + HOUR)
    assert submit(engine, eve, "closed", everything, CLOSE + HOUR, "post-evaluation") == "scored"
    everlasting = shown(board(engine, CLOSED, CLOSE + HOUR, "post-evaluation"))
    assert everlasting == [(1, "Eve", "closed", 1.0), (2, "Ada", "closed", unseen_f1)]
    assert shown(official(engine, CLOSED, CLOSE + HOUR)) == closed, "whoever comes later is not in the paper"
    assert shown(official(engine, OPEN, CLOSE + HOUR)) == opened
