"""A board's entries as rows, for the runs chosen by `app.standings`: scores, cards, human scores, the public part.

Rows are unfiltered; `app.boards.view` has the access rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.boards.marks import Mark, Marks, marks_of
from app.boards.rows import CardColumn, Cell, LeaderboardRow
from app.boards.view import UnfilteredBoard
from app.cards.edits import card_documents
from app.cards.form import CardForm, MethodCard, card_form, card_of
from app.competitions.columns import HUMAN_SCORE, BoardColumn
from app.models import (
    Board,
    CardVersion,
    Competition,
    JudgingRound,
    Phase,
    PhaseTask,
    ScoreRow,
    Standing,
    TeamKind,
)
from app.runs.private_scores import private_scores
from app.standings.choose import SET_ASIDE, Rules
from app.standings.entry import AnyStanding, BoardEntry, KeptScore, with_facts
from evergold.scoring.halves import Half
from evergold.scoring.task import Metric


def with_cards(
    session: Session, competition: Competition, board: Board, phase_task_ids: Collection[int], whole: UnfilteredBoard
) -> UnfilteredBoard:
    """Return the board with the method cards of its rows; a card's method replaces the one submitted with the file.

    phase_task_ids: where its rows come from.
    """
    form = card_form(competition.method_card)
    kept = _documents(session, board, phase_task_ids, whole)
    return replace(
        whole,
        rows=tuple(_with_card(row, kept, form) for row in whole.rows) if kept else whole.rows,
        card_columns=tuple(CardColumn(field.name, field.title) for field in form.fields if field.on_board),
    )


def _documents(
    session: Session, board: Board, phase_task_ids: Collection[int], whole: UnfilteredBoard
) -> dict[UUID, Mapping[str, Any]]:
    """Return the cards by submission.

    A card belongs to a system: an entry's standing names its system; other rows have that of their submission.
    """
    runs = {row.run_id: row.submission_id for row in whole.rows if row.submission_id and row.system}
    if not runs:
        return {}
    place = {"board": board.id, "phase_tasks": sorted(phase_task_ids)}
    standing = {run: document for run, document in session.connection().execute(_OF_STANDINGS, place)}
    found = card_documents(session, [submission for run, submission in runs.items() if run not in standing])
    return found | {runs[run]: document for run, document in standing.items() if run in runs and document is not None}


#: The system of a run never changes once declared, so a standing's system is right even if its rules are outdated.
_OF_STANDINGS = (
    select(Standing.run_id, CardVersion.document)
    .outerjoin(CardVersion, and_(CardVersion.system_id == Standing.system_id, CardVersion.is_current))
    .where(
        Standing.phase_task_id.in_(bindparam("phase_tasks", expanding=True)),
        Standing.board_id == bindparam("board"),
        Standing.system_id.is_not(None),
    )
)


def _with_card(row: LeaderboardRow, kept: Mapping[UUID, Mapping[str, Any]], form: CardForm) -> LeaderboardRow:
    """Return the row with its card. Most rows need no change: they have only the method submitted with the file."""
    document = kept.get(row.submission_id) if row.submission_id else None
    if document is None:
        return row
    card = card_of(document, form)
    return row._replace(method=card.method, card=card)


METRIC = Metric(
    HUMAN_SCORE,
    "Human score",
    "Mean over the judged items and annotators of (2a + b + c) / 12, where a, b, c are marks from 0 to 3 for the sense "
    "of the expression, the sense of the rest, and naturalness; 0 where the expression is still there.",
    percent=True,
)
_OTHER_JUDGED, _HISTORIC = "this submission was not judged", "not published"


def with_human_scores(session: Session, phase: Phase, board: Board, whole: UnfilteredBoard) -> UnfilteredBoard:
    """Return the board with a last column of human scores in its language, or of their mean, if there are any."""
    judging = published_round(session, phase, board)
    if judging is None or judging.results is None or board.rank_split not in judging.results["signatures"]:
        return whole
    document, split = judging.results, board.rank_split
    column = BoardColumn(
        metric=METRIC.name,
        split=split,
        title=METRIC.title,
        decimals=2,
        percent=METRIC.percent,
        higher_is_better=METRIC.higher_is_better,
        description=METRIC.description,
        metric_title=METRIC.title,
    )
    rows = tuple(row._replace(cells=(*row.cells, _cell(row, document, split))) for row in whole.rows)
    return replace(whole, columns=(*whole.columns, column), rows=rows)


def _cell(row: LeaderboardRow, document: Mapping[str, Any], split: str) -> Cell:
    if row.kind == "historic":
        return Cell(None, _HISTORIC, None)
    score = document["scores"].get(str(row.submission_id), {}).get(split)
    if score is None:
        return Cell(None, _OTHER_JUDGED, None)
    return Cell(score["value"], score["reason"], document["signatures"][split])


def published_round(session: Session, phase: Phase, board: Board) -> JudgingRound | None:
    """Return the round on this board's task in this phase that was published last; None if there is none."""
    return session.scalar(_PUBLISHED, {"phase": phase.id, "task": board.task_id})


