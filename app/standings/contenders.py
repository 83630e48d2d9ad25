"""Candidates that may be their teams' entries, selected by the database so that long histories are not read each time.

For each team they are: candidates with a mark; the first and the last of the others; the chosen one; and those that
look as good as the best, only the first of several with the same value. `app.standings.choose` chooses the same from
these as from all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Float, Select, String, and_, bindparam, case, func, or_, select
from sqlalchemy.orm import Session

from app.base.db import UtcDateTime, among, likely
from app.models import (
    EntryChoice,
    EntryRule,
    GoldVersion,
    RowMark,
    RowStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from app.standings.choose import Rules, Try, eligible
from app.standings.tries import RunFilter, gold_of_run, is_rankable
from evergold.scoring.task import NOT_ENTERED

#: Values that differ by less than this many rounding steps may look equal, because floats are not exact.
_WIDER = 1.01


class Contenders(NamedTuple):
    """Candidates of one team that may be its entry, in order of submission.

    entries: number of all its candidates that may count.
    gold: identity of their gold; None if there are several.
    """

    tries: Sequence[Try]
    entries: int
    gold: str | None


def needs_all_tries(rules: Rules) -> bool:
    """Return True if every candidate counts, or if the record depends on all of them."""
    return rules.rule is EntryRule.ALL or rules.is_ladder


def contenders_of(
    session: Session, phase_task_id: int, board_id: int, rules: Rules, bounds: RunFilter
) -> dict[int, Contenders]:
    """Return the contenders by team. bounds: names the teams, may have `until`; rules: must not need all candidates."""
    where: dict[str, Any] = {
        "of_task": phase_task_id,
        "of_board": board_id,
        "of_teams": bounds.teams or (),
        "metric": rules.metric,
        "split": rules.split,
        "sign": 1.0 if rules.higher_is_better else -1.0,
        "step": 0.0 if rules.decimals is None else _WIDER * 10.0**-rules.decimals,
    }
    where |= {} if rules.track is None else {"track": rules.track}
    where |= {} if bounds.until is None else {"until": bounds.until}
    session.flush()
    statement = _statement(has_track=rules.track is not None, has_end=bounds.until is not None)
    found: dict[int, list[Try]] = {}
    counted: dict[int, tuple[int, str, str]] = {}
    for (
        run_id,
        team_id,
        kind,
        submission_id,
        gold,
        status,
        is_late,
        system_id,
        value,
        *counts,
    ) in session.connection().execute(statement, where):
        mark = RowStatus(status) if status is not None else None
        one = Try(team_id, run_id, submission_id, kind == TeamKind.BASELINE, gold, value, mark, is_late, system_id)
        found.setdefault(team_id, []).append(one)
        counted[team_id] = tuple(counts)
    return {team: _of_team(tries, *counted[team]) for team, tries in found.items()}


def _of_team(tries: Sequence[Try], count: int, first_gold: str, last_gold: str) -> Contenders:
    """Return the contenders of a team.

    All candidates with a mark are among `tries`, so `count` minus their number can be entries.
    """
    aside = len(tries) - len(eligible(tries))
    return Contenders(tries, count - aside, first_gold if first_gold == last_gold else None)


@cache
def _statement(*, has_track: bool, has_end: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement that selects the contenders, built once because it is executed whenever a run ends.

    The query scans all candidates once to select some by their times, and reads the other columns only for these.
    """
    every = _tries(
        Submission.team_id,
        Submission.id.label("submission_id"),
        Submission.submitted_at,
        gold_of_run().label("gold"),
        RowMark.status,
        ScoreRow.value,
        has_track=has_track,
        has_end=has_end,
    ).cte("every")
    is_free = every.c.status.is_(None)
    of_team = (
        select(
            every.c.team_id,
            func.count().label("tries"),
            func.min(every.c.gold).label("first_gold"),
            func.max(every.c.gold).label("last_gold"),
            func.max(case((is_free, _SIGN * every.c.value))).label("best"),
            func.min(case((is_free, every.c.submitted_at))).label("first_at"),
            func.max(case((is_free, every.c.submitted_at))).label("last_at"),
        )
        .group_by(every.c.team_id)
        .cte("of_team")
    )
    # As good as the best, as it looks when rounded.
    step = bindparam("step", type_=Float()) * (1 + func.abs(of_team.c.best))
    is_near = _SIGN * every.c.value >= of_team.c.best - step
    chosen = select(EntryChoice.submission_id).where(
        EntryChoice.board_id == bindparam("of_board"), among(EntryChoice.team_id, "of_teams")
    )
    is_alone = or_(
        every.c.status.is_not(None),
        every.c.submitted_at.in_((of_team.c.first_at, of_team.c.last_at)),
        every.c.submission_id.in_(chosen),
    )
    # Of the others with one value the first, as no later one is ever chosen.
    picked = (
        select(every.c.team_id, func.min(every.c.submitted_at).label("submitted_at"))
        .join(of_team, of_team.c.team_id == every.c.team_id)
        .where(or_(is_alone, is_near))
        .group_by(every.c.team_id, every.c.value, case((is_alone, every.c.submission_id)))
        .distinct()
        .subquery("picked")
    )
    columns = (
        ScoringRun.id,
        Submission.team_id,
        Team.kind,
        Submission.id,
        gold_of_run(),
        RowMark.status,
        Submission.is_late,
        Submission.system_id,
        ScoreRow.value,
        of_team.c.tries,
        of_team.c.first_gold,
        of_team.c.last_gold,
    )
    is_picked = and_(picked.c.team_id == Submission.team_id, picked.c.submitted_at == Submission.submitted_at)
    return (
        _tries(*columns, has_track=has_track, has_end=has_end)
        .join(picked, is_picked)
        .join(of_team, of_team.c.team_id == Submission.team_id)
        .order_by(Submission.submitted_at, ScoringRun.id)
    )


_SIGN = bindparam("sign", type_=Float())


def _tries(*columns: Any, has_track: bool, has_end: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for all candidates of the teams."""
    is_ranking = and_(ScoreRow.metric == bindparam("metric"), ScoreRow.split == bindparam("split"))
    query = (
        select(*columns)
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .outerjoin(RowMark, RowMark.submission_id == Submission.id)
        .outerjoin(ScoreRow, and_(ScoreRow.run_id == ScoringRun.id, is_ranking))
        .where(ScoringRun.is_current, is_rankable(), likely(Submission.phase_task_id == bindparam("of_task")))
        .where(among(Submission.team_id, "of_teams"))
        .where(or_(ScoreRow.reason.is_(None), ScoreRow.reason != NOT_ENTERED))
    )
    if has_track:
        is_for_all = and_(Submission.track.is_(None), Team.kind == TeamKind.BASELINE)
        query = query.where(or_(Submission.track == bindparam("track", type_=String()), is_for_all))
    if has_end:
        query = query.where(Submission.submitted_at < bindparam("until", type_=UtcDateTime()))
    return query
