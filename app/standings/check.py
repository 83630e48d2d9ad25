"""Comparison of the cached standings with those that follow from the runs; differences are repaired.

There should never be any: every difference is a bug of ours and is reported as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnExpressionArgument, Select, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.competitions.changed import boards_changed
from app.models import (
    EntryChoice,
    EntryRule,
    KeptBoard,
    Phase,
    PhaseTask,
    Standing,
    Submission,
    System,
    Tally,
    Team,
    TeamKind,
)
from app.standings.choose import Rules
from app.standings.entry import AnyStanding, BoardEntry, stored_entries
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

#: With more active teams than this, recompute all: the number of query parameters is limited.
TEAMS_AT_MOST = 500
#: With more candidates than this a page would wait for seconds, so past standings are not computed.
TRIES_AT_MOST = 5000


class TooFarBack(EvergoldError):
    """The board at that moment is not stored, and recomputing it would read too many runs."""

    status = 409
    code = "too_far_back"


@dataclass(frozen=True, slots=True)
class Past:
    """A board as it was at some moment.

    still: standings that have not changed since.
    since: teams with activity since then, whose candidates must be read; None for all teams.
    """

    still: Sequence[BoardEntry]
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
) -> list[BoardEntry] | None:
    """Return the cached standings, None if there are none or their rules differ. One query keeps both consistent."""
    place = {"phase_task": phase_task_id, "board": board_id}
    if gold is None:
        rows = session.connection().execute(_WHOLE, place).all()
    else:
        rows = session.connection().execute(_OF_ONE_GOLD, {**place, "gold": gold}).all()
    if not rows or rows[0].rules != rules.key:
        return None
    return stored_entries(row[1:] for row in rows if row.team_id is not None)


def _of(
    whose: ColumnExpressionArgument[bool],
) -> Select[str, int, int, int, float | None, str, TeamKind, str | None, str]:
    """Select the rules and standings of a cached board; a board without standings yields one row without a team."""
    here = and_(Standing.phase_task_id == KeptBoard.phase_task_id, Standing.board_id == KeptBoard.board_id, whose)
    standing = Standing.team_id, Standing.run_id, Standing.entries, Standing.ladder_value
    return (
        select(KeptBoard.rules, *standing, Team.name, Team.kind, System.name, Standing.facts)
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


#: Start of the sweep, before all teams.
START = 0
#: Limits of one slice of the sweep: teams, and candidates (scored runs) of these teams.
TEAMS_OF_A_SLICE, TRIES_OF_A_SLICE = 20, 2000
_VALUES = ("is_whole", "gold", "run_id", "entries", "ladder_value", "system_id", "facts")

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A team whose cached standing on a board is not what follows from its runs.

    board_id: None if it is the team's run count that differs.
    kept, right: the cached rows, and the correct ones.
    """

    phase_task_id: int
    board_id: int | None
    team_id: int
    kept: frozenset[Row]
    right: frozenset[Row]


def check_task(session: Session, phase_task_id: int, on_progress: OnProgress = nobody_waits) -> list[Difference]:
    """Compare all boards of a task in a phase. The caller locks the task's row, or reads an idle database."""
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

    Boards that are not cached yet, or were chosen by other rules, are recomputed on the way.
    """
    teams, is_end = _next_teams(session, after)
    sent = select(Submission.phase_task_id, Submission.team_id).where(Submission.team_id.in_(teams)).distinct()
    by_task: defaultdict[int, list[int]] = defaultdict(list)
    for phase_task_id, team_id in session.execute(sent):
        by_task[phase_task_id].append(team_id)
    differences = [one for task in sorted(by_task) for one in _put_right(session, task, by_task[task])]
    return differences, START if is_end else teams[-1]


def _next_teams(session: Session, after: int) -> tuple[list[int], bool]:
    """Return the next team ids in order (at least one, if there is any), and True if none are left after them."""
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
