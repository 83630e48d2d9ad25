"""Boards and their published results, which come only from phases.yaml and are replaced as they change there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import delete, insert, select

from app.declarations.apply.changes import Work
from app.declarations.check import LoadedCompetition
from app.declarations.historic import Published, offered_scores
from app.declarations.model import BoardDeclaration, CompetitionDeclaration
from app.models import PUBLISHED_RANK, Board, CompetitionTask, HistoricRow, Phase, PhaseTask
from app.standings.renew import forget_board


def apply_boards(
    work: Work,
    loaded: LoadedCompetition,
    tasks: Mapping[str, CompetitionTask],
    phases: Mapping[str, Phase],
    phase_tasks: Mapping[tuple[str, str], PhaseTask],
) -> set[int]:
    """Apply every declared board with its published results; return the phase tasks whose boards changed."""
    declared = loaded.declaration
    competition_id = next(iter(tasks.values())).competition_id
    query = select(Board).where(Board.competition_id == competition_id)
    existing = {row.name: row for row in work.session.scalars(query)}
    stale: set[int] = set()
    for position, board in enumerate(declared.boards):
        what = f"board '{board.name}' of '{declared.name}'"
        values = {**_board_values(declared, board), "task_id": tasks[board.task].id, "position": position}
        row = existing.get(board.name)
        shown_in = {phase: row.id for (phase, task), row in phase_tasks.items() if task == board.task}
        if row is None:
            row = Board(competition_id=competition_id, name=board.name, **values)
            work.session.add(row)
            work.session.flush()
            work.changes.add(f"added {what}")
            stale |= set(shown_in.values())
        elif changed := work.changes.update(row, what, values):
            stale |= set(shown_in.values())
            if "task_id" in changed:  # earlier entries belonged to another task
                forget_board(work.session, row.id)
        ids = {phases[name].id: name for name in shown_in}
        stale |= {shown_in[ids[phase_id]] for phase_id in _apply_historic(work, loaded, board, row, ids)}
    return stale


def _board_values(declared: CompetitionDeclaration, board: BoardDeclaration) -> dict[str, Any]:
    _, offered = offered_scores(declared, board.task)
    titles = {(column.metric, column.split): column.title for column in offered}
    rank = board.rank_by or board.columns[0]
    columns = [
        {**column.model_dump(), "title": column.title or titles[column.metric, column.split]}
        for column in board.columns
    ]
    return {
        "title": board.title,
        "description": board.description,
        "rank_metric": rank.metric,
        "rank_split": rank.split,
        "columns": columns,
        "track": board.track,
    }


def _apply_historic(
    work: Work, loaded: LoadedCompetition, board: BoardDeclaration, row: Board, phases: Mapping[int, str]
) -> list[int]:
    """Replace all published results of a phase if they differ from the files.

    phases: names, by id, of the phases that show the board. Returns the ids of those whose rows changed.
    """
    wanted: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    ids = {name: phase_id for phase_id, name in phases.items()}
    for historic, results in zip(board.historic, loaded.published[board.name], strict=True):
        wanted[ids[historic.phase]] += [{**_values(result), "source": historic.source} for result in results]
    present: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    columns = [getattr(HistoricRow, name) for name in _HISTORIC_COLUMNS]
    query = select(HistoricRow.phase_id, *columns).where(
        HistoricRow.board_id == row.id, HistoricRow.phase_id.in_(phases)
    )
    for phase_id, *values in work.session.execute(query.order_by(HistoricRow.id)):
        present[phase_id].append(dict(zip(_HISTORIC_COLUMNS, values, strict=True)))
    changed = [phase_id for phase_id in phases if wanted[phase_id] != present[phase_id]]
    for phase_id in changed:
        here = (HistoricRow.board_id == row.id, HistoricRow.phase_id == phase_id)
        work.session.execute(delete(HistoricRow).where(*here))
        rows = [{"board_id": row.id, "phase_id": phase_id, **values} for values in wanted[phase_id]]
        if rows:
            work.session.execute(insert(HistoricRow), rows)
        where = f"of board '{board.name}' in phase '{phases[phase_id]}' of '{loaded.declaration.name}'"
        work.changes.add(f"published results {where}: {len(wanted[phase_id])}, before {len(present[phase_id])}")
    return changed


def _values(result: Published) -> dict[str, Any]:
    """Return the columns of the table; a published rank is stored among the scores, see `HistoricRow`."""
    values = {field.name: getattr(result, field.name) for field in fields(Published) if field.name != PUBLISHED_RANK}
    return values if result.rank is None else values | {"scores": {**result.scores, PUBLISHED_RANK: result.rank}}


_HISTORIC_COLUMNS = (*(field.name for field in fields(Published) if field.name != PUBLISHED_RANK), "source")
