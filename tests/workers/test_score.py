"""The scoring task: right numbers for good files, sentences for bad ones, and no word of gold in what is stored."""

from __future__ import annotations

import dataclasses
import io
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from structlog.testing import capture_logs

from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import CompetitionTask, PhaseTask, RunStatus, ScoreRow, ScoringRun, User
from app.runs.report import read_report
from app.runs.sweep import requeue_lost_runs
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import TASKS
from tests.threads import in_threads
from tests.workers.files import ACCURACY, GOLD, MACRO_F1, PREDICTION, upload
from tests.world import COMPETITION, PHASE, board_version_number, the_run
from workers.claimed import worker_name
from workers.score import score_submission

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("workplace")]

REPEATED = PREDICTION + "2,EN,zero_shot,0\n"


def change_task(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Replace functions of the task type that the competition uses."""
    task: AnyTask = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, **changes))


def values(engine: Engine, run_id: int) -> dict[tuple[str, str], float | None]:
    with reading(engine) as session:
        rows = session.scalars(select(ScoreRow).where(ScoreRow.run_id == run_id)).all()
    return {(row.metric, row.split): row.value for row in rows}


# ------------------------------------------------------------------------------------------------------------- scored


def test_a_good_file_is_scored(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts, run.worker, run.failure) == (RunStatus.SCORED, 1, worker_name(), None)
    assert (run.task_version, run.problems) == (TASKS["idiom-detection"].version, [])
    assert values(engine, run_id) == {
        ("macro_f1", "zero_shot/all"): pytest.approx(MACRO_F1, abs=1e-12),
        ("accuracy", "zero_shot/all"): pytest.approx(ACCURACY, abs=1e-12),
        ("macro_f1", "one_shot/all"): None,
        ("accuracy", "one_shot/all"): None,
    }


def test_the_report_holds_every_language_too(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    score_submission(run_id)
    report = the_run(engine, run_id).report
    assert report is not None
    splits = {score["split"] for score in read_report(report)["scores"]}
    assert splits == {"zero_shot/all", "zero_shot/en", "one_shot/all", "one_shot/en"}


def test_the_board_shows_what_the_worker_found(engine: Engine, ada: User) -> None:
    score_submission(upload(engine, ada))
    with reading(engine) as session:
        found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        (row,) = build_leaderboard(session, *found, Viewer(None, datetime.now(UTC))).rows
    assert (row.rank, row.team) == (1, "Ada")
    assert [cell.value for cell in row.cells] == [pytest.approx(MACRO_F1), pytest.approx(ACCURACY)]
    assert row.cells[0].signature is not None
    assert row.cells[0].signature.startswith("idiom-detection:1|macro_f1|zero_shot/all")


def test_predictions_are_checked_against_the_blind_file_where_there_is_one(
    engine: Engine, ada: User, workplace: Path
) -> None:
    blind = store_upload([b"ID,Language\n1,EN\n2,EN\n3,EN\n4,EN\n"], FolderStorage(workplace / "storage"), 1000)
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(items_sha256=blind.sha256))
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert values(engine, run_id)["macro_f1", "zero_shot/all"] == pytest.approx(MACRO_F1, abs=1e-12)


def test_the_organisers_options_are_used(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(options={"languages": ["EN"]}))
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert ("macro_f1", "zero_shot/en") in values(engine, run_id), "a declared language is a column"


# --------------------------------------------------------------------------------------------------- once and only once


def test_telling_a_worker_twice_scores_once(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    score_submission(run_id)
    score_submission(run_id)
    assert the_run(engine, run_id).attempts == 1
    assert len(values(engine, run_id)) == 4
    assert board_version_number(engine) == 1


def test_ten_workers_told_at_once_score_once(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    in_threads(10, lambda _: score_submission(run_id))
    assert (the_run(engine, run_id).attempts, board_version_number(engine)) == (1, 1)
    assert len(values(engine, run_id)) == 4


def test_a_run_that_no_longer_exists_is_passed_over(engine: Engine) -> None:
    score_submission(4711)


def test_whoever_lost_the_lease_while_scoring_records_nothing(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = TASKS["idiom-detection"].score

    def too_slow(*arguments: Any) -> Any:
        with writing(engine) as session:  # the sweep, a day later
            requeue_lost_runs(session, attempts=3, now=datetime.now(UTC) + timedelta(days=1))
        return right(*arguments)

    change_task(monkeypatch, score=too_slow)
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.QUEUED
    assert values(engine, run_id) == {}
    change_task(monkeypatch, score=right)
    score_submission(run_id)
    assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.SCORED, 2)


# ------------------------------------------------------------------------------------------------------------ rejected


def test_a_bad_file_is_rejected_with_both_lines(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada, REPEATED)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.failure, run.report) == (RunStatus.REJECTED, None, None)
    (problem,) = run.problems
    assert (problem["line"], problem["code"]) == (6, "duplicate-id")
    assert "line 3" in problem["sentence"]
    assert values(engine, run_id) == {}


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


HEADER = b"ID,Language,Setting,Label\n"
NASTY = {
    "NUL in a value": HEADER + b"1\0,EN,zero_shot,0\n",
    "NUL in the header": b"ID\0,Language,Setting,Label\n",
    "only NULs": bytes(1000),
    "not UTF-8": HEADER + b"\xff\xfe,EN,zero_shot,0\n",
    "a lone surrogate": HEADER + b"\xed\xa0\x80,EN,zero_shot,0\n",
    "control characters": HEADER + b"\x01\x7f\x1b[31m,E\xe2\x80\xaeN,zero\x08_shot,\x0c\n",
    "characters beyond the basic plane": HEADER + "🙂,🙂,🙂,🙂\n".encode(),
    "one endless line": HEADER + b"x" * 200_000,
    "an endless quotation": HEADER + b'"' + b"1,EN,zero_shot,0\n" * 1000,
    "a zip with a nasty name": zipped("a\x01\x1b\u202e.csv", PREDICTION.encode()),
    "a zip of nothing": zipped("empty/", b""),
    "a broken zip": zipped("a.csv", PREDICTION.encode())[:-30],
    "UTF-16": PREDICTION.encode("utf-16"),
    "a pickle": b"\x80\x04\x95\x15\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94.",
}


@pytest.mark.parametrize("content", NASTY.values(), ids=NASTY.keys())
def test_whatever_is_sent_is_the_senders_fault_and_can_be_stored(engine: Engine, ada: User, content: bytes) -> None:
    run_id = upload(engine, ada, content)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.failure) == (RunStatus.REJECTED, None)
    assert all(problem["sentence"].isprintable() for problem in run.problems)


# -------------------------------------------------------------------------------------------------------------- failed


def test_gold_that_is_missing_is_looked_for_three_times(engine: Engine, ada: User, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").unlink()
    run_id = upload(engine, ada)
    for attempt in (1, 2):
        score_submission(run_id)
        assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.QUEUED, attempt)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert run.status == RunStatus.FAILED
    assert (run.failure or "").startswith("GoldNotFound at gold.py:")


def test_gold_that_comes_back_between_two_attempts_is_used(engine: Engine, ada: User, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").unlink()
    run_id = upload(engine, ada)
    score_submission(run_id)
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    score_submission(run_id)
    assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.SCORED, 2)


def break_gold(engine: Engine, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").write_text("ID,DataID,Language,Label\n1,d1,EN,SECRET\n")


def break_items(engine: Engine, workplace: Path) -> None:
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(items_sha256="0" * 64))


def break_options(engine: Engine, workplace: Path) -> None:
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(options={"labels": ["0"]}))


def break_type(engine: Engine, workplace: Path) -> None:
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="no-such-task"))


def break_gold_name(engine: Engine, workplace: Path) -> None:
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(gold="../gold/gold.csv"))


@pytest.mark.parametrize(
    ("break_it", "kind"),
    [
        (break_gold, "InvalidGold"),
        (break_items, "InvalidItems"),
        (break_options, "InvalidOptions"),
        (break_gold_name, "InvalidGold"),
    ],
)
def test_what_no_second_attempt_can_mend_fails_at_once(
    engine: Engine, ada: User, workplace: Path, break_it: Callable[[Engine, Path], None], kind: str
) -> None:
    run_id = upload(engine, ada)
    break_it(engine, workplace)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.FAILED, 1)
    assert (run.failure or "").startswith(kind)
    assert "SECRET" not in (run.failure or "")


def test_a_task_type_that_is_not_installed_here_is_left_to_other_workers(
    engine: Engine, ada: User, workplace: Path
) -> None:
    run_id = upload(engine, ada)
    break_type(engine, workplace)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    assert "there is no task type 'no-such-task'" in (run.failure or "")


def test_an_error_of_ours_is_logged_and_tried_again_without_a_word_of_gold(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("the gold label of item 3 is SECRET")

    change_task(monkeypatch, score=broken)
    run_id = upload(engine, ada)
    with capture_logs() as logged:
        score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.problems) == (RunStatus.QUEUED, [])
    assert run.failure is not None
    assert run.failure.startswith("ZeroDivisionError at test_score.py:")
    assert "SECRET" not in run.failure
    assert [(entry["event"], entry["run_id"]) for entry in logged] == [
        ("scoring_failed", run_id),
        ("run_ended", run_id),
    ]


def test_a_result_that_cannot_be_recorded_is_a_failure_of_ours_at_once(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the run does not end silently, with a lease that has to expire three times."""
    change_task(monkeypatch, report=lambda *_: {"mean": float("nan")})
    run_id = upload(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 1)
    assert (run.failure or "").startswith("ValueError")
    assert (values(engine, run_id), board_version_number(engine)) == ({}, 0)


def test_an_upload_that_is_not_in_storage_is_our_fault(engine: Engine, ada: User, workplace: Path) -> None:
    run_id = upload(engine, ada)
    for path in (workplace / "storage").glob("??/*"):
        path.unlink()
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert run.status == RunStatus.QUEUED
    assert (run.failure or "").startswith("FileNotFoundError")


def test_the_worker_has_a_name_that_finds_it() -> None:
    assert worker_name().endswith(f":{os.getpid()}")
