"""Rows to test with: a competition of idiom detection, people, submissions and their outcomes, by short calls.

`app.declarations.apply.apply` makes the declared rows on a real server; here each test makes those that it needs by
hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Select, select
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.storage import StoredFile
from app.competitions.find import find_phase_task
from app.models import (
    Board,
    Competition,
    CompetitionTask,
    EntryRule,
    Phase,
    PhaseTask,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from app.runs.claims import Claim, claim_run
from app.runs.outcomes import RunResult, record_failure, record_rejection, record_scores
from app.runs.report import packed_results
from app.submissions.accept import Accepted, Sender, SubmissionForm, accept_submission
from evergold.scoring.errors import Problem
from evergold.scoring.task import NOT_ENTERED, ItemResult, Score

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)

COMPETITION, PHASE, TASK = "idioms", "evaluation", "detection"
#: What becomes COMPETITION where `tests.rich_world` has made it.
PREPARED = "prepared"
#: The phase that went before in it.
EARLIER_PHASE = "earlier"
ZERO_SHOT, ONE_SHOT = "zero_shot/all", "one_shot/all"
#: What tests of other things than digits declare: every score with all its digits. None in its place: as is usual.
SHOWN_WHOLE: Mapping[str, Any] = {"precision": "full", "slices": "all"}


def add_competition(
    engine: Engine,
    *,
    name: str = COMPETITION,
    per_day: int | None = 10,
    total: int | None = None,
    rejected_per_hour: int = 60,
    starts_at: datetime = NOW - DAY,
    ends_at: datetime | None = NOW + DAY,
    entry_rule: EntryRule = EntryRule.BEST,
    gold: str | None = "gold.csv",
    options: Mapping[str, Any] | None = None,
) -> None:
    """Add a competition with one task, one phase, and a board for zero-shot and one for one-shot.

    If `tests.rich_world` has prepared one with an earlier phase, that one is used.
    """
    with writing(engine) as session:
        prepared = select(Competition).where(Competition.name == PREPARED)
        competition = session.scalar(prepared) if name == COMPETITION else None
        if competition is None:
            task = _add_task(session, name)
        else:
            competition.name, competition.title = name, name.capitalize()
            task = session.scalars(
                select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)
            ).one()
        task.options = dict(options or {})
        phase = Phase(
            competition_id=task.competition_id,
            name=PHASE,
            title="Evaluation",
            starts_at=starts_at,
            ends_at=ends_at,
            entry_rule=entry_rule,
            submissions_per_day=per_day,
            submissions_total=total,
            rejected_per_hour=rejected_per_hour,
            upload_limit_bytes=1_000_000,
            visibility=dict(SHOWN_WHOLE),
        )
        session.add(phase)
        session.flush()
        session.add(PhaseTask(phase_id=phase.id, task_id=task.id, gold=gold))


def _add_task(session: Session, competition_name: str) -> CompetitionTask:
    """Add a task with its boards to a new competition."""
    competition = Competition(name=competition_name, title=competition_name.capitalize(), created_at=NOW)
    session.add(competition)
    session.flush()
    task = CompetitionTask(
        competition_id=competition.id, name=TASK, task_type="idiom-detection", title="Detection", options={}
    )
    session.add(task)
    session.flush()
    # The second one has the lower id: what is sorted by position is not so by itself.
    for position, board, split in ((1, "one-shot", ONE_SHOT), (0, "zero-shot", ZERO_SHOT)):
        session.add(board_of(competition, task, board, split, position))
    return task


def board_of(competition: Competition, task: CompetitionTask, name: str, split: str, position: int) -> Board:
    columns = [
        {"metric": metric, "split": split, "title": title, "decimals": 4, "percent": False}
        for metric, title in (("macro_f1", "F1"), ("accuracy", "Accuracy"))
    ]
    return Board(
        competition_id=competition.id,
        task_id=task.id,
        name=name,
        title=name,
        rank_metric="macro_f1",
        rank_split=split,
        columns=columns,
        position=position,
    )


# ---------------------------------------------------------------------------------------------------------- people


def add_user(
    engine: Engine,
    username: str,
    display_name: str = "",
    *,
    is_administrator: bool = False,
    is_confirmed: bool = True,
) -> User:
    """Add somebody who cannot log in: hashing a password would take longer than most tests."""
    with writing(engine) as session:
        user = User(
            username=username,
            email=f"{username}@example.org",
            email_confirmed_at=NOW if is_confirmed else None,
            display_name=display_name or username.capitalize(),
            is_administrator=is_administrator,
            created_at=NOW,
        )
        session.add(user)
    return user


def add_team(
    engine: Engine, *members: User, name: str, kind: TeamKind = TeamKind.TEAM, competition: str = COMPETITION
) -> Team:
    """Add a team of several people, or a baseline."""
    with writing(engine) as session:
        entered = session.scalars(select(Competition).where(Competition.name == competition)).one()
        team = Team(competition_id=entered.id, name=name, kind=kind, created_at=NOW)
        session.add(team)
        session.flush()
        for user in members:
            session.add(TeamMember(team_id=team.id, user_id=user.id, competition_id=entered.id))
    return team


# ----------------------------------------------------------------------------------------------------- submissions


def upload_of(content: str) -> StoredFile:
    """Return what storage would return for a file with this content."""
    return StoredFile(hashlib.sha256(content.encode()).hexdigest(), len(content.encode()))


def the_phase_task(session: Session, competition: str = COMPETITION) -> PhaseTask:
    return find_phase_task(session, competition, PHASE, TASK)


def submit(
    engine: Engine,
    user: User,
    now: datetime = NOW,
    *,
    content: str = "ID,Language,Setting,Label",
    stored: StoredFile | None = None,
    key: str | None = None,
    competition: str = COMPETITION,
    method: str = "",
) -> Accepted:
    """Accept an upload and commit, as the route does."""
    with writing(engine) as session:
        return accept_submission(
            session,
            the_phase_task(session, competition),
            stored or upload_of(content),
            Sender(user, now, key),
            SubmissionForm(filename="predictions.csv", method=method),
        )


def the_run(engine: Engine, run_id: int) -> ScoringRun:
    """Return the run as it is in the database now."""
    with reading(engine) as session:
        return session.get_one(ScoringRun, run_id)


def submissions_here() -> Select[UUID]:
    """Return the ids of all submissions to the test's own phases: tests have neighbours, see `rich_world`."""
    return (
        select(Submission.id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .where(Competition.name == COMPETITION, Phase.name != EARLIER_PHASE)
    )


def the_submission(engine: Engine, submission_id: UUID) -> Submission:
    with reading(engine) as session:
        return session.get_one(Submission, submission_id)


def board_version_number(engine: Engine) -> int:
    with reading(engine) as session:
        return the_phase_task(session).board_version


# -------------------------------------------------------------------------------------------------------- outcomes


def claim(engine: Engine, run_id: int, now: datetime = NOW, lease_seconds: float = 60) -> Claim | None:
    with writing(engine) as session:
        return claim_run(session, run_id, worker="worker:1", lease_seconds=lease_seconds, now=now)


def score(engine: Engine, run_id: int, zero_shot: float | None, one_shot: float | None = None) -> None:
    """Let a worker score the run with these macro F1s; None: not entered."""
    finish(engine, sure(claim(engine, run_id)), [*scores_of(ZERO_SHOT, zero_shot), *scores_of(ONE_SHOT, one_shot)])


def scores_of(split: str, value: float | None, reason: str = NOT_ENTERED) -> list[Score]:
    """Return macro F1, and an accuracy that is always half of it."""
    half = None if value is None else value / 2
    why = reason if value is None else None
    return [
        Score(metric, split, number, why, f"idiom-detection:1|{metric}|{split}")
        for metric, number in (("macro_f1", value), ("accuracy", half))
    ]


def finish(
    engine: Engine,
    held: Claim,
    scores: list[Score],
    now: datetime = NOW,
    *,
    items: list[ItemResult] | None = None,
    private: list[Score] | None = None,
) -> bool:
    packed = packed_results(items) if items is not None else None
    columns = frozenset((score.metric, score.split) for score in scores)
    with writing(engine) as session:
        return record_scores(
            session,
            held,
            RunResult(
                scores=scores,
                columns=columns,
                task_version=1,
                items=packed,
                private_scores=private or (),
            ),
            now=now,
        )


def reject(engine: Engine, run_id: int, now: datetime = NOW) -> bool:
    problem = Problem("duplicate-id", "id 203 appears twice, first on line 9", line=14)
    with writing(engine) as session:
        return record_rejection(session, sure(_claimed(session, run_id)), problems=[problem], omitted=2, now=now)


def fail(engine: Engine, run_id: int, attempts: int = 1, now: datetime = NOW) -> bool:
    with writing(engine) as session:
        return record_failure(session, sure(_claimed(session, run_id)), error="Broken", attempts=attempts, now=now)


def _claimed(session: Session, run_id: int) -> Claim | None:
    return claim_run(session, run_id, worker="worker:1", lease_seconds=60, now=NOW)


def sure(held: Claim | None) -> Claim:
    assert held is not None, "somebody else holds this run, or it is finished"
    return held


def answer_to(call: Callable[[], object]) -> str:
    """Return `accepted`, or the code of the refusal, to count how a race ended; any other exception is raised."""
    try:
        call()
    except EvergoldError as refused:
        return refused.code
    return "accepted"
