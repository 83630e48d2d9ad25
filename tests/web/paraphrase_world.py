"""A paraphrasing competition whose systems have scores chosen by hand: no encoder is used."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, update

from app.base.db import writing
from app.models import Board, Competition, CompetitionTask, HistoricRow, Phase, Team, TeamKind, User
from app.runs.outcomes import RunResult, record_scores
from evergold.scoring.task import Score
from tests import world
from tests.rich_world import own
from tests.world import NOW

LANGUAGES = ["en", "pt"]
#: What the organisers' references have, by kind and language.
ENTROPIES = {"creative": {"en": 5.0, "pt": 4.0, "macro": 4.5}, "minimal": {"en": 3.0, "pt": 2.0, "macro": 2.5}}
REPORT: dict[str, Any] = {
    "languages": {},
    "references": {
        kind: {language: {"entropy": entropy} for language, entropy in found.items()}
        for kind, found in ENTROPIES.items()
    },
}
#: (BERTScore, entropy) in each language; None: undefined, there is no new word.
Scores = dict[str, tuple[float, float | None]]


def become_paraphrasing(engine: Engine) -> None:
    """Turn the world's task into mwe-paraphrase; its first board shows the means, and no languages."""
    columns = [
        {"metric": metric, "split": "macro", "title": metric, "decimals": 3, "percent": False}
        for metric in ("bertscore", "entropy")
    ]
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="mwe-paraphrase", options={"languages": LANGUAGES}))
        session.execute(update(Board).values(columns=columns, rank_metric="bertscore", rank_split="macro"))


def enter(engine: Engine, name: str, scores: Scores, *, kind: TeamKind = TeamKind.TEAM) -> None:
    """Add a team whose submission has these scores, and their mean."""
    with writing(engine) as session:
        user = User(
            username=name.lower(),
            email=f"{name}@example.org",
            email_confirmed_at=NOW,
            display_name=name,
            created_at=NOW,
        )
        session.add(user)
    accepted = world.submit(engine, user, content=name)
    with writing(engine) as session:
        session.execute(update(Team).where(Team.id == accepted.submission.team_id).values(name=name, kind=kind))
    mean = [sum(scores[language][place] or 0.0 for language in scores) / len(scores) for place in (0, 1)]
    found = {**scores, "macro": (mean[0], mean[1])}
    rows = [
        Score(metric, split, value, None if value is not None else "there is no new word", f"{metric}|{split}")
        for split, both in found.items()
        for metric, value in zip(("bertscore", "entropy"), both, strict=True)
    ]
    held = world.sure(world.claim(engine, accepted.run_id))
    with writing(engine) as session:
        columns = frozenset((score.metric, score.split) for score in rows)
        result = RunResult(scores=rows, columns=columns, task_version=1, aggregates=REPORT)
        assert record_scores(session, held, result, now=NOW)


def publish(engine: Engine, name: str, bertscore: float, entropy: float) -> None:
    """Add a published result with the means."""
    with writing(engine) as session:
        session.add(
            HistoricRow(
                phase_id=session.scalars(own(Phase)).one().id,
                board_id=next(iter(session.scalars(own(Board).order_by(Board.position)))).id,
                team=name,
                source="A paper",
                scores={"bertscore macro": bertscore, "entropy macro": entropy},
            )
        )


def set_visibility(engine: Engine, **said: str | int) -> None:
    """Set what phases.yaml would have under `visibility` of the phase."""
    with writing(engine) as session:
        session.execute(update(Phase).values(visibility={**world.SHOWN_WHOLE, **said}))


def competition_title(engine: Engine) -> str:
    with writing(engine) as session:
        return str(session.scalars(own(Competition)).one().title)