_PUBLISHED = (
    select(JudgingRound)
    .join(PhaseTask, PhaseTask.id == JudgingRound.phase_task_id)
    .where(
        PhaseTask.phase_id == bindparam("phase"),
        PhaseTask.task_id == bindparam("task"),
        JudgingRound.published_at.is_not(None),
    )
    .order_by(JudgingRound.published_at.desc(), JudgingRound.id.desc())
    .limit(1)
)


NOT_COMPUTED = Cell(None, "not computed", None)


def rows_of(
    session: Session,
    phase_task: PhaseTask,
    standings: Sequence[AnyStanding],
    columns: Sequence[BoardColumn],
    rules: Rules,
    gold: str | None,
    half: Half | None = None,
) -> list[LeaderboardRow]:
    """Return the rows of the board's entries, without ranks, in order of submission.

    rules: by which they were chosen.
    gold: the version in use; runs scored with another one are outdated.
    half: the part of divided items whose scores are needed.
    """
    marks, ranked = marks_of(session, phase_task), frozenset(phase_task.ranked_baselines)
    rank_by = [(column.metric, column.split) for column in columns].index((rules.metric, rules.split))
    card = cache(MethodCard)  # equal methods share an object
    entries = with_facts(session, standings)
    cells = _cells_by_run(session, entries, columns, rules, half)
    return [
        _with_marks(
            LeaderboardRow(
                rank=None,
                team=entry.team,
                kind="baseline" if entry.kind == TeamKind.BASELINE else "team",
                cells=_with_ladder_value(cells[entry.run_id], rank_by, entry),
                achieved_at=entry.submitted_at,
                method=entry.method,
                card=card(entry.method),
                system=entry.system or "",
                entries=entry.entries,
                track=entry.track,
                submission_id=entry.submission_id,
                run_id=entry.run_id,
                team_id=entry.team_id,
                commitment=entry.commitment,
                task_version=entry.task_version,
                is_outdated=gold is not None and entry.gold != gold,
                is_ranked=entry.team_id in ranked,
            ),
            marks,
        )
        for entry in entries
    ]


def _cells_by_run(
    session: Session,
    entries: Sequence[BoardEntry],
    columns: Sequence[BoardColumn],
    rules: Rules,
    half: Half | None,
) -> Mapping[int, tuple[Cell, ...]]:
    """Return the cells of each run: from its cached scores, or else from the tables of scores."""
    wanted = [(column.metric, column.split) for column in columns]
    if half is Half.PRIVATE or not set(wanted) <= set(rules.columns):
        return cells_of(session, [entry.run_id for entry in entries], columns, half)
    places = [rules.columns.index(column) for column in wanted]
    cells = {entry.run_id: _kept_cells(entry.scores, places) for entry in entries if entry.scores is not None}
    others = [entry.run_id for entry in entries if entry.scores is None]
    found = cells_of(session, others, columns) if others else {}
    return cells | {run_id: found[run_id] for run_id in others}


