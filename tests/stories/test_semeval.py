"""The official organiser guide's story with a known system: practice, a hidden evaluation, and an everlasting end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import LimitReached, PhaseNotOpen
from app.base.storage import FolderStorage, store_file
from app.boards.freezing import freeze_due
from app.boards.leaderboard import Leaderboard, build_leaderboard
from app.boards.snapshots import find_official, official_board
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.models import RegistrationStatus, Role, ScoringRun, User
from app.operations.migrate import upgrade
from app.people.act import Act, UserAct
from app.people.rights import grant_role
from app.rescoring.difference import Difference, difference_of
from app.rescoring.publishing import RescoringNotReady, publish_rescoring
from app.rescoring.sets import find_rescoring, start_rescoring
from app.submissions.accept import Sender, accept_submission
from app.teams.registration import RegistrationNeeded, decide, register, rules_of
from tests.official_cases import Semeval, semeval
from tests.sealed import make_key, seal_gold
from tests.world import add_user

PRACTICE, EVALUATION, CLOSE = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)
BOARD = "zero-shot"
NOTE = "Every seventh label stood the wrong way round."

PHASES = """\
version: 1
competitions:
  - name: semeval
    title: "SemEval"
    tasks: [{name: detection, type: idiom-detection, title: "Subtask A", options: {languages: [en, pt]}}]
    boards:
      - {name: zero-shot, title: "Zero-shot", task: detection, columns: [{metric: macro_f1, split: zero_shot/all}]}
    phases:
      - name: practice
        title: "Practice"
        start: 2026-01-01 00:00 UTC
        end: 2026-02-01 00:00 UTC
        limits: {total: 999}
        tasks: {detection: &asked {gold: gold.csv, items: dev.csv}}
      - name: evaluation
        title: "Evaluation"
        start: 2026-02-01 00:00 UTC
        end: 2026-03-01 00:00 UTC
        entry: last
        limits: {per_day: 10, total: 10}
        visibility: {board: hidden, public_from: close, own_scores: after_close}
        tasks: {detection: *asked}
      - name: post-evaluation
        title: "Post-evaluation"
        start: 2026-03-01 00:00 UTC
        limits: {total: 999}
        carry_over: evaluation
        tasks: {detection: *asked}
"""


@pytest.fixture
def task(tmp_path_factory: pytest.TempPathFactory) -> Semeval:
    return semeval(tmp_path_factory.mktemp("semeval"))


@pytest.fixture
def engine(task: Semeval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The competition over the development set, whose gold only workers have."""
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "gold.csv").write_bytes((task.data / "dev_gold.csv").read_bytes())
    (tmp_path / "dev.csv").write_bytes((task.data / "dev.csv").read_bytes())
    (tmp_path / "phases.yaml").write_text(PHASES, encoding="utf-8")
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "gold"))
    get_settings().data_dir.mkdir(parents=True, exist_ok=True)
    found = get_engine(get_settings().database_address)
    upgrade(found)
    assert check_phases(tmp_path / "phases.yaml", now=PRACTICE) == []
    with writing(found) as session:
        loaded = load_competitions(tmp_path / "phases.yaml")
        apply_phases(session, loaded, storage=FolderStorage(get_settings().storage_dir), now=PRACTICE)
    return found


def submit(engine: Engine, user: User, phase: str, file: Path, now: datetime) -> None:
    """A system's submission, scored by a worker."""
    from workers.score import score_submission

    upload = store_file(file, FolderStorage(get_settings().storage_dir))
    with writing(engine) as session:
        asked = find_phase_task(session, "semeval", phase, "detection")
        accepted = accept_submission(session, asked, upload, Sender(user, now))
    score_submission(accepted.run_id)


def board(engine: Engine, phase: str, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, "semeval"), phase, BOARD)
        return build_leaderboard(session, *place, Viewer(None, now))


def official(engine: Engine, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, "semeval"), "evaluation", BOARD)
        return official_board(
            session, find_official(session, *place, None, Viewer(None, now)).snapshot, Viewer(None, now)
        )


def shown(found: Leaderboard) -> list[tuple[int | None, str, float | None, str | None]]:
    return [(row.rank, row.team, row.cells[0].value, row.carried_from) for row in found.rows]


def expected(task: Semeval, name: str, *, decimals: int = 4) -> Any:
    """Macro F1 of a known system, as boards show it to everybody."""
    value = task.expected[name]["zero_shot/EN+PT"]
    assert value is not None
    return pytest.approx(round(value, decimals), abs=1e-9)


