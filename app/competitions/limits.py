"""Phase states and submission quotas: read-only checks, whose results are reliable only under the team lock.

Intervals are half-open by the server's clock; days, weeks (from Monday) and months are in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, exists, func, not_, or_, select
from sqlalchemy.orm import Session

from app.base.errors import GoldMissing, LimitReached, PhaseNotOpen
from app.competitions.allowances import allowance_of, closes_at
from app.models import (
    Allowance,
    FormerMember,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    TeamMember,
    User,
)
from evergold.moments import deadline_words, moment_words

#: Teams that people have left, and the teams these have merged into since.
_LEFT = (
    select(FormerMember.team_id, Team.merged_into_id)
    .join(Team, Team.id == FormerMember.team_id)
    .where(FormerMember.competition_id == bindparam("past_competition"))
    .distinct()
)
_LEFT_BY_PERSON = _LEFT.where(FormerMember.user_id == bindparam("past_of"))
_LEFT_BY_TEAM = _LEFT.where(
    FormerMember.user_id.in_(select(TeamMember.user_id).where(TeamMember.team_id == bindparam("past_of")))
)


def charged_to(session: Session, team: Team | None, user: User | None, competition_id: int) -> ColumnElement[bool]:
    """Return the condition for submissions charged to this team; reliable only under the team lock.

    user: the person whose past submissions count if there is no team (any more).
    """
    left_by, owner_id = (_LEFT_BY_TEAM, team.id) if team is not None else (_LEFT_BY_PERSON, user.id if user else None)
    pairs = session.execute(left_by, {"past_competition": competition_id, "past_of": owner_id}).all()
    left = {one for pair in pairs for one in pair if one is not None}
    own = [team.id] if team is not None else []
    if not left:
        return Submission.team_id == team.id if team is not None else Submission.team_id.in_(own)
    people = select(TeamMember.user_id).where(TeamMember.team_id == team.id) if team is not None else [owner_id]
    past = and_(FormerMember.competition_id == competition_id, FormerMember.user_id.in_(people))
    while_there = and_(
        or_(FormerMember.joined_at.is_(None), Submission.submitted_at >= FormerMember.joined_at),
        Submission.submitted_at <= FormerMember.left_at,
    )
    taken_along = exists(
        select(FormerMember.id)
        .where(past, FormerMember.team_id == func.coalesce(Submission.sent_for_id, Submission.team_id))
        .where(or_(Submission.user_id == FormerMember.user_id, while_there))
        .correlate(Submission)
    )
    return and_(Submission.team_id.in_({*own, *left}), or_(Submission.team_id.in_(own), taken_along))


PhaseState = Literal["upcoming", "open", "closed"]
FREE_OF_CHARGE = (RunStatus.REJECTED, RunStatus.FAILED)
#: Statuses of files that may still turn out to be malformed.
UNDECIDED = (RunStatus.QUEUED, RunStatus.RUNNING)
#: When to retry if the limit depends on files that are still being checked.
ASK_AGAIN_SECONDS = 30


Span = Literal["day", "week", "month", "phase"]
#: Wording in refusals.
SPAN_WORDS: Mapping[Span, str] = {"day": "today", "week": "this week", "month": "this month", "phase": "this phase"}


@dataclass(frozen=True, slots=True)
class Window:
    """A period with a limit. ends_at: when its count is reset; None if never."""

    span: Span
    used: int
    limit: int
    ends_at: datetime | None

    @property
    def words(self) -> str:
        """The period in words, such as `this week`."""
        return SPAN_WORDS[self.span]

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Quota:
    """Submissions that a team has used and has left for one task in one phase; None means no limit.

    rejected_last_hour: includes failed submissions, which cost no quota but took a worker's time. allowance: the
    extension that the limits include.
    """

    used_today: int
    per_day: int | None
    used_total: int
    total: int | None
    rejected_last_hour: int
    rejected_per_hour: int
    day_ends_at: datetime
    undecided_last_hour: int = 0
    allowance: Allowance | None = None
    used_week: int = 0
    per_week: int | None = None
    week_ends_at: datetime | None = None
    used_month: int = 0
    per_month: int | None = None
    month_ends_at: datetime | None = None

    @property
    def windows(self) -> tuple[Window, ...]:
        """The periods with a limit, shortest first."""
        known: tuple[tuple[Span, int, int | None, datetime | None], ...] = (
            ("day", self.used_today, self.per_day, self.day_ends_at),
            ("week", self.used_week, self.per_week, self.week_ends_at),
            ("month", self.used_month, self.per_month, self.month_ends_at),
            ("phase", self.used_total, self.total, None),
        )
        return tuple(Window(span, used, limit, ends) for span, used, limit, ends in known if limit is not None)

    @property
    def tightest(self) -> Window | None:
        """The period with the fewest submissions left; of several used-up ones the longest; None if unlimited."""
        ordered = self.windows
        if any(one.remaining == 0 for one in ordered):
            ordered = ordered[::-1]
        return min(ordered, key=lambda one: one.remaining, default=None)

    @property
    def remaining(self) -> int | None:
        """The number of submissions left now; None if unlimited."""
        return self.tightest.remaining if self.tightest else None

    @property
    def is_used_up(self) -> bool:
        return self.remaining == 0


@dataclass(frozen=True, slots=True)
class DeclaredLimits:
    """Limits of one task in one phase; None means no limit."""

    per_day: int | None
    per_week: int | None
    per_month: int | None
    total: int | None
    rejected_per_hour: int
    upload_bytes: int


def declared_limits(phase: Phase, phase_task: PhaseTask | None = None) -> DeclaredLimits:
    """Return the limits: key by key those of the task, or else those of the phase."""
    own = phase_task.limits if phase_task else {}
    return DeclaredLimits(
        per_day=own.get("per_day", phase.submissions_per_day),
        per_week=own.get("per_week", phase.submissions_per_week),
        per_month=own.get("per_month", phase.submissions_per_month),
        total=own.get("total", phase.submissions_total),
        rejected_per_hour=own.get("rejected_per_hour", phase.rejected_per_hour),
        upload_bytes=own.get("upload_bytes", phase.upload_limit_bytes),
    )


def phase_state(phase: Phase, now: datetime) -> PhaseState:
    """Return the state of the phase: at its start it is open, at its end it is closed."""
    if now < phase.starts_at:
        return "upcoming"
    return "open" if phase.ends_at is None or now < phase.ends_at else "closed"


def check_phase_open(phase: Phase, now: datetime) -> None:
    """Raise PhaseNotOpen unless the phase is open; the error has both moments, in UTC and AoE."""
    state = phase_state(phase, now)
    if state == "open":
        return
    moment = phase.starts_at if state == "upcoming" or phase.ends_at is None else phase.ends_at
    verb = "opens" if state == "upcoming" else "closed"
    raise PhaseNotOpen(
        f"Phase '{phase.title}' {verb} {deadline_words(moment)}; server time is {moment_words(now)}.",
        phase=phase.name,
        state=state,
        starts_at=phase.starts_at.isoformat(),
        ends_at=phase.ends_at.isoformat() if phase.ends_at else None,
        now=now.isoformat(),
    )


def is_open_for(phase: Phase, used: Quota | None, now: datetime) -> bool:
    """Return True if the dates of the phase allow a team with this quota to submit. used: None without a team."""
    closes = closes_at(phase, used.allowance if used else None)
    return phase.starts_at <= now and (closes is None or now < closes)


def check_open_for(session: Session, team: Team | None, phase: Phase, now: datetime) -> Allowance | None:
    """Return the extension if the team may submit only because of it; None while the phase is open for all.

    Raises PhaseNotOpen.
    """
    if team is not None and phase_state(phase, now) == "closed":
        allowance = allowance_of(session, team.id, phase.id)
        if allowance is not None and (own := closes_at(phase, allowance)) is not None and now < own:
            return allowance
    check_phase_open(phase, now)
    return None


def check_gold_present(phase_task: PhaseTask) -> str:
    """Return the name of the gold. Raises GoldMissing if the organisers have not added it."""
    if phase_task.gold is None:
        raise GoldMissing(
            f"Task '{phase_task.task.title}' cannot be scored in phase '{phase_task.phase.title}' yet: "
            "its organisers have not added the gold. Nothing was stored.",
        )
    return phase_task.gold


def check_submission_limit(
    session: Session,
    team: Team | None,
    phase_task: PhaseTask,
    now: datetime,
    *,
    user: User | None = None,
    counts: Counts | None = None,
) -> None:
    """Raise LimitReached, with the limit and the time of its reset; reliable only under the team lock.

    user: as in `quota`; counts: if already known.
    """
    used = _used(session, team, phase_task, now, user=user, counts=counts)
    if used.is_used_up:  # Only then can an extension matter
        used = _with_allowance(session, team, phase_task, used)
    if (full := used.tightest) is not None and full.remaining == 0:
        raise _used_up(full)
    if used.rejected_last_hour >= used.rejected_per_hour:
        charged = _charged(session, team, user, phase_task)
        retry_at = _end_of_pause(session, charged, used.rejected_per_hour, now)
        again = moment_words(retry_at)
        raise LimitReached(
            f"{used.rejected_last_hour} files of your team were rejected or failed within the last hour. Please check "
            f"your file with `evergold validate` before you upload again; that is possible at {again}.",
            limit=used.rejected_per_hour,
            used=used.rejected_last_hour,
            per="hour",
            retry_at=retry_at.isoformat(),
        )
    # Each pending file may be rejected: counting them keeps simultaneous uploads within the limit.
    if used.rejected_last_hour + used.undecided_last_hour >= used.rejected_per_hour:
        raise LimitReached(
            f"{used.undecided_last_hour} files of your team are still being checked, and {used.rejected_last_hour} "
            "were rejected or failed within the last hour; please wait until some of them are scored.",
            limit=used.rejected_per_hour,
            used=used.rejected_last_hour + used.undecided_last_hour,
            per="hour",
            retry_at=(now + timedelta(seconds=ASK_AGAIN_SECONDS)).isoformat(),
        )


def _used_up(full: Window) -> LimitReached:
    if full.ends_at is None:
        which = "of this task in this phase"
    else:
        which = f"of {full.words}; the next is possible at {moment_words(full.ends_at)}"
    return LimitReached(
        f"Your team has used all {full.limit} submissions {which}. Rejected and failed ones are not counted.",
        limit=full.limit,
        used=full.used,
        per=full.span,
        retry_at=full.ends_at.isoformat() if full.ends_at else None,
    )


def quota(
    session: Session, team: Team | None, phase_task: PhaseTask, now: datetime, *, user: User | None = None
) -> Quota:
    """Return the quota of this team.

    user: if there is no team, the person whose submissions for former teams count.
    """
    return _with_allowance(session, team, phase_task, _used(session, team, phase_task, now, user=user))


def _with_allowance(session: Session, team: Team | None, phase_task: PhaseTask, used: Quota) -> Quota:
    """Return the quota including the team's extension."""
    allowance = allowance_of(session, team.id if team else None, phase_task.phase_id)
    if allowance is None:
        return used
    return replace(
        used,
        per_day=None if used.per_day is None else used.per_day + allowance.extra_per_day,
        per_week=None if used.per_week is None else used.per_week + allowance.extra_total,
        per_month=None if used.per_month is None else used.per_month + allowance.extra_total,
        total=None if used.total is None else used.total + allowance.extra_total,
        allowance=allowance,
    )