def _kept_cells(scores: Sequence[KeptScore | None], places: Sequence[int]) -> tuple[Cell, ...]:
    kept = [scores[place] for place in places]
    return tuple([NOT_COMPUTED if score is None else Cell(*score) for score in kept])


def _with_ladder_value(cells: tuple[Cell, ...], rank_by: int, entry: BoardEntry) -> tuple[Cell, ...]:
    """Return the cells with the ranking score replaced by the one that a Ladder reports."""
    if entry.ladder_value is None:
        return cells
    return (*cells[:rank_by], cells[rank_by]._replace(value=entry.ladder_value), *cells[rank_by + 1 :])


def cells_of(
    session: Session, runs: Sequence[int], columns: Sequence[BoardColumn], half: Half | None = None
) -> Mapping[int, tuple[Cell, ...]]:
    """Return all cells of these runs, by run. half: the part of divided items."""
    places = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = (NOT_COMPUTED,) * len(columns)
    found: defaultdict[int, list[Cell]] = defaultdict(lambda: list(empty))
    if half is Half.PRIVATE:
        scores: Iterable[Sequence[Any]] = ((run_id, *astuple(score)) for run_id, score in private_scores(session, runs))
    else:
        wanted = {"metrics": sorted({metric for metric, _ in places}), "splits": sorted({split for _, split in places})}
        scores = session.connection().execute(_SCORES, {**wanted, "runs": runs}).all()
    for run_id, metric, split, *cell in scores:
        place = places.get((metric, split))
        if place is not None:
            found[run_id][place] = Cell(*cell)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})


_SCORES = select(
    ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature
).where(
    ScoreRow.metric.in_(bindparam("metrics", expanding=True)),
    ScoreRow.split.in_(bindparam("splits", expanding=True)),
    among(ScoreRow.run_id, "runs"),
)


# --------------------------------------------------------------------------------------------------------------- marks


def _with_marks(row: LeaderboardRow, marks: Marks) -> LeaderboardRow:
    """Return the row with the mark of the submission, or that of its team if it is stricter."""
    if not marks.teams and not marks.submissions:
        return row
    row = _marked(row, marks.submissions.get(row.submission_id) if row.submission_id else None)
    return _marked(row, stricter_mark(marks.teams.get(row.team_id or 0), row))


def stricter_mark(mark: Mark | None, row: LeaderboardRow) -> Mark | None:
    """Return the team's mark unless the row's own is stricter."""
    return mark if mark and SET_ASIDE.get(mark.status, 0) >= SET_ASIDE.get(row.status, 0) else None


def apply_team_marks(rows: Sequence[LeaderboardRow], marks: Marks) -> list[LeaderboardRow]:
    """Return carried-over rows with the team marks of the phase that shows them."""
    return [_marked(row, stricter_mark(marks.teams.get(row.team_id or 0), row)) for row in rows]


def _marked(row: LeaderboardRow, mark: Mark | None) -> LeaderboardRow:
    return row._replace(status=mark.status, note=mark.note) if mark else row


#: Prefix of the split of such a column, since it is not a score of the task type.
PUBLIC = "public/"
_NONE = Cell(None, "not published", None)


def with_public_part(session: Session, whole: UnfilteredBoard) -> UnfilteredBoard:
    """Return the board with a column for the public part of the items."""
    column = whole.columns[whole.rank_by]
    cells = cells_of(session, [row.run_id for row in whole.rows if row.run_id is not None], [column])
    title = f"Public: {column.title}"
    rows = tuple(
        row._replace(cells=(*row.cells, cells[row.run_id][0] if row.run_id is not None else _NONE))
        for row in whole.rows
    )
    shown = replace(column, split=PUBLIC + column.split, title=title)
    return replace(whole, columns=(*whole.columns, shown), rows=rows)
