"""Standings from the table, as long as they were chosen by the rules that hold now; and until some moment of the past,
where only those teams are walked through that did something since."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnExpressionArgument, Select, and_, bindparam, select
from sqlalchemy.orm import Session

from app.models import EntryChoice, EntryRule, KeptBoard, Standing, Submission
from app.standings.choose import Rules, TeamStanding
from app.standings.tries import EVERYTHING, Bounds, standings_from_runs

#: Where more teams than this did something since, all are walked through: a query takes only so many parameters.
TEAMS_AT_MOST = 500


def standings_of(
    session: Session,
    phase_task_id: int,
    board_id: int,
    rules: Rules,
    gold: str | None = None,
    bounds: Bounds = EVERYTHING,
) -> list[TeamStanding]:
    """Who stands with what on a board of a phase, all teams; gold: only what was scored against it."""
    kept = None
    # On a board of all entries there is nothing to choose.
    if bounds.rescoring is None and rules.rule is not EntryRule.ALL:
        kept = _kept(session, phase_task_id, board_id, rules, gold)
    if kept is None:
        return standings_from_runs(session, phase_task_id, board_id, rules, gold, bounds)
    if bounds.until is None:
        return kept
    since = _teams_since(session, phase_task_id, board_id, bounds.until)
    if len(since) > TEAMS_AT_MOST:
        return standings_from_runs(session, phase_task_id, board_id, rules, gold, bounds)
    again = Bounds(teams=since, until=bounds.until)
    still = [one for one in kept if one.team_id not in since]
    return still + standings_from_runs(session, phase_task_id, board_id, rules, gold, again) if since else still


def _kept(
    session: Session, phase_task_id: int, board_id: int, rules: Rules, gold: str | None
) -> list[TeamStanding] | None:
    """None where they are not kept, or were chosen by other rules: told by one query, so that nothing comes between."""
    place = {"phase_task": phase_task_id, "board": board_id}
    if gold is None:
        rows = session.execute(_WHOLE, place).all()
    else:
        rows = session.execute(_OF_ONE_GOLD, {**place, "gold": gold}).all()
    if not rows or rows[0].rules != rules.key:
        return None
    return [TeamStanding(*row[1:]) for row in rows if row.team_id is not None]


def _of(whose: ColumnExpressionArgument[bool]) -> Select[str, int, int, int, float | None]:
    """Of a board, with the rules that its standings were chosen by; one row without a team where nobody stands."""
    here = and_(Standing.phase_task_id == KeptBoard.phase_task_id, Standing.board_id == KeptBoard.board_id, whose)
    return (
        select(KeptBoard.rules, Standing.team_id, Standing.run_id, Standing.entries, Standing.ladder_value)
        .outerjoin(Standing, here)
        .where(KeptBoard.phase_task_id == bindparam("phase_task"), KeptBoard.board_id == bindparam("board"))
    )


#: Written once, as every board asks this.
_WHOLE, _OF_ONE_GOLD = _of(Standing.is_whole), _of(Standing.gold == bindparam("gold"))


def _teams_since(session: Session, phase_task_id: int, board_id: int, moment: datetime) -> set[int]:
    """Those of whom it was otherwise before: who submitted or chose since then."""
    submitted = select(Submission.team_id).where(
        Submission.phase_task_id == phase_task_id, Submission.submitted_at >= moment
    )
    chose = select(EntryChoice.team_id).where(
        EntryChoice.phase_task_id == phase_task_id, EntryChoice.board_id == board_id, EntryChoice.chosen_at >= moment
    )
    return set(session.scalars(submitted.union(chose)))