def _used(
    session: Session,
    team: Team | None,
    phase_task: PhaseTask,
    now: datetime,
    *,
    user: User | None,
    counts: Counts | None = None,
) -> Quota:
    """Return the quota under the limits declared for all teams."""
    since = moments(now)
    if counts is None and (team is not None or user is not None):
        counts = _counts(session, _charged(session, team, user, phase_task), since)
    counts = counts or Counts()
    declared = declared_limits(phase_task.phase, phase_task)
    return Quota(
        used_today=counts.today,
        per_day=declared.per_day,
        used_week=counts.week,
        per_week=declared.per_week,
        used_month=counts.month,
        per_month=declared.per_month,
        used_total=counts.total,
        total=declared.total,
        rejected_last_hour=counts.rejected,
        rejected_per_hour=declared.rejected_per_hour,
        day_ends_at=since["day_end"],
        week_ends_at=since["week_end"],
        month_ends_at=since["month_end"],
        undecided_last_hour=counts.undecided,
    )


class Counts(NamedTuple):
    """Numbers of submissions by period and kind, in the order of `COUNTED`."""

    today: int = 0
    week: int = 0
    month: int = 0
    total: int = 0
    rejected: int = 0
    undecided: int = 0


def moments(now: datetime) -> dict[str, datetime]:
    """Return start and end of the hour, day, week and month around a moment, as query parameters."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    week, month = day - timedelta(days=day.weekday()), day.replace(day=1)
    return {
        "hour_start": now - timedelta(hours=1),
        "day_start": day,
        "day_end": day + timedelta(days=1),
        "week_start": week,
        "week_end": week + timedelta(days=7),
        "month_start": month,
        "month_end": (month + timedelta(days=31)).replace(day=1),
    }


def _counts(session: Session, charged: ColumnElement[bool], since: Mapping[str, datetime]) -> Counts:
    return Counts(*session.execute(COUNTED.where(charged), dict(since)).one())


def _moment(name: str) -> BindParameter[datetime]:
    return bindparam(name)


def _is_one_of(statuses: Iterable[RunStatus]) -> ColumnElement[bool]:
    """Return the condition that the run has one of these statuses, without a list, which is slow to compile."""
    return or_(*(ScoringRun.status == status for status in statuses))


_COSTS = not_(_is_one_of(FREE_OF_CHARGE))


def _within(span: str) -> ColumnElement[bool]:
    """Return the condition that a submission belongs to the period.

    The end matters too: a request from before midnight may get the team lock after one from after midnight.
    """
    return and_(Submission.submitted_at >= _moment(f"{span}_start"), Submission.submitted_at < _moment(f"{span}_end"))


_LATELY = Submission.submitted_at > _moment("hour_start")
#: Takes the parameters from `moments`. Built once, as every upload runs it twice.
COUNTED = select(
    func.count().filter(_COSTS, _within("day")).label("today"),
    func.count().filter(_COSTS, _within("week")).label("week"),
    func.count().filter(_COSTS, _within("month")).label("month"),
    func.count().filter(_COSTS).label("total"),
    func.count().filter(_is_one_of(FREE_OF_CHARGE), _LATELY).label("rejected"),
    func.count().filter(_is_one_of(UNDECIDED), _LATELY).label("undecided"),
)


def _end_of_pause(session: Session, charged: ColumnElement[bool], limit: int, now: datetime) -> datetime:
    """Return the time at which fewer than `limit` of the team's rejected uploads will be less than an hour old."""
    rejected = (
        select(Submission.submitted_at)
        .where(charged, _is_one_of(FREE_OF_CHARGE))
        .order_by(Submission.submitted_at.desc())
    )
    return (session.scalar(rejected.offset(limit - 1).limit(1)) or now) + timedelta(hours=1)


def _charged(session: Session, team: Team | None, user: User | None, phase_task: PhaseTask) -> ColumnElement[bool]:
    return and_(
        charged_to(session, team, user, phase_task.phase.competition_id),
        Submission.phase_task_id == phase_task.id,
        ScoringRun.submission_id == Submission.id,
        ScoringRun.is_current,
    )
