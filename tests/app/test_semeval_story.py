"""The official organiser guide's story with official data: practice, a hidden evaluation, and an everlasting end."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.apply import apply_phases
from app.check import check_phases, load_competitions
from app.config import get_settings
from app.db import get_engine, reading, writing
from app.errors import LimitReached, PhaseNotOpen
from app.leaderboard import Leaderboard, build_leaderboard
from app.migrate import upgrade
from app.models import User
from app.queries import find_board, find_competition, find_phase_task
from app.snapshots import find_snapshot, freeze_due, official_board
from app.storage import store_file
from app.submissions import accept_submission
from tests.conformance import conformance
from tests.world import add_user

PRACTICE, EVALUATION, CLOSE = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)
BOARD = "zero-shot"

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
        limits: {total: 10}
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
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The competition over the official development set, whose gold only workers have."""
    repository = conformance("semeval2022", "repository", "SubTaskA", "Data")
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "gold.csv").write_bytes((repository / "dev_gold.csv").read_bytes())
    (tmp_path / "dev.csv").write_bytes((repository / "dev.csv").read_bytes())
    (tmp_path / "phases.yaml").write_text(PHASES, encoding="utf-8")
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "gold"))
    get_settings().data_dir.mkdir(parents=True, exist_ok=True)
    found = get_engine(get_settings().database_address)
    upgrade(found)
    assert check_phases(tmp_path / "phases.yaml", now=PRACTICE) == []
    with writing(found) as session:
        loaded = load_competitions(tmp_path / "phases.yaml")
        apply_phases(session, loaded, storage_dir=get_settings().storage_dir, now=PRACTICE)
    return found


def submit(engine: Engine, user: User, phase: str, file: str, now: datetime) -> None:
    """One of the official submissions, scored by a worker."""
    from workers.score import score_submission

    upload = store_file(conformance("semeval2022", "submissions", file), get_settings().storage_dir)
    with writing(engine) as session:
        asked = find_phase_task(session, "semeval", phase, "detection")
        accepted = accept_submission(session, user=user, phase_task=asked, upload=upload, now=now)
    score_submission(accepted.run_id)


def board(engine: Engine, phase: str, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, "semeval"), phase, BOARD)
        return build_leaderboard(session, *place, None, now)


def official(engine: Engine, now: datetime) -> Leaderboard:
    with reading(engine) as session:
        place = find_board(find_competition(session, "semeval"), "evaluation", BOARD)
        return official_board(session, find_snapshot(session, *place, None, None, now), None, now)


def shown(found: Leaderboard) -> list[tuple[int | None, str, float | None, str | None]]:
    return [(row.rank, row.team, row.cells[0].value, row.carried_from) for row in found.rows]


def expected(name: str) -> float:
    """From the official evaluator's output."""
    path = conformance("semeval2022", "submissions", "expected.json")
    value: float = json.loads(path.read_text(encoding="utf-8"))["subtask_a"][name]["zero_shot/EN+PT"]
    return value


def test_practice_evaluation_and_an_everlasting_end(engine: Engine) -> None:
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    noisy, majority = (pytest.approx(expected(name), abs=1e-9) for name in ("A_noisy", "A_majority"))

    submit(engine, ada, "practice", "A_noisy.csv", PRACTICE)
    assert shown(board(engine, "practice", PRACTICE)) == [(1, "Ada", noisy, None)]

    submit(engine, ada, "evaluation", "A_noisy.csv", EVALUATION)
    submit(engine, ada, "evaluation", "A_majority.csv", EVALUATION + HOUR)
    submit(engine, bob, "evaluation", "A_noisy.csv", CLOSE - INSTANT)
    assert shown(board(engine, "evaluation", CLOSE - INSTANT)) == []
    results = [(1, "Bob", noisy, None), (2, "Ada", majority, None)]
    assert shown(board(engine, "evaluation", CLOSE)) == results, "the last one counts, though the first was better"
    with pytest.raises(PhaseNotOpen):
        submit(engine, ada, "evaluation", "A_noisy.csv", CLOSE)

    with writing(engine) as session:
        assert len(freeze_due(session, CLOSE + HOUR)) == 2, "practice, and the evaluation"
    carried = [(*row[:3], "evaluation") for row in results]
    assert shown(board(engine, "post-evaluation", CLOSE + HOUR)) == carried
    submit(engine, ada, "post-evaluation", "A_noisy.csv", CLOSE + HOUR)
    assert shown(board(engine, "post-evaluation", CLOSE + HOUR)) == [
        (1, "Bob", noisy, "evaluation"),
        (1, "Ada", noisy, None),
        (3, "Ada", majority, "evaluation"),
    ]
    assert shown(official(engine, CLOSE + HOUR)) == results
    assert shown(board(engine, "evaluation", CLOSE + HOUR)) == results


def test_ten_submissions_and_no_more(engine: Engine) -> None:
    ada = add_user(engine, "ada")
    for _ in range(10):
        submit(engine, ada, "evaluation", "A_noisy.csv", EVALUATION)
    with pytest.raises(LimitReached, match="all 10 submissions"):
        submit(engine, ada, "evaluation", "A_noisy.csv", EVALUATION + HOUR)
