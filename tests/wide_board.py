"""A board with many rows and columns, written into the database at once: no upload, no run for each of its cells."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from sqlalchemy import Engine, insert

from app.base.db import writing
from app.models import Board, RunStatus, ScoreRow, ScoringRun, Submission, Team
from tests.rich_world import own
from tests.world import ZERO_SHOT, add_user, the_phase_task

#: Of the first column, which ranks, and of the others.
RANKING, OTHERS = "macro_f1", "accuracy"


def fill_wide(engine: Engine, rows: int, columns: int, now: datetime) -> None:
    """Give the world's first board so many columns, and so many teams with a score in each of them."""
    scores = [(RANKING, ZERO_SHOT), *((OTHERS, f"part-{n}") for n in range(columns - 1))]
    user = add_user(engine, "wide")
    ids = [uuid.uuid4() for _ in range(rows)]
    with writing(engine) as session:
        board = session.scalars(own(Board).where(Board.name == "zero-shot")).one()
        parts = [
            {"metric": metric, "split": split, "title": f"Part {n}", "decimals": 4, "percent": False}
            for n, (metric, split) in enumerate(scores[1:])
        ]
        board.columns = [board.columns[0], *parts]
        competition, phase_task = board.competition_id, the_phase_task(session).id
        teams = [Team(competition_id=competition, name=f"Team {n}", created_at=now) for n in range(rows)]
        session.add_all(teams)
        session.flush()
        session.execute(
            insert(Submission),
            [
                {
                    "id": one,
                    "team_id": team.id,
                    "user_id": user.id,
                    "phase_task_id": phase_task,
                    "sha256": f"{n:064x}",
                    "size_bytes": 1,
                    "method": "XLM-R large, five seeds",
                    "submitted_at": now - timedelta(minutes=n),
                }
                for n, (one, team) in enumerate(zip(ids, teams, strict=True))
            ],
        )
        runs = [
            ScoringRun(submission_id=one, status=RunStatus.SCORED, gold="gold.csv", queued_at=now, finished_at=now)
            for one in ids
        ]
        session.add_all(runs)
        session.flush()
        session.execute(
            insert(ScoreRow),
            [
                {
                    "run_id": run.id,
                    "metric": metric,
                    "split": split,
                    "value": (n * 7919 + k * 31) % 9973 / 9973,
                    "signature": f"idiom-detection:1|{metric}|{split}",
                }
                for n, run in enumerate(runs)
                for k, (metric, split) in enumerate(scores)
            ],
        )
