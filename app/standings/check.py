"""Compares the cached standings with those that follow from the runs, and repairs differences.

Every difference is a bug and is reported as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session

from app.base.db import UtcDateTime, among
from app.base.errors import EvergoldError
from app.competitions.changed import boards_changed
from app.models import (
    EntryChoice,
    EntryRule,
    Phase,
    PhaseTask,
    Standing,
    Submission,
    Tally,
    Team,
)
from app.standings.choose import BoardRows
from app.standings.entry import AnyStanding, BoardEntry
from app.standings.kept import kept_entries
from app.standings.renew import (
    OnProgress,
    batches_of_teams,
    nobody_waits,
    places_of,
    renew_all,
    renew_team,
    rows_of,
    submissions_by_team,
    wrong_tallies,
)
from app.standings.tries import EVERYTHING, RunFilter, standings_from_runs

#: With more active teams than this, all are recomputed, because the number of query parameters is limited.
TEAMS_AT_MOST = 500
#: With more candidates than this, past standings are not computed: a page would take seconds.
TRIES_AT_MOST = 5000


class TooFarBack(EvergoldError):
    """The board at that moment is not stored, and recomputing it would read too many runs."""

    status = 409
    code = "too_far_back"


@dataclass(frozen=True, slots=True)
class Past:
    """A board at an earlier moment.

    still: standings that have not changed since.
    since: teams with activity since then, whose candidates must be read; None for all teams.
    """

    still: Sequence[BoardEntry]
    since: frozenset[int] | None


def standings_of(session: Session, rows: BoardRows, bounds: RunFilter = EVERYTHING) -> list[AnyStanding]:
    """Return the standings of all teams on a board of a phase."""
    if bounds.until is not None and bounds.rescoring is None:
        past = past_of(session, rows, bounds.until)
        if past.since is not None and not past.since:
            return list(past.still)
        again = RunFilter(teams=past.since, until=bounds.until)
        return [*past.still, *standings_from_runs(session, rows, again)]
    kept = kept_entries(session, rows) if bounds.rescoring is None else None
    if kept is not None:
        return [*kept]
    return [*standings_from_runs(session, rows, bounds)]


def past_of(session: Session, rows: BoardRows, moment: datetime) -> Past:
    """Return a board as of this moment. Raises TooFarBack if that would read more than TRIES_AT_MOST candidates."""
    kept = kept_entries(session, rows)
    since = active_since(session, rows, moment, is_kept=kept is not None)
    return Past([one for one in kept or () if since is not None and one.team_id not in since], since)


def active_since(session: Session, rows: BoardRows, moment: datetime, *, is_kept: bool) -> frozenset[int] | None:
    """Return the teams on a board that were active since a moment, whose candidates must be read; None for all teams.

    Raises TooFarBack if they have more than TRIES_AT_MOST candidates.
    """
    since = _teams_since(session, rows, moment) if is_kept else None
    if since is not None and len(since) > TEAMS_AT_MOST:
        since = None
    _check_is_near(session, rows.phase_task_id, since)
    return since


def _check_is_near(session: Session, phase_task_id: int, teams: frozenset[int] | None) -> None:
    place = {"phase_task": phase_task_id}
    if teams is None:
        tries = session.scalar(_TRIES, place)
    else:
        tries = session.scalar(_TRIES_OF_TEAMS, {**place, "teams": teams})
    if (tries or 0) > TRIES_AT_MOST:
        raise TooFarBack("Too many submissions have arrived since that day to compute its ranks; choose a later day.")


#: Built once: building them takes longer than executing them.
_TRIES = select(func.sum(Tally.runs)).where(Tally.phase_task_id == bindparam("phase_task"))
_TRIES_OF_TEAMS = _TRIES.where(among(Tally.team_id, "teams"))


def start_of_newest(session: Session, phase_task_id: int) -> datetime | None:
    """Return the time since which a task in a phase has had TRIES_AT_MOST submissions; None if it has fewer."""
    newest = select(Submission.submitted_at).where(Submission.phase_task_id == phase_task_id)
    return session.scalar(newest.order_by(Submission.submitted_at.desc()).offset(TRIES_AT_MOST - 1).limit(1))


def _teams_since(session: Session, rows: BoardRows, moment: datetime) -> frozenset[int]:
    """Return the teams on the board that submitted or chose since then, so that their standings may have changed."""
    sent = session.execute(
        _SENT_SINCE, {"phase_task": rows.phase_task_id, "since": moment, "most": TRIES_AT_MOST}
    ).all()
    if sum(count for _, count in sent) == TRIES_AT_MOST:  # with so many, one query per team is faster
        return frozenset(session.scalars(_ACTIVE_SINCE, {**rows.here, "since": moment}))
    teams = {team for team, _ in sent}
    if rows.rules.rule is EntryRule.CHOSEN:
        teams |= set(session.scalars(_CHOSE_SINCE, {**rows.here, "since": moment}))
    return frozenset(session.scalars(_ON_BOARD, {**rows.here, "teams": teams})) if teams else frozenset()


# Built once: building them takes longer than executing.
_SINCE = bindparam("since", type_=UtcDateTime())
_newest = (
    select(Submission.team_id)
    .where(Submission.phase_task_id == bindparam("phase_task"), Submission.submitted_at >= _SINCE)
    .limit(bindparam("most", type_=Integer()))
    .subquery()
)
_SENT_SINCE = select(_newest.c.team_id, func.count()).group_by(_newest.c.team_id)
_CHOSE_SINCE = select(EntryChoice.team_id).where(
    EntryChoice.phase_task_id == bindparam("phase_task"),
    EntryChoice.board_id == bindparam("board"),
    EntryChoice.chosen_at >= _SINCE,
)
_HERE = and_(Standing.phase_task_id == bindparam("phase_task"), Standing.board_id == bindparam("board"))
_ON_BOARD = select(Standing.team_id).where(_HERE, among(Standing.team_id, "teams"))
_ACTIVE_SINCE = select(Standing.team_id).where(
    _HERE,
    or_(
        exists().where(
            Submission.team_id == Standing.team_id,
            Submission.phase_task_id == bindparam("phase_task"),
            Submission.submitted_at >= _SINCE,
        ),
        Standing.team_id.in_(_CHOSE_SINCE),
    ),
)


#: Start of the sweep, before all teams.
START = 0
#: Limits of one slice of the sweep: teams, and candidates (scored runs) of these teams.
TEAMS_OF_A_SLICE, TRIES_OF_A_SLICE = 20, 2000
_VALUES = ("is_whole", "gold", "run_id", "entries", "ladder_value", "system_id", "facts", "value")

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A team whose cached standing on a board differs from the one that follows from its runs.

    board_id: None if the team's number of runs differs.
    kept, right: the cached rows, and the correct ones.
    """

    phase_task_id: int
    board_id: int | None
    team_id: int
    kept: frozenset[Row]
    right: frozenset[Row]