def test_practice_evaluation_and_an_everlasting_end(engine: Engine, task: Semeval) -> None:
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    noisy, majority = (expected(task, name) for name in ("A_noisy", "A_majority"))

    submit(engine, ada, "practice", task.submissions["A_noisy"], PRACTICE)
    assert shown(board(engine, "practice", PRACTICE)) == [(1, "Ada", noisy, None)]

    submit(engine, ada, "evaluation", task.submissions["A_noisy"], EVALUATION)
    submit(engine, ada, "evaluation", task.submissions["A_majority"], EVALUATION + HOUR)
    submit(engine, bob, "evaluation", task.submissions["A_noisy"], CLOSE - INSTANT)
    assert shown(board(engine, "evaluation", CLOSE - INSTANT)) == []
    results = [(1, "Bob", noisy, None), (2, "Ada", majority, None)]
    assert shown(board(engine, "evaluation", CLOSE)) == results, "the last one counts, though the first was better"
    with pytest.raises(PhaseNotOpen):
        submit(engine, ada, "evaluation", task.submissions["A_noisy"], CLOSE)

    with writing(engine) as session:
        assert len(freeze_due(session, CLOSE + HOUR)) == 2, "practice, and the evaluation"
    carried = [(*row[:3], "evaluation") for row in results]
    assert shown(board(engine, "post-evaluation", CLOSE + HOUR)) == carried
    submit(engine, ada, "post-evaluation", task.submissions["A_noisy"], CLOSE + HOUR)
    assert shown(board(engine, "post-evaluation", CLOSE + HOUR)) == [
        (1, "Ada", noisy, None),
        (1, "Bob", noisy, "evaluation"),
        (3, "Ada", majority, "evaluation"),
    ]
    assert shown(official(engine, CLOSE + HOUR)) == results
    assert shown(board(engine, "evaluation", CLOSE + HOUR)) == results


def test_ten_submissions_and_no_more(engine: Engine, task: Semeval) -> None:
    ada = add_user(engine, "ada")
    for _ in range(10):
        submit(engine, ada, "evaluation", task.submissions["A_noisy"], EVALUATION)
    with pytest.raises(LimitReached, match="all 10 submissions"):
        submit(engine, ada, "evaluation", task.submissions["A_noisy"], EVALUATION + HOUR)


# -------------------------------------------------------------------------------- with people, and gold that was wrong


OLGA, TERMS = "olga", "Results may be named in the overview paper."
SEALED = ("semeval/evaluation/detection", "semeval/post-evaluation/detection")


@pytest.fixture
def guarded(engine: Engine, task: Semeval, tmp_path: Path) -> Engine:
    """Return the same competition, but organisers approve participants, and the gold is sealed: at first with wrong
    labels.
    """
    declaration = tmp_path / "phases.yaml"
    rules = f"    registration: {{mode: approval, terms: {TERMS!r}}}\n    tasks:"
    declaration.write_text(PHASES.replace("    tasks:", rules, 1), encoding="utf-8")
    assert check_phases(declaration, now=PRACTICE) == []
    with writing(engine) as session:
        apply_phases(
            session, load_competitions(declaration), storage=FolderStorage(get_settings().storage_dir), now=PRACTICE
        )
    olga = add_user(engine, OLGA)
    with writing(engine) as session:
        grant_role(session, find_competition(session, "semeval"), olga, Role.ORGANISER, PRACTICE)
    make_key(engine)
    seal_gold(engine, spoilt(task), places=SEALED)
    return engine


def spoilt(task: Semeval) -> bytes:
    """Return gold with every seventh label reversed, as by the slip of a tired organiser."""
    header, *rows = (task.data / "dev_gold.csv").read_text(encoding="utf-8").splitlines()
    wrong = [f"{row[:-1]}{1 - int(row[-1])}" if number % 7 == 0 else row for number, row in enumerate(rows)]
    return "\n".join([header, *wrong, ""]).encode()


def take_part(engine: Engine, name: str, *, is_approved: bool = True) -> User:
    """Add somebody who accepts the terms and requests to take part."""
    user = add_user(engine, name)
    with writing(engine) as session:
        competition = find_competition(session, "semeval")
        accepted = rules_of(competition).terms_sha256
        register(UserAct(session, user, PRACTICE, get_settings()), competition, accepted=accepted)
        if is_approved:
            olga = session.scalars(select(User).where(User.username == OLGA)).one()
            verdict = RegistrationStatus.APPROVED
            decide(Act(session, olga, PRACTICE, get_settings()), competition, user, verdict)
    return user


