"""Standings from the cache table while the rules they were chosen by are current, and standings at a past moment.

For the past, only teams with activity since then are recomputed; TooFarBack is raised if even that is too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnExpressionArgument, Select, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.models import EntryChoice, EntryRule, KeptBoard, Standing, Submission, System, Tally, Team, TeamKind
from app.standings.choose import Rules, TeamStanding
from app.standings.tries import EVERYTHING, RunFilter, standings_from_runs

#: With more active teams than this, recompute all: the number of query parameters is limited.
TEAMS_AT_MOST = 500
#: With more candidates than this a page would wait for seconds, so past standings are not computed.
TRIES_AT_MOST = 5000


class TooFarBack(EvergoldError):
    """The board at that moment is not stored, and recomputing it would read too many runs."""

    status = 409
    code = "too_far_back"


class KeptStanding(NamedTuple):
    """A `TeamStanding` from the table, with everything that its row shows.

    system: its name.
    facts: see `app.standings.facts`, with the scores of the columns by which it was cached.
    """

    team_id: int
    run_id: int
    entries: int
    ladder_value: float | None
    facts: str
    team: str
    kind: TeamKind
    system: str | None


#: A standing, whether cached or recomputed.
AnyStanding = TeamStanding | KeptStanding


@dataclass(frozen=True, slots=True)
class Past:
    """A board as it was at some moment.

    still: standings that have not changed since.
    since: teams with activity since then, whose candidates must be read; None for all teams.
    """

    still: Sequence[KeptStanding]
    since: frozenset[int] | None


def standings_of(
    session: Session,
    phase_task_id: int,
    board_id: int,
    rules: Rules,
    gold: str | None = None,
    bounds: RunFilter = EVERYTHING,
) -> list[AnyStanding]:
    """Return the standings of all teams on a board of a phase. gold: consider only runs scored against it."""
    if bounds.until is not None and bounds.rescoring is None:
        past = past_of(session, phase_task_id, board_id, rules, bounds.until, gold)
        if past.since is not None and not past.since:
            return list(past.still)
        again = RunFilter(teams=past.since, until=bounds.until)
        return [*past.still, *standings_from_runs(session, phase_task_id, board_id, rules, gold, again)]
    # On a board of all entries there is nothing to choose.
    is_kept = bounds.rescoring is None and rules.rule is not EntryRule.ALL
    kept = _kept(session, phase_task_id, board_id, rules, gold) if is_kept else None
    if kept is not None:
        return [*kept]
    return [*standings_from_runs(session, phase_task_id, board_id, rules, gold, bounds)]


def past_of(
    session: Session, phase_task_id: int, board_id: int, rules: Rules, moment: datetime, gold: str | None = None
) -> Past:
    """Return a board as of this moment. Raises TooFarBack if that would read more than TRIES_AT_MOST candidates."""
    kept = None if rules.rule is EntryRule.ALL else _kept(session, phase_task_id, board_id, rules, gold)
    since = None if kept is None else _teams_since(session, phase_task_id, board_id, moment)
    if kept is None or since is None or len(since) > TEAMS_AT_MOST:
        kept, since = [], None
    _check_is_near(session, phase_task_id, since)
    return Past([one for one in kept if since is None or one.team_id not in since], since)


def _check_is_near(session: Session, phase_task_id: int, teams: frozenset[int] | None) -> None:
    counted = select(func.sum(Tally.runs)).where(Tally.phase_task_id == phase_task_id)
    if teams is not None:
        counted = counted.where(Tally.team_id.in_(teams))
    if (session.scalar(counted) or 0) > TRIES_AT_MOST:
        raise TooFarBack(
            "Since then came so much that it is not worked out who stood where; a later day may be near enough."
        )


def start_of_newest(session: Session, phase_task_id: int) -> datetime | None:
    """Return the time from which on a task of a phase has TRIES_AT_MOST submissions; None if it has fewer in total."""
    newest = select(Submission.submitted_at).where(Submission.phase_task_id == phase_task_id)
    return session.scalar(newest.order_by(Submission.submitted_at.desc()).offset(TRIES_AT_MOST - 1).limit(1))


def _kept(
    session: Session, phase_task_id: int, board_id: int, rules: Rules, gold: str | None
) -> list[KeptStanding] | None:
    """Return the cached standings, None if there are none or their rules differ. One query keeps both consistent."""
    place = {"phase_task": phase_task_id, "board": board_id}
    if gold is None:
        rows = session.connection().execute(_WHOLE, place).all()
    else:
        rows = session.connection().execute(_OF_ONE_GOLD, {**place, "gold": gold}).all()
    if not rows or rows[0].rules != rules.key:
        return None
    return [KeptStanding._make(row[1:]) for row in rows if row[1] is not None]


def _of(
    whose: ColumnExpressionArgument[bool],
) -> Select[str, int, int, int, float | None, str, str, TeamKind, str | None]:
    """Select the rules and standings of a cached board; a board without standings yields one row without a team."""
    here = and_(Standing.phase_task_id == KeptBoard.phase_task_id, Standing.board_id == KeptBoard.board_id, whose)
    standing = Standing.team_id, Standing.run_id, Standing.entries, Standing.ladder_value, Standing.facts
    return (
        select(KeptBoard.rules, *standing, Team.name, Team.kind, System.name)
        .outerjoin(Standing, here)
        .outerjoin(Team, Team.id == Standing.team_id)
        .outerjoin(System, System.id == Standing.system_id)
        .where(KeptBoard.phase_task_id == bindparam("phase_task"), KeptBoard.board_id == bindparam("board"))
    )


#: Built once, since every board executes this.
_WHOLE, _OF_ONE_GOLD = _of(Standing.is_whole), _of(Standing.gold == bindparam("gold"))


def _teams_since(session: Session, phase_task_id: int, board_id: int, moment: datetime) -> frozenset[int]:
    """Return the teams on the board that submitted or chose since: their standings may have been different then."""
    submitted = exists().where(
        Submission.team_id == Standing.team_id,
        Submission.phase_task_id == phase_task_id,
        Submission.submitted_at >= moment,
    )
    chose = exists().where(
        EntryChoice.team_id == Standing.team_id,
        EntryChoice.phase_task_id == phase_task_id,
        EntryChoice.board_id == board_id,
        EntryChoice.chosen_at >= moment,
    )
    here = and_(Standing.phase_task_id == phase_task_id, Standing.board_id == board_id)
    return frozenset(session.scalars(select(Standing.team_id).where(here, or_(submitted, chose))))
