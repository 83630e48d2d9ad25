"""A scored submission to PARSEME identification from the golden files: FR submitted, HR not; or FR 17 times over."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import UUID

from sqlalchemy import Engine, select, update

from app.base.db import writing
from app.models import Board, Competition, CompetitionTask, User
from app.runs.outcomes import RunResult, record_scores
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests import world
from tests.world import NOW

TASK = TASKS["mwe-identification"]
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "mwe-identification"
TRACKS = [{"name": "closed", "title": "Closed", "description": ""}]


def become_mwe(engine: Engine, languages: list[str]) -> None:
    """Turn the world's competition into one of identification, with one board."""
    column = {"metric": "mwe_f1", "split": "macro", "title": "F1", "decimals": 2, "percent": True}
    with writing(engine) as session:
        session.execute(update(Competition).values(tracks=TRACKS))
        session.execute(update(CompetitionTask).values(task_type=TASK.name, options={"languages": languages}))
        session.execute(update(Board).values(columns=[column], rank_metric="mwe_f1", rank_split="macro"))


def scored_submission(engine: Engine, user: User, folder: Path = GOLDEN, macro: str = "languages-with-gold") -> UUID:
    """Submit, and score as a worker does; return the id. folder: has `gold/<LANG>` and `prediction/<LANG>`; macro: the
    option.
    """
    languages = sorted(path.name.lower() for path in (folder / "gold").iterdir())
    become_mwe(engine, languages)
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            world.the_phase_task(session),
            world.upload_of(user.username),
            Sender(user, NOW),
            SubmissionForm(filename="system.zip", track="closed", method="Lexicon"),
        )
    held = world.sure(world.claim(engine, accepted.run_id))
    options = read_options(TASK, {"languages": languages, "macro": macro})
    gold = TASK.read_gold(folder / "gold", options)
    prediction = TASK.read_prediction(folder / "prediction", TASK.items_of(gold, options), options)
    assert TASK.report is not None
    report = TASK.report(gold, prediction, options)
    with writing(engine) as session:
        assert record_scores(
            session,
            held,
            RunResult(
                scores=TASK.score(gold, prediction, options),
                columns=frozenset((column.metric, column.split) for column in TASK.columns(options)),
                task_version=TASK.version,
                aggregates=report,
                texts={name: write(report, options) for name, write in TASK.text_reports.items()},
            ),
            now=NOW,
        )
    return accepted.submission.id


def seventeen_languages(folder: Path) -> Path:
    """Copy the golden French data under seventeen names."""
    for number in range(17):
        for part in ("gold", "prediction"):
            shutil.copytree(GOLDEN / part / "FR", folder / part / f"X{chr(ord('A') + number)}")
    return folder


def only_board(engine: Engine) -> str:
    with writing(engine) as session:
        return session.scalars(select(Board.name).order_by(Board.position)).all()[0]
