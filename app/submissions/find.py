"""Looks up submissions: one for its viewer, a user's own with their places, the newest of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from heapq import nlargest
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    Uuid,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    union,
    union_all,
)
from sqlalchemy.orm import Session, joinedload, selectinload
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.interfaces import LoaderOption

from app.base.db import UtcDateTime, found_before, in_batches, likely, once
from app.base.errors import NotFound
from app.models import (
    Competition,
    CompetitionTask,
    FormerMember,
    Phase,
    PhaseTask,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.people.rights import may_organise

#: A statement may have only a limited number of parts.
PLACES_AT_A_TIME = 100
Condition = ColumnElement[bool]


def newest_in(session: Session, places: Sequence[Condition], conditions: Sequence[Condition], limit: int) -> list[UUID]:
    """Return the ids of the newest submissions in any of the places that meet all conditions, newest first."""
    some = [
        select(Submission.submitted_at, Submission.id)
        .where(place, *conditions)
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(limit)
        for place in places
    ]
    found = [(row.submitted_at, row.id) for query in _together(some) for row in session.execute(query)]
    return [submission_id for _, submission_id in nlargest(limit, found)]


def has_current_status(status: RunStatus) -> Condition:
    """Return the condition for submissions whose current run has this status."""
    return Submission.runs.any(and_(ScoringRun.is_current, likely(ScoringRun.status == status)))


def _together(queries: Sequence[Select[*tuple[object, ...]]]) -> Iterator[Select[*tuple[object, ...]]]:
    """Combine the queries into few statements that return the rows of all."""
    for some in in_batches(queries, PLACES_AT_A_TIME):
        parts = [query.subquery() for query in some]
        yield select(union_all(*(select(*part.columns) for part in parts)).subquery())


#: Maximum count per place, enough for a number next to a title.
MOST_COUNTED = 100


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A task in a phase to which a team of the user submitted.

    is_member: False for former teams, of which only the user's own submissions are included.
    names, titles: of its competition, phase and task.
    """

    team_id: int
    phase_task_id: int
    is_member: bool
    names: tuple[str, str, str]
    titles: tuple[str, str, str]


def own_places(
    session: Session,
    user: User,
    *,
    competition: str | None = None,
    phase: str | None = None,
    task: str | None = None,
) -> list[OwnPlace]:
    """List where the user's teams submitted, and the user for former teams, in the organisers' order.

    competition, phase, task: names to restrict the list to.
    """
    every: list[OwnPlace] | None = found_before(session, ("own places", user.id, None))
    if every is None:
        every = once(
            session, ("own places", user.id, competition), lambda: _read_own_places(session, user, competition)
        )
    wanted = competition, phase, task
    return [one for one in every if all(name in (None, its) for name, its in zip(wanted, one.names, strict=True))]


def _read_own_places(session: Session, user: User, competition: str | None) -> list[OwnPlace]:
    where: dict[str, Any] = {"user": user.id}
    where |= {} if competition is None else {"competition": competition}
    # A separate query: a condition in the statement would be evaluated for each submission of the user.
    has_left = session.scalar(_HAS_LEFT, {"user": user.id}) is not None
    statement = _own_places(is_in_one=competition is not None, has_left=has_left)
    return [
        OwnPlace(team_id, phase_task_id, bool(is_member), tuple(names[:3]), tuple(names[3:]))
        for team_id, phase_task_id, is_member, *names in session.execute(statement, where)
    ]


# Statements are built once: building one takes longer than executing it.


_HAS_LEFT = select(FormerMember.id).where(FormerMember.user_id == bindparam("user")).limit(1)


