"""A board of PARSEME identification with scores chosen by hand, to look at its pictures."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine, update

from app.base.db import writing
from app.models import Team, TeamKind
from app.runs.outcomes import RunResult, record_scores
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from evergold.scoring.task import Score
from tests import world
from tests.web.mwe_world import become_mwe
from tests.world import DAY, HOUR, NOW

LANGUAGES = ["fr", "hr", "ga", "pl"]
CATEGORIES = ("VID", "LVC.full", "IRV")
#: By team: macro F1 of seen and of unseen MWEs, and F1 in each language; None: not sent.
TEAMS: dict[str, tuple[float, float, tuple[float | None, ...]]] = {
    "Magpie": (0.84, 0.36, (0.72, 0.61, 0.38, 0.66)),
    "Saudade Lab": (0.79, 0.41, (0.70, 0.64, None, 0.69)),
    "Loureiro": (0.68, 0.22, (0.55, 0.48, 0.31, 0.52)),
    "Lexicon": (0.74, 0.05, (0.41, 0.37, 0.22, 0.40)),
}
BASELINES = frozenset({"Lexicon"})


def fill(engine: Engine) -> None:
    """Let every team enter once, five hours after the one before it."""
    become_mwe(engine, LANGUAGES)
    for number, name in enumerate(TEAMS):
        enter(engine, name, NOW - DAY + 5 * number * HOUR)


def enter(engine: Engine, name: str, now: datetime = NOW) -> int:
    """Add a submission of this team; return the id of its run."""
    username = name.lower().replace(" ", "-")
    user = world.add_user(engine, username, name)
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            world.the_phase_task(session),
            world.upload_of(name),
            Sender(user, now),
            SubmissionForm(filename="system.zip", track="closed", method=f"The system of {name}"),
        )
        kind = TeamKind.BASELINE if name in BASELINES else TeamKind.TEAM
        session.execute(update(Team).where(Team.id == accepted.submission.team_id).values(kind=kind))
    held = world.sure(world.claim(engine, accepted.run_id))
    scores = scores_of(name)
    columns = frozenset((one.metric, one.split) for one in scores if "category" not in one.split)
    with writing(engine) as session:
        result = RunResult(scores=scores, columns=columns, task_version=1)
        assert record_scores(session, held, result, now=NOW)
    return accepted.run_id


def scores_of(name: str) -> list[Score]:
    """Return the scores for each language and their mean, seen and unseen; a little less for each further category."""
    seen, unseen, found = TEAMS[name]
    defined = [value for value in found if value is not None]
    values: dict[str, float | None] = {
        "macro": sum(defined) / len(found),
        "macro/seen": seen,
        "macro/unseen": unseen,
    }
    for language, value in zip(LANGUAGES, found, strict=True):
        values[language] = value
        values[f"{language}/seen"] = None if value is None else (value + seen) / 2
        values[f"{language}/unseen"] = None if value is None else (value + unseen) / 2
        for number, category in enumerate(CATEGORIES):
            if value is not None and (language, category) != ("ga", "IRV"):
                values[f"{language}/category/{category}"] = value - number / 10
    return [
        Score("mwe_f1", split, value, None if value is not None else "not submitted", f"mwe_f1|{split}")
        for split, value in values.items()
    ]