def check_task(session: Session, phase_task_id: int, on_progress: OnProgress = nobody_waits) -> list[Difference]:
    """Compare all boards of a task in a phase; return the differences. The caller locks the task's row, or reads an
    idle database.
    """
    kept = select(Standing.team_id).where(Standing.phase_task_id == phase_task_id).distinct()
    teams = dict.fromkeys(session.scalars(kept), 0) | submissions_by_team(session, phase_task_id)
    differences: list[Difference] = []
    done = 0
    for some in batches_of_teams(teams):
        differences += _check(session, phase_task_id, some)
        done += len(some)
        on_progress(done, len(teams))
    return differences


def lock_task(session: Session, phase_task_id: int) -> None:
    """Block all writes of results for this task until the transaction ends; uploads do not wait."""
    session.execute(select(PhaseTask.id).where(PhaseTask.id == phase_task_id).with_for_update(key_share=True))


def tasks_with_submissions(session: Session) -> list[int]:
    """List every task in a phase that has submissions."""
    sent = select(Submission.id).where(Submission.phase_task_id == PhaseTask.id).exists()
    return list(session.scalars(select(PhaseTask.id).where(sent).order_by(PhaseTask.id)))


def check_slice(session: Session, after: int) -> tuple[list[Difference], int]:
    """Check and repair the next few teams after this id; return the differences and the next id, `START` after the
    last.

    Boards that are not cached yet, or were cached for other rules, are recomputed.
    """
    teams, is_end = _next_teams(session, after)
    sent = select(Submission.phase_task_id, Submission.team_id).where(Submission.team_id.in_(teams)).distinct()
    by_task: defaultdict[int, list[int]] = defaultdict(list)
    for phase_task_id, team_id in session.execute(sent):
        by_task[phase_task_id].append(team_id)
    differences = [one for task in sorted(by_task) for one in _put_right(session, task, by_task[task])]
    return differences, START if is_end else teams[-1]


def _next_teams(session: Session, after: int) -> tuple[list[int], bool]:
    """Return the next team ids in order (at least one, if there is any), and True if no more follow."""
    tries = (
        select(func.coalesce(func.sum(Tally.runs), 0))
        .join(PhaseTask, PhaseTask.id == Tally.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(Phase.competition_id == Team.competition_id, Tally.team_id == Team.id)
        .scalar_subquery()
    )
    query = select(Team.id, tries).where(Team.id > after).order_by(Team.id).limit(TEAMS_OF_A_SLICE)
    rows = session.execute(query).all()
    found: list[int] = []
    left = TRIES_OF_A_SLICE
    for team_id, count in rows:
        if found and count > left:
            break
        found.append(team_id)
        left -= count
    return found, len(found) == len(rows) < TEAMS_OF_A_SLICE


def _put_right(session: Session, phase_task_id: int, teams: Collection[int]) -> list[Difference]:
    lock_task(session, phase_task_id)
    renew_all(session, [phase_task_id], only_outdated=True)
    differences = _check(session, phase_task_id, teams)
    for team_id in sorted({one.team_id for one in differences}):
        renew_team(session, phase_task_id, team_id, copies_anew=True)
    if differences:
        boards_changed(session, [phase_task_id])
    return differences


def _check(session: Session, phase_task_id: int, teams: Collection[int]) -> list[Difference]:
    boards = {one.board_id: one.rules for one in places_of(session, phase_task_id) if one.is_kept and one.rules}
    here = (Standing.phase_task_id == phase_task_id, Standing.team_id.in_(teams), Standing.board_id.in_(boards))
    kept = _by_team(row._mapping for row in session.execute(select(*Standing.__table__.columns).where(*here)))
    right = _by_team(rows_of(session, phase_task_id, boards, teams))
    miscounted = [
        Difference(phase_task_id, None, team, frozenset({(kept_runs,)}), frozenset({(runs,)}))
        for team, (kept_runs, runs) in sorted(wrong_tallies(session, phase_task_id, teams).items())
    ]
    return miscounted + [
        Difference(phase_task_id, *key, kept.get(key, frozenset()), right.get(key, frozenset()))
        for key in sorted(kept.keys() | right.keys())
        if kept.get(key) != right.get(key)
    ]


def _by_team(rows: Iterable[Mapping[Any, Any]]) -> dict[tuple[int, int], frozenset[Row]]:
    found: defaultdict[tuple[int, int], set[Row]] = defaultdict(set)
    for row in rows:
        found[row["board_id"], row["team_id"]].add(tuple(row[name] for name in _VALUES))
    return {key: frozenset(those) for key, those in found.items()}
