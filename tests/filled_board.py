"""A competition with many teams on its board and one team with many files, written directly into a database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, func, select

from app.base.db import make_engine, reading, writing
from app.models import PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission, Team, User
from app.operations.migrate import upgrade
from app.standings.renew import renew_all
from bench._seeded import settle, write
from tests import world
from tests.world import NOW, SECOND, ZERO_SHOT

#: Steps of SQLite's machine: for each further row of a board that is counted in an index, and for each further
#: submission of the team on each board, among which the best of the others and the ranks of then are looked up.
FOR_A_ROW, FOR_A_SUBMISSION = 50, 400


def add_rows(engine: Engine, owners: list[tuple[int, int]], user: User) -> None:
    """Add a scored run for each of these teams, with the number of its submission."""
    with reading(engine) as session:
        place = world.the_phase_task(session).id
        first = (session.scalar(select(func.max(ScoringRun.id))) or 0) + 1
    ids = [uuid.uuid4() for _ in owners]
    common = {"user_id": user.id, "phase_task_id": place, "size_bytes": 1, "method": "m"}
    times = {"queued_at": NOW, "finished_at": NOW}

    def submissions() -> Iterator[dict[str, object]]:
        for one, (team, number) in zip(ids, owners, strict=True):
            at = NOW - timedelta(days=1) + number * SECOND
            yield {**common, "id": one, "team_id": team, "sha256": one.hex * 2, "submitted_at": at}

    def runs() -> Iterator[dict[str, object]]:
        for number, one in enumerate(ids):
            scored = {"status": RunStatus.SCORED, "gold": "gold.csv", "is_current": True}
            yield {**times, **scored, "id": first + number, "submission_id": one}

    def scores() -> Iterator[dict[str, object]]:
        for number in range(len(ids)):
            value = (first + number) * 7919 % 99991 / 99991
            yield {"run_id": first + number, "metric": "macro_f1", "split": ZERO_SHOT, "value": value, "signature": "s"}

    for model, rows in ((Submission, submissions()), (ScoringRun, runs()), (ScoreRow, scores())):
        write(engine, model, rows, len(ids), lambda *_: None)


def filled(folder: Path, rows: int, own: int) -> Engine:
    """Return a database with a competition that has so many other teams on its board, and a team that sent so many
    files.
    """
    engine = make_engine(f"sqlite:///{folder / f'{rows}-{own}.db'}")
    upgrade(engine)
    world.add_competition(engine)
    ada, others = world.add_user(engine, "ada"), world.add_user(engine, "others")
    team = world.add_team(engine, ada, name="Ada")
    with writing(engine) as session:
        more = [Team(competition_id=team.competition_id, name=f"Team {n}", created_at=NOW) for n in range(rows)]
        session.add_all(more)
    add_rows(engine, [(one.id, number) for number, one in enumerate(more)], others)
    add_rows(engine, [(team.id, rows + number) for number in range(own)], ada)
    with writing(engine) as session:
        renew_all(session, session.scalars(select(PhaseTask.id)))
    settle(engine)
    return engine
