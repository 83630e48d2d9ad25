"""Standings are written where something changes them, in the same transaction, for the teams that it concerns.

The caller holds the task's row (`app.competitions.changed.boards_changed`, or as whoever ends a run does), so that two
never write the same standings. Which rules they were chosen by is kept beside them: where others hold now, the whole
board is chosen anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Table, Update, and_, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session, contains_eager

from app.models import Board, CompetitionTask, EntryRule, KeptBoard, Phase, PhaseTask, Standing, Submission, Team
from app.standings.choose import Rules, TeamStanding, Try, choose, not_set_aside, rules_of
from app.standings.facts import FACTS, with_facts
from app.standings.tallies import renew_tallies, renew_tally
from app.standings.tries import Bounds, choices_of, tries_of

#: So many teams are looked at together, one at least, with no more submissions than these: all are in memory then.
TEAMS_AT_A_TIME, SUBMISSIONS_AT_A_TIME = 100, 20_000
#: Hears how many teams, of how many, were seen to.
OnProgress = Callable[[int, int], None]


def nobody_waits(done: int, teams: int) -> None:
    """Where nobody is told how far it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """A board of a task in a phase. rules: None where the server does not know the task's type; kept: what its kept
    standings were chosen by, None where there are none."""

    board_id: int
    rules: Rules | None
    kept: str | None

    @property
    def is_kept(self) -> bool:
        """Whether what is kept holds."""
        return self.rules is not None and self.rules.key == self.kept


def renew_team(session: Session, phase_task_id: int, team_id: int, *, copies_anew: bool = False) -> None:
    """After anything that changes what a team stands with: one of its runs, a mark, a choice. copies_anew: what is
    copied of a run also where the team stands with the same one as before.

    Whoever asks may have learnt whose a run is before the team merged into another, which is renewed as well, then.
    """
    found = session.execute(_BOARDS_OF_TEAM, {"phase_task": phase_task_id, "team": team_id}).all()
    places = [_place(*row[:4]) for row in found]
    renew_places(session, phase_task_id, [one for one in places if not one.is_kept])
    kept = {one.board_id: one.rules for one in places if one.is_kept and one.rules}
    before = {(team_id, row.board_id): row.stood_with for row in found if not copies_anew}
    for whose in {team_id, *(row.merged_into for row in found)} - {None}:
        renew_tally(session, phase_task_id, whose)
        if kept:
            _replace(session, phase_task_id, whose, kept, before)


def renew_all(
    session: Session,
    phase_task_ids: Iterable[int],
    *,
    only_outdated: bool = False,
    on_progress: OnProgress = nobody_waits,
) -> None:
    """After anything that concerns many teams; only_outdated: what was chosen by the rules that hold stays."""
    for phase_task_id in sorted(phase_task_ids):
        if not only_outdated:
            renew_tallies(session, phase_task_id)
        places = places_of(session, phase_task_id)
        outdated = [one for one in places if not (only_outdated and one.is_kept)]
        renew_places(session, phase_task_id, outdated, on_progress)


def renew_places(
    session: Session, phase_task_id: int, places: Sequence[Place], on_progress: OnProgress = nobody_waits
) -> None:
    """All teams on these boards of one task, a few at a time."""
    if not places:
        return
    _forget(session, phase_task_id, [one.board_id for one in places])
    known = {one.board_id: one.rules for one in places if one.rules}
    if not known:
        return
    kept = [{"phase_task_id": phase_task_id, "board_id": board, "rules": rules.key} for board, rules in known.items()]
    session.execute(insert(KeptBoard), kept)
    submissions = submissions_by_team(session, phase_task_id)
    done = 0
    for teams in a_few_at_a_time(submissions):
        _insert(session, rows_of(session, phase_task_id, known, teams))
        done += len(teams)
        on_progress(done, len(submissions))


def forget_board(session: Session, board_id: int) -> None:
    """Keep nothing of a board any more, whatever it was of."""
    for table in (Standing, KeptBoard):
        session.execute(delete(table).where(table.board_id == board_id))