def correct_gold(engine: Engine, task: Semeval, now: datetime) -> Difference:
    """A second version is sealed, everything is scored against it, and published as a whole; who moved."""
    seal_gold(engine, (task.data / "dev_gold.csv").read_bytes(), places=SEALED)
    with writing(engine) as session:
        competition = find_competition(session, "semeval")
        made = start_rescoring(Act(session, None, now, get_settings()), competition, [], note=NOTE)
        runs = list(session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == made.id)))
    with writing(engine) as session, pytest.raises(RescoringNotReady):
        publish_rescoring(Act(session, None, now, get_settings()), competition, made.id)
    for run_id in runs:
        score_submission_now(run_id)
    with writing(engine) as session:
        competition = find_competition(session, "semeval")
        found = difference_of(session, find_rescoring(session, competition, made.id))
        publish_rescoring(Act(session, None, now, get_settings()), competition, made.id)
    return found


def score_submission_now(run_id: int) -> None:
    from workers.score import score_submission

    score_submission(run_id)


def organisers_board(engine: Engine, phase: str, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        olga = session.scalars(select(User).where(User.username == OLGA)).one()
        place = find_board(find_competition(session, "semeval"), phase, BOARD)
        return build_leaderboard(session, *place, Viewer(olga, now))


def test_from_registration_to_the_everlasting_board_with_a_correction_under_embargo(
    guarded: Engine, task: Semeval
) -> None:
    engine = guarded
    ada, bob = take_part(engine, "ada"), take_part(engine, "bob")
    eve = take_part(engine, "eve", is_approved=False)
    noisy, majority = (expected(task, name) for name in ("A_noisy", "A_majority"))
    whole = [expected(task, name, decimals=15) for name in ("A_noisy", "A_majority")]
    for stranger in (eve, add_user(engine, "zoe")):
        with pytest.raises(RegistrationNeeded):
            submit(engine, stranger, "practice", task.submissions["A_noisy"], PRACTICE)
    submit(engine, ada, "practice", task.submissions["A_noisy"], PRACTICE)
    assert shown(board(engine, "practice", PRACTICE)) == [(1, "Ada", noisy, None)]

    submit(engine, ada, "evaluation", task.submissions["A_noisy"], EVALUATION)
    submit(engine, bob, "evaluation", task.submissions["A_majority"], EVALUATION)
    wrong = {team: value for _, team, value, _ in shown(organisers_board(engine, "evaluation", EVALUATION))}
    assert wrong["Ada"] != noisy, "the gold is wrong"
    assert shown(board(engine, "evaluation", EVALUATION)) == []

    moved = correct_gold(engine, task, EVALUATION + HOUR)
    (of_board,) = [one for one in moved.boards if one.board == BOARD and one.phase == "evaluation"]
    ada_s = next(move for move in of_board.moves if move.team == "Ada")
    assert (ada_s.score_before, ada_s.score_after) == (wrong["Ada"], whole[0])
    results = [(1, "Ada", noisy, None), (2, "Bob", majority, None)]
    seen = [(row[0], row[1], value, None) for row, value in zip(results, whole, strict=True)]
    assert shown(organisers_board(engine, "evaluation", EVALUATION + HOUR)) == seen, "organisers read all digits"
    assert shown(board(engine, "evaluation", CLOSE - INSTANT)) == [], "a correction lifts no embargo"

    submit(engine, bob, "evaluation", task.submissions["A_majority"], CLOSE - INSTANT)
    assert shown(board(engine, "evaluation", CLOSE)) == results, "who submits later is scored against the same gold"
    with writing(engine) as session:
        freeze_due(session, CLOSE + HOUR)
    assert shown(official(engine, CLOSE + HOUR)) == results
    carried = [(*row[:3], "evaluation") for row in results]
    assert shown(board(engine, "post-evaluation", CLOSE + HOUR)) == carried, "both phases use the corrected gold"
    submit(engine, bob, "post-evaluation", task.submissions["A_noisy"], CLOSE + HOUR)
    assert (1, "Bob", noisy, None) in shown(board(engine, "post-evaluation", CLOSE + HOUR))
    assert shown(official(engine, CLOSE + HOUR)) == results