@cache
def _own_places(*, is_in_one: bool, has_left: bool) -> Select[*tuple[Any, ...]]:
    user: BindParameter[int] = bindparam("user")
    those = select(TeamMember.team_id, literal(1).label("is_member")).where(TeamMember.user_id == user)
    # Submissions for former teams, wherever they are now, since the team may have been merged.
    sent_by_them = select(Submission.team_id, literal(0)).where(Submission.user_id == user)
    teams = (union(those, sent_by_them) if has_left else those).subquery()
    sent = select(Submission.id).where(
        Submission.team_id == teams.c.team_id,
        Submission.phase_task_id == PhaseTask.id,
        or_(teams.c.is_member == 1, Submission.user_id == user),
    )
    names = Competition.name, Phase.name, CompetitionTask.name
    titles = Competition.title, Phase.title, CompetitionTask.title
    query = (
        select(teams.c.team_id, PhaseTask.id, func.max(teams.c.is_member), *names, *titles)
        .join(Team, Team.id == teams.c.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .join(Phase, Phase.competition_id == Competition.id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(sent.exists())
        .group_by(teams.c.team_id, PhaseTask.id, Competition.id, Phase.id, CompetitionTask.id)
        .order_by(Competition.position, Competition.id, Phase.starts_at, Phase.id, CompetitionTask.id)
    )
    return query.where(Competition.name == bindparam("competition")) if is_in_one else query


def count_own(session: Session, competition: Competition, user: User) -> int:
    """Count submissions by this user or their teams to the competition, at most MOST_COUNTED per place."""
    places = own_places(session, user, competition=competition.name)
    where = {"user": user.id, "limit": MOST_COUNTED}
    return sum(
        session.scalar(_counted(_kinds(some)), {**where, **_parameters(some)}) or 0
        for some in in_batches(places, PLACES_AT_A_TIME)
    )


def _kinds(places: Sequence[OwnPlace]) -> tuple[bool, ...]:
    """Return a cache key of everything that a statement about these places depends on."""
    return tuple(one.is_member for one in places)


def _parameters(places: Sequence[OwnPlace]) -> dict[str, int]:
    teams = {f"team_{number}": one.team_id for number, one in enumerate(places)}
    return teams | {f"place_{number}": one.phase_task_id for number, one in enumerate(places)}


def _each_place(kinds: Sequence[bool]) -> Iterator[Condition]:
    """Yield the condition for submissions to each of several places, whose ids are bound parameters."""
    for number, is_member in enumerate(kinds):
        here = and_(
            Submission.team_id == bindparam(f"team_{number}"), Submission.phase_task_id == bindparam(f"place_{number}")
        )
        yield here if is_member else and_(here, Submission.user_id == bindparam("user"))


@lru_cache(maxsize=64)
def _counted(kinds: tuple[bool, ...]) -> Select[int]:
    """Return a query that counts the submissions to several places, up to a limit in each."""
    some = [select(Submission.id).where(one).limit(bindparam("limit")).subquery() for one in _each_place(kinds)]
    return select(func.count()).select_from(union_all(*(select(*one.c) for one in some)).subquery())


def current_run(submission: Submission) -> ScoringRun:
    """Return the run that counts; `submission.runs` must be loaded."""
    return next(run for run in submission.runs if run.is_current)


def get_submission(session: Session, submission_id: UUID, user: User | None) -> Submission:
    """Return a submission with everything that its page needs. Raises NotFound except for its team, sender and
    organisers.
    """
    return _visible(session, session.scalars(_WHOLE, {"id": submission_id}).unique().one_or_none(), user)


def get_submission_with_report(session: Session, submission_id: UUID, user: User | None) -> Submission:
    """Return a submission as `get_submission` does, but with the report of its current run instead of its scores."""
    return _visible(session, session.scalar(_WITH_REPORT, {"id": submission_id}), user)


def check_visible(session: Session, submission_id: UUID, user: User | None) -> None:
    """Raise NotFound unless the user may see the submission."""
    _visible(session, session.scalar(_PLACED, {"id": submission_id}), user)


def _visible(session: Session, submission: Submission | None, user: User | None) -> Submission:
    if submission is None or user is None or not _may_see(session, submission, user):
        raise NotFound("This submission does not exist, or it is not yours.")
    return submission


def _may_see(session: Session, submission: Submission, user: User) -> bool:
    """Return whether the user may see the submission. Former members see only what they submitted themselves."""
    if submission.user_id == user.id:
        return True
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == user.id)
    competition = submission.phase_task.phase.competition
    return session.scalar(member) is not None or may_organise(session, user, competition, Right.SUBMISSIONS)


class OwnFilter(BaseModel):
    """The filters of a list of the user's own submissions, as in its address; None: no filter."""

    model_config = ConfigDict(frozen=True)

    competition: str | None = Field(None, description="only of this competition")
    phase: str | None = Field(None, description="only of this phase")
    task: str | None = Field(None, description="only of this task")
    status: RunStatus | None = Field(None, description="only in this state")
    after: UUID | None = Field(None, description="as in `next`")


EVERYTHING = OwnFilter()


def list_submissions(
    session: Session, user: User, wanted: OwnFilter = EVERYTHING, *, with_withdrawn: bool = True, limit: int = 50
) -> tuple[list[Submission], UUID | None]:
    """Return a page of the user's submissions, newest first, and the start of the next page (None for the last page).

    The list includes those of the user's teams, and those that the user sent for former teams.
    """
    newest = newest_own(session, user, wanted, with_withdrawn=with_withdrawn, limit=limit + 1)
    return load_submissions(session, newest[:limit]), (newest[limit - 1] if len(newest) > limit else None)


def newest_own(
    session: Session, user: User, wanted: OwnFilter, *, with_withdrawn: bool = True, limit: int
) -> list[UUID]:
    """Return the ids of the user's newest submissions, as `list_submissions` lists them."""
    names = {"competition": wanted.competition, "phase": wanted.phase, "task": wanted.task}
    if any("\0" in (name or "") for name in names.values()):  # PostgreSQL takes no NUL
        return []
    places = own_places(session, user, **names)
    start = {} if wanted.after is None else _start_after(session, user, wanted.after)
    where, has_start = {"user": user.id, "limit": limit, **start}, wanted.after is not None
    found: list[tuple[datetime, UUID]] = []
    for some in in_batches(places, PLACES_AT_A_TIME):
        statement = _newest_own(_kinds(some), wanted.status, with_withdrawn=with_withdrawn, has_start=has_start)
        found += [tuple(row) for row in session.execute(statement, {**where, **_parameters(some)})]
    return [submission_id for _, submission_id in nlargest(limit, found)]


@lru_cache(maxsize=256)
def _newest_own(
    kinds: tuple[bool, ...], status: RunStatus | None, *, with_withdrawn: bool, has_start: bool
) -> Select[*tuple[Any, ...]]:
    """Return a query for the times and ids of the newest submissions to several places, up to a limit in each."""
    conditions = [] if status is None else [has_current_status(status)]
    if not with_withdrawn:
        conditions.append(Submission.withdrawn_at.is_(None))
    if has_start:
        moment, start = bindparam("moment", type_=UtcDateTime()), bindparam("start", type_=Uuid())
        conditions.append(
            or_(Submission.submitted_at < moment, and_(Submission.submitted_at == moment, Submission.id < start))
        )
    some = [
        select(Submission.submitted_at, Submission.id)
        .where(one, *conditions)
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(bindparam("limit"))
        .subquery()
        for one in _each_place(kinds)
    ]
    return select(union_all(*(select(*one.c) for one in some)).subquery())


def load_submissions(session: Session, ids: Sequence[UUID]) -> list[Submission]:
    """Return these submissions with everything that pages need, newest first."""
    found = list(session.scalars(_SEVERAL, {"ids": ids}).unique())
    # A separate query: a join would read the same few rows once per submission.
    places = session.scalars(_PLACES, {"ids": {one.phase_task_id for one in found}}) if found else ()
    by_id = {one.id: one for one in places}
    for one in found:
        set_committed_value(one, "phase_task", by_id[one.phase_task_id])
    return found


def _start_after(session: Session, user: User, submission_id: UUID) -> dict[str, Any]:
    """Return the parameters that continue a list after one of the user's own submissions."""
    own = select(Submission.submitted_at).where(Submission.id == submission_id, _is_ones_own(user))
    moment = session.scalar(own)
    if moment is None:
        raise NotFound("This page of the list no longer exists; go back to the first page.")
    return {"moment": moment, "start": submission_id}


def _is_ones_own(user: User) -> ColumnElement[bool]:
    """Return the condition for submissions of the user's teams or by the user."""
    teams = select(TeamMember.team_id).where(TeamMember.user_id == user.id)
    return or_(Submission.team_id.in_(teams), Submission.user_id == user.id)


def _whole_submissions() -> Select[Submission]:
    """Return a query for submissions with all parent objects, and with their current run without its report."""
    return _located_submissions().options(_current_run())


def _current_run() -> LoaderOption:
    return joinedload(Submission.runs.and_(ScoringRun.is_current)).defer(ScoringRun.report, raiseload=True)


def _located_submissions() -> Select[Submission]:
    """Return a query for submissions with all parent objects, but without runs."""
    above = joinedload(Submission.phase_task)
    return _sent_submissions().options(
        above.joinedload(PhaseTask.phase).joinedload(Phase.competition), above.joinedload(PhaseTask.task)
    )


def _sent_submissions() -> Select[Submission]:
    """Return a query for submissions with team, system and user."""
    senders = joinedload(Submission.team), joinedload(Submission.system), joinedload(Submission.user)
    return select(Submission).options(*senders)


# Built once: building them takes longer than executing them.
_ASKED = Submission.id == bindparam("id", type_=Uuid())
_WHOLE = _whole_submissions().where(_ASKED)
_SEVERAL = (
    _sent_submissions()
    .options(_current_run())
    .where(Submission.id.in_(bindparam("ids", expanding=True)))
    .order_by(Submission.submitted_at.desc(), Submission.id.desc())
)
_PLACES = (
    select(PhaseTask)
    .where(PhaseTask.id.in_(bindparam("ids", expanding=True)))
    .options(joinedload(PhaseTask.phase).joinedload(Phase.competition), joinedload(PhaseTask.task))
)
_WITH_REPORT = _located_submissions().options(selectinload(Submission.runs.and_(ScoringRun.is_current))).where(_ASKED)
_PLACED = (
    select(Submission)
    .options(joinedload(Submission.phase_task).joinedload(PhaseTask.phase).joinedload(Phase.competition))
    .where(_ASKED)
)
