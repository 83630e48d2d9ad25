"""`python -m demo.history`: tells the demo's past to a server that `evergold serve --demo` has just started.

What was told already is not told again, so that a start after an interrupted one completes it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.base.config import Settings, get_settings
from app.base.db import get_engine, reading, writing
from app.base.logs import configure_logging, log
from app.base.queue import send_statistics
from app.base.storage import storage_of
from app.boards.statistics_work import is_settled, statistics_due
from app.competitions.limits import UNDECIDED
from app.models import CompetitionTask, PhaseTask, ScoringRun, Submission, Tally, User
from app.server import prepare
from app.server.prepare import wake_workers
from demo.history.cast import ANNOTATORS, TEAMS
from demo.history.clock import play
from demo.history.happenings import happenings, put_faulty_gold
from demo.history.judging import judge_paraphrases
from demo.history.uploads import uploads
from evergold.scoring.tasks import needs_gpu
from workers.board_statistics import compute
from workers.keys import ensure_key, key_file

#: How long the start waits for comparisons of the systems, and how often it looks.
PATIENCE_SECONDS, LOOK_SECONDS = 60.0, 0.2


def main() -> int:
    """Everything, in the order in which it happened; then the demo teams' own files, as of now."""
    configure_logging()
    settings = get_settings()
    engine = get_engine(settings.database_address)
    tell(engine, settings, Path(os.environ["EVERGOLD_GOLD_DIR"]))
    with writing(engine) as session:
        runs = prepare.submit_demo(session, storage_of(settings), datetime.now(UTC))
    wake_workers(engine, runs, datetime.now(UTC))
    compare_systems(engine, runs, settings)
    is_judged = judge_paraphrases(engine, settings, datetime.now(UTC))
    if is_judged:
        prepare.note_told(settings.data_dir)
    log.info("demo_history_told", judged=is_judged)
    return 0


def tell(engine: Engine, settings: Settings, gold_dir: Path) -> None:
    """The past itself."""
    start = prepare.first_start(settings.data_dir)
    ensure_key(engine, key_file(), datetime.now(UTC))  # outcomes are kept for intervals, as a worker keeps them
    with writing(engine) as session:
        _add_people(session, prepare.evaluation_start(start))
    put_faulty_gold(engine, gold_dir)
    play([*uploads(engine, settings, start), *happenings(engine, settings, start)])


def compare_systems(engine: Engine, runs: Sequence[int], settings: Settings) -> None:
    """Wait until the workers have scored the last files, then compare the systems at once, not at the next sweep.

    The worker and this process share the boards, the largest first. Returns once the statistics are there, or after a
    while: what is left follows by itself.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    _wait(until, lambda: _all_scored(engine, runs))
    with writing(engine) as session:
        due = statistics_due(session, datetime.now(UTC), attempts=settings.attempts, quiet=timedelta())
        sizes = {one: runs for one, runs in session.execute(_SIZES)}
    by_size = sorted(due, key=lambda one: -sizes.get(one, 0))
    ours, theirs = by_size[1::2], by_size[::2]
    for phase_task_id in [*theirs, *ours]:
        send_statistics(phase_task_id)
    for phase_task_id in [*ours, *theirs]:  # what the worker has begun is left to it
        if time.monotonic() < until:
            compute(engine, phase_task_id)
    _wait(until, lambda: _all_settled(engine, due))


_SIZES = select(Tally.phase_task_id, func.sum(Tally.runs)).group_by(Tally.phase_task_id)


def _all_scored(engine: Engine, runs: Sequence[int]) -> bool:
    """True if none of these runs is in a worker's hands or waits for one, except for those that need torch."""
    waiting = (
        select(CompetitionTask.task_type)
        .join(PhaseTask, PhaseTask.task_id == CompetitionTask.id)
        .join(Submission, Submission.phase_task_id == PhaseTask.id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(ScoringRun.id.in_(runs), ScoringRun.status.in_(UNDECIDED))
    )
    with reading(engine) as session:
        return all(needs_gpu(task_type) for task_type in session.scalars(waiting))


def _all_settled(engine: Engine, phase_tasks: Sequence[int]) -> bool:
    with reading(engine) as session:
        return all(is_settled(session, one, datetime.now(UTC)) for one in phase_tasks)


def _wait(until: float, done: Callable[[], bool]) -> None:
    while time.monotonic() < until and not done():
        time.sleep(LOOK_SECONDS)


def _add_people(session: Session, at: datetime) -> None:
    """Accounts that nobody can log in with."""
    known = set(session.scalars(select(User.username)))
    wanted = {team.username: team.name for team in TEAMS}
    wanted |= {name: name.partition("-")[0].title() for names in ANNOTATORS.values() for name in names}
    for username, name in wanted.items():
        if username not in known:
            session.add(User(username=username, email=f"{username}@demo.invalid", display_name=name, created_at=at))


if __name__ == "__main__":
    sys.exit(main())