def _forget(session: Session, phase_task_id: int, board_ids: Collection[int]) -> None:
    for table in (Standing, KeptBoard):
        here = and_(table.phase_task_id == phase_task_id, table.board_id.in_(board_ids))
        session.execute(delete(table).where(here))


# ------------------------------------------------------------------------------------------------------ what is written


def places_of(session: Session, phase_task_id: int) -> list[Place]:
    """Every board of a task in a phase."""
    return [_place(*row) for row in session.execute(_BOARDS_OF_TASK, {"phase_task": phase_task_id})]


def _place(phase: Phase, phase_task: PhaseTask, board: Board, kept: str | None) -> Place:
    return Place(board.id, rules_of(phase, phase_task, board), kept)


#: Written once, as the end of every run asks this.
_BOARDS_OF_TASK = (
    select(Phase, PhaseTask, Board, KeptBoard.rules)
    .select_from(PhaseTask)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .join(Board, Board.task_id == PhaseTask.task_id)
    .join(CompetitionTask, CompetitionTask.id == Board.task_id)
    .outerjoin(KeptBoard, and_(KeptBoard.phase_task_id == PhaseTask.id, KeptBoard.board_id == Board.id))
    .where(PhaseTask.id == bindparam("phase_task"))
    .options(contains_eager(Board.task))
    .order_by(Board.id)
)
_SUCCESSOR = select(Team.merged_into_id).where(Team.id == bindparam("team")).scalar_subquery()
_STOOD_WITH = (
    select(func.max(Standing.run_id))
    .where(Standing.phase_task_id == PhaseTask.id, Standing.board_id == Board.id, Standing.is_whole)
    .where(Standing.team_id == bindparam("team"))
    .scalar_subquery()
)
_BOARDS_OF_TEAM = _BOARDS_OF_TASK.add_columns(
    _SUCCESSOR.label("merged_into"), Board.id.label("board_id"), _STOOD_WITH.label("stood_with")
)


def submissions_by_team(session: Session, phase_task_id: int) -> dict[int, int]:
    """How many whoever submitted to a task in a phase did."""
    query = select(Submission.team_id, func.count()).where(Submission.phase_task_id == phase_task_id)
    return {team_id: count for team_id, count in session.execute(query.group_by(Submission.team_id))}


def a_few_at_a_time(submissions: Mapping[int, int]) -> Iterator[list[int]]:
    """Teams in order, in parts whose tries fit into memory; submissions: how many each has."""
    teams: list[int] = []
    left = SUBMISSIONS_AT_A_TIME
    for team_id, count in sorted(submissions.items()):
        if teams and (len(teams) == TEAMS_AT_A_TIME or count > left):
            yield teams
            teams, left = [], SUBMISSIONS_AT_A_TIME
        teams.append(team_id)
        left -= count
    if teams:
        yield teams


def rows_of(
    session: Session, phase_task_id: int, boards: Mapping[int, Rules], teams: Collection[int]
) -> list[dict[str, Any]]:
    """The rows that these teams should have on these boards, from their runs."""
    return with_facts(session, boards, _chosen_rows(session, phase_task_id, boards, teams))


def _chosen_rows(
    session: Session, phase_task_id: int, boards: Mapping[int, Rules], teams: Collection[int]
) -> list[dict[str, Any]]:
    """The same, without what is copied of the runs that were chosen."""
    bounds = Bounds(teams=teams)
    # Where all stand, there is nothing to choose.
    wanted = [(board, rules) for board, rules in boards.items() if rules.rule is not EntryRule.ALL]
    if not wanted:
        return []
    choices = choices_of(session, phase_task_id, wanted, bounds)
    tries = tries_of(session, phase_task_id, {rules for _, rules in wanted}, bounds)
    return [
        {"phase_task_id": phase_task_id, "board_id": board, **row}
        for board, rules in wanted
        for row in _rows_on_board(tries[rules], rules, choices[board])
    ]


