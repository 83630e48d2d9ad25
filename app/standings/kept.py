"""Stored standings for reading: all of a board, those of some teams, and places counted with an index.

Nothing here reads a run. Standings that were stored for earlier rules are ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, Select, and_, bindparam, func, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.competitions.visibility import rounded
from app.models import EntryRule, KeptBoard, Standing, System, Team
from app.standings.choose import BoardRows, Rules
from app.standings.entry import BoardEntry, stored_entries


def kept_entries(session: Session, rows: BoardRows, teams: Collection[int] | None = None) -> list[BoardEntry] | None:
    """Return the entries of these teams, or of all; None if none are stored, or only for other rules.

    A single query keeps rules and entries consistent.
    """
    if rows.rules.rule is EntryRule.ALL:  # where there is nothing to choose
        return None
    where = rows.here if teams is None else {**rows.here, "teams": teams}
    found = (
        session.connection().execute(_entries(of_gold=rows.gold is not None, of_teams=teams is not None), where).all()
    )
    if not found or found[0].rules != rows.rules.key:
        return None
    return stored_entries(row[1:] for row in found if row.team_id is not None)


def kept_values(session: Session, rows: BoardRows, teams: Collection[int] | None = None) -> dict[int, float]:
    """Return the ranking values of these teams, or of all, without teams whose value is undefined."""
    where = rows.here if teams is None else {**rows.here, "teams": teams}
    statement = _values(of_gold=rows.gold is not None, of_teams=teams is not None)
    return {team: value for team, value in session.connection().execute(statement, where)}


def count_values(session: Session, rows: BoardRows, value: float) -> tuple[int, int]:
    """Return how many teams have a better value, and how many have a value at all."""
    where = {**rows.here, "value": value}
    statement = _counts(of_gold=rows.gold is not None, is_higher=rows.rules.higher_is_better)
    better, every = session.connection().execute(statement, where).one()
    return better, every


def entries_around(
    session: Session, rows: BoardRows, value: float, number: int, without: Collection[int]
) -> list[BoardEntry]:
    """Return the entries with this value, and some above and below, including ties.

    number: how many above, and how many below; without: teams whose entries are left out.
    """
    place = {**rows.here, "value": value, "number": number, "without": without}
    return stored_entries(session.connection().execute(_around(of_gold=rows.gold is not None), place))


def value_of(entry: BoardEntry, rules: Rules) -> float | None:
    """Return the value by which an entry is ranked, rounded as for ranking; None if undefined."""
    if entry.ladder_value is not None:
        return rounded(entry.ladder_value, rules.decimals)
    score = (entry.scores or ())[rules.columns.index((rules.metric, rules.split))]
    return None if score is None else rounded(score[0], rules.decimals)


# ----------------------------------------------------------------------------------------------------------- statements
# Each is built once: building one takes longer than executing it.

_ENTRY = (
    Standing.team_id,
    Standing.run_id,
    Standing.entries,
    Standing.ladder_value,
    Team.name,
    Team.kind,
    System.name,
    Standing.facts,
)


def _is_of_gold(*, of_gold: bool) -> ColumnElement[bool]:
    return Standing.gold == bindparam("gold") if of_gold else Standing.is_whole.expression


def _place(*, of_gold: bool) -> ColumnElement[bool]:
    here = and_(Standing.phase_task_id == bindparam("phase_task"), Standing.board_id == bindparam("board"))
    return and_(here, _is_of_gold(of_gold=of_gold))


@cache
def _entries(*, of_gold: bool, of_teams: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the rules and entries of a board; a board without entries yields one row without a team."""
    here = and_(
        Standing.phase_task_id == KeptBoard.phase_task_id,
        Standing.board_id == KeptBoard.board_id,
        _is_of_gold(of_gold=of_gold),
    )
    here = and_(here, among(Standing.team_id, "teams")) if of_teams else here
    return (
        select(KeptBoard.rules, *_ENTRY)
        .outerjoin(Standing, here)
        .outerjoin(Team, Team.id == Standing.team_id)
        .outerjoin(System, System.id == Standing.system_id)
        .where(KeptBoard.phase_task_id == bindparam("phase_task"), KeptBoard.board_id == bindparam("board"))
    )


@cache
def _values(*, of_gold: bool, of_teams: bool) -> Select[*tuple[Any, ...]]:
    query = select(Standing.team_id, Standing.value).where(_place(of_gold=of_gold), Standing.value.is_not(None))
    return query.where(among(Standing.team_id, "teams")) if of_teams else query


@cache
def _counts(*, of_gold: bool, is_higher: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the numbers of better values and of all values, each a range of the index."""
    value, here = bindparam("value", type_=Float()), _place(of_gold=of_gold)
    is_better = Standing.value > value if is_higher else Standing.value < value
    better = select(func.count()).select_from(Standing).where(here, is_better)
    every = select(func.count()).select_from(Standing).where(here, Standing.value.is_not(None))
    return select(better.scalar_subquery(), every.scalar_subquery())


@cache
def _around(*, of_gold: bool) -> Select[*tuple[Any, ...]]:
    value, number = bindparam("value", type_=Float()), bindparam("number", type_=Integer())
    here = and_(_place(of_gold=of_gold), ~among(Standing.team_id, "without"))
    over = select(Standing.value).where(here, Standing.value > value).order_by(Standing.value).limit(number).subquery()
    under = select(Standing.value).where(here, Standing.value < value).order_by(Standing.value.desc()).limit(number)
    highest = select(func.max(over.c.value)).scalar_subquery()
    lowest = select(func.min(under.subquery().c.value)).scalar_subquery()
    return (
        select(*_ENTRY)
        .join(Team, Team.id == Standing.team_id)
        .outerjoin(System, System.id == Standing.system_id)
        .where(here, Standing.value.between(func.coalesce(lowest, value), func.coalesce(highest, value)))
    )