def _rows_on_board(tries: Sequence[Try], rules: Rules, choices: Mapping[int, UUID]) -> Iterator[dict[str, Any]]:
    by_team = groupby(sorted(not_set_aside(tries), key=attrgetter("team_id")), key=attrgetter("team_id"))
    for _, group in by_team:
        theirs = list(group)
        golds = sorted({one.gold for one in theirs})
        systems = {one.run_id: one.system_id for one in theirs}
        yield _row(choose(theirs, rules, choices), systems, golds[0] if len(golds) == 1 else None, is_whole=True)
        for gold in golds if len(golds) > 1 else []:
            yield _row(choose(theirs, rules, choices, gold), systems, gold, is_whole=False)


def _row(
    standings: Sequence[TeamStanding], systems: Mapping[int, int | None], gold: str | None, *, is_whole: bool
) -> dict[str, Any]:
    (one,) = standings
    return {
        "team_id": one.team_id,
        "is_whole": is_whole,
        "gold": gold,
        "run_id": one.run_id,
        "entries": one.entries,
        "ladder_value": one.ladder_value,
        "system_id": systems[one.run_id],
    }


def _replace(
    session: Session,
    phase_task_id: int,
    team_id: int,
    boards: Mapping[int, Rules],
    before: Mapping[tuple[int, int], int | None],
) -> None:
    """What follows from a team's runs, for what there was of it on these boards. before: the run that a team stood
    with, by team and board: most runs are none that their team stands with, and then nothing is to be copied anew."""
    rows = _chosen_rows(session, phase_task_id, boards, [team_id])
    whose = {"of_task": phase_task_id, "of_team": team_id} | _numbered(sorted(boards))
    is_whole = all(row["is_whole"] for row in rows)
    stays = is_whole and all(before.get((team_id, row["board_id"])) == row["run_id"] for row in rows)
    if stays and _are_updated(session, len(boards), whose, rows, _CHOSEN):
        return
    rows = with_facts(session, boards, rows)
    if is_whole and not stays and _are_updated(session, len(boards), whose, rows, (*_CHOSEN, FACTS)):
        return
    session.connection().execute(delete(_STANDINGS).where(_whose(len(boards))), whose)
    _insert(session, rows)


def _are_updated(
    session: Session,
    boards: int,
    whose: Mapping[str, int],
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, ...],
) -> bool:
    """Usually a team has a row on each board, and has one there again: one statement. False: it had others."""
    if not rows:
        return False
    new = [{"on_board": row["board_id"], **{f"new_{name}": row[name] for name in names}} for row in rows]
    parameters = [{**whose, "as_many": len(rows), **one} for one in new]
    return session.connection().execute(_updating(boards, names), parameters).rowcount == len(rows)


#: What may be another one in a row of a team on a board, where it stands with the same run as before.
_CHOSEN = ("gold", "run_id", "entries", "ladder_value", "system_id")
_STANDINGS = cast(Table, Standing.__table__)


def _numbered(boards: Sequence[int]) -> dict[str, int]:
    return {f"board_{number}": board for number, board in enumerate(boards)}


def _whose(boards: int) -> ColumnElement[bool]:
    """Of one team, on so many boards: `of_task`, `of_team`, `board_0` …"""
    one_of = or_(*(_STANDINGS.c.board_id == bindparam(name) for name in _numbered(range(boards))))
    of_team = _STANDINGS.c.team_id == bindparam("of_team")
    return and_(_STANDINGS.c.phase_task_id == bindparam("of_task"), of_team, one_of)


@lru_cache(maxsize=32)
def _updating(boards: int, names: tuple[str, ...]) -> Update:
    """Put together once, as the end of every run says this."""
    count = select(func.count()).select_from(_STANDINGS).where(_whose(boards)).scalar_subquery()
    is_one = and_(_STANDINGS.c.is_whole, _STANDINGS.c.board_id == bindparam("on_board"))
    changed = update(_STANDINGS).where(_whose(boards), is_one, count == bindparam("as_many"))
    return changed.values({name: bindparam(f"new_{name}") for name in names})


def _insert(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        session.execute(insert(Standing), rows)
