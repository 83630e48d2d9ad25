"""Leaderboards as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import orjson
from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, Named, example
from app.base.text import spreadsheet_safe
from app.boards.rows import Cell, Leaderboard, LeaderboardRow, scored_with
from app.boards.snapshots import Official, Successor
from app.boards.views import CSV_FIELDS, EXAMPLE_COLUMN, EXAMPLE_ROW, ColumnOut, RowOut, StatisticsOut, row_document
from app.cards.views import CardColumnOut
from app.models import Board, Competition, EntryRule, Phase
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out
from evergold.scoring.halves import Half


class CommittedGoldOut(ApiModel):
    """A version of sealed gold. Once gold and salt are published, anybody can check that it was never exchanged."""

    version: int
    commitment: str = Field(description="sha256 of salt and gold; without the salt it reveals nothing")


class SuccessorOut(ApiModel):
    """The results that supersede an official board."""

    number: int | None = Field(description="of the next official board; null: the live board, while there is none")
    link: str
    page: str
    closes_at: Moment | None = Field(description="when the phase, which is open again, closes; null: never, or it has")
    newest: int | None = Field(description="the number of the last official board; null: there is no later one")


class OfficialOut(ApiModel):
    """The board as it was frozen: what came later never touches it."""

    number: int = Field(description="1, unless the phase was opened again and closed another time")
    closed_at: Moment = Field(description="the end of the phase")
    made_at: Moment
    note: str
    link: str = Field(description="this very one, for ever")
    superseded_by: SuccessorOut | None = Field(description="null: it is the last word")


class BoardOut(Named):
    """A leaderboard."""

    model_config = example(
        {
            "name": "zero-shot",
            "title": "Zero-shot",
            "description": "",
            "competition": "demo",
            "phase": "evaluation",
            "task": "idiom-detection",
            "track": None,
            "entry_rule": "best",
            "rank_by": 0,
            "columns": [EXAMPLE_COLUMN],
            "rows": [EXAMPLE_ROW],
            "card_columns": [{"name": "parameters", "title": "Parameters (millions)"}],
            "gold_version": "",
            "sealed_gold": [{"version": 1, "commitment": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"}],
            "task_versions": [1],
            "outdated_rows": 0,
            "part": None,
            "statistics": {"state": "current", "version": "2-1-17-8c1f20e3"},
            "visibility": EXAMPLE_VISIBILITY,
            "official": None,
            "version": "2-1-17-8c1f20e3",
            "page": "/competitions/demo/phases/evaluation/boards/zero-shot",
        }
    )

    description: str
    competition: str
    phase: str
    task: str
    track: str | None = Field(description="the only track that the board shows; null: all of them")
    entry_rule: EntryRule
    rank_by: int = Field(description="index of the ranking column")
    columns: list[ColumnOut]
    rows: list[RowOut] = Field(description="none while the board is hidden, see `visibility`")
    card_columns: list[CardColumnOut] = Field(description="the answers of method cards shown beside the scores")
    gold_version: str = Field(description="what the organisers call the gold that scores are from; may be empty")
    sealed_gold: list[CommittedGoldOut] = Field(description="its published versions, oldest first; none: not sealed")
    task_versions: list[int] = Field(description="of the task type that scored the rows; several: not all compare")
    outdated_rows: int = Field(
        description="the number of rows scored against another gold than the one in use, not rescored yet"
    )
    part: Half | None = Field(description="of the items, whose scores these are; null: items are not divided")
    statistics: StatisticsOut
    visibility: VisibilityOut
    official: OfficialOut | None = Field(description="the board as it was when its phase closed; null: there is none")
    version: str = Field(description="changes whenever the board does")
    page: str


def board_json(
    competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard, official: Official | None
) -> bytes:
    """Return a BoardOut as JSON.

    official: the latest official version if there is one, or the one that this board is. Rows are serialised without
    validation: for thousands of rows, validating each field takes longer than all the rest.
    """
    document = _without_rows(competition, phase, board, leaderboard, official).model_dump(mode="json")
    return orjson.dumps({**document, "rows": [row_document(row) for row in leaderboard.rows]}, option=orjson.OPT_UTC_Z)


def _without_rows(
    competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard, official: Official | None
) -> BoardOut:
    place = competition.name, phase.name, board.name
    return BoardOut(
        name=board.name,
        title=board.title,
        description=board.description,
        competition=competition.name,
        phase=phase.name,
        task=board.task.name,
        track=board.track,
        entry_rule=leaderboard.entry_rule,
        rank_by=leaderboard.rank_by,
        columns=[ColumnOut.model_validate(column) for column in leaderboard.columns],
        rows=[],
        card_columns=[CardColumnOut(name=one.name, title=one.title) for one in leaderboard.card_columns],
        gold_version=leaderboard.gold_version,
        sealed_gold=[
            CommittedGoldOut(version=gold.number, commitment=gold.commitment) for gold in leaderboard.sealed_gold
        ],
        task_versions=scored_with(leaderboard).task_versions,
        outdated_rows=scored_with(leaderboard).outdated,
        part=leaderboard.half,
        statistics=statistics_out(leaderboard),
        visibility=visibility_out(leaderboard.view),
        official=_official(place, official) if official else None,
        version=leaderboard.version,
        page=links.board(*place),
    )


def _official(place: tuple[str, str, str], official: Official) -> OfficialOut:
    snapshot = official.snapshot
    return OfficialOut(
        number=snapshot.number,
        closed_at=snapshot.closed_at,
        made_at=snapshot.made_at,
        note=snapshot.note,
        link=api_links.official(*place, snapshot.number),
        superseded_by=_successor(place, official.successor) if official.successor else None,
    )


def _successor(place: tuple[str, str, str], successor: Successor) -> SuccessorOut:
    number = successor.snapshot.number if successor.snapshot else None
    return SuccessorOut(
        number=number,
        link=api_links.official(*place, number) if number else api_links.board(*place),
        page=links.official(*place, number) if number else links.board(*place),
        closes_at=successor.closes_at,
        newest=successor.newest.number if successor.newest else None,
    )


def board_csv(leaderboard: Leaderboard, superseded_by: str = "") -> str:
    """Return the board as CSV, with the decimals of the JSON; undefined scores are empty (reasons are in the JSON).

    Optional columns: track if the competition has tracks; phase if entries are carried over; sealed gold version and
    commitment if gold is sealed; status and note if a row has one, and so the published rank; one for each method card
    answer on the board; with statistics, best and worst rank, cluster, and both ends of each score's interval (for
    scores with an interval in any row).
    superseded_by: address of the results that replace an official board, in an additional last column.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    rows, answers = leaderboard.rows, [column.name for column in leaderboard.card_columns]
    has_status, has_ranges = any(row.status for row in rows), any(row.rank_range for row in rows)
    is_there = {
        "track": leaderboard.has_tracks,
        "carried_from": any(row.carried_from for row in rows),
        **dict.fromkeys(("sealed_gold", "commitment"), bool(leaderboard.sealed_gold)),
        **dict.fromkeys(("status", "note"), has_status),
        "published_rank": any(row.published_rank for row in rows),
    }
    fields = [name for name in CSV_FIELDS if is_there.get(name, True)]
    scores = [f"{column.metric} {column.split}" for column in leaderboard.columns]
    sure = [at for at in range(len(scores)) if any(row.cells and row.cells[at].interval for row in rows)]
    ranges = ["rank_low", "rank_high", "cluster"] if has_ranges else []
    ends = [f"{scores[at]} {end}" for at in sure for end in ("low", "high")]
    later = ["superseded_by"] if superseded_by else []
    writer.writerow([*fields, *(f"card {name}" for name in answers), *scores, *ranges, *ends, *later])
    for row in rows:
        writer.writerow(
            [
                *(_csv_value(getattr(row, name)) for name in fields),
                *(_said(row, name) for name in answers),
                *(cell.value for cell in row.cells),
                *([*(row.rank_range or ("", "")), row.cluster] if ranges else []),
                *(end for at in sure for end in _ends(row.cells[at])),
                *([superseded_by] if superseded_by else []),
            ]
        )
    return text.getvalue()


def _csv_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return spreadsheet_safe(value) if isinstance(value, str) else value


def _ends(cell: Cell) -> tuple[float | None, float | None]:
    return (cell.interval.low, cell.interval.high) if cell.interval else (None, None)


def _said(row: LeaderboardRow, name: str) -> str:
    """Return a row's method card answer for a column; numbers stay numbers, also negative ones."""
    answer = row.answer(name)
    if answer is None:
        return ""
    return spreadsheet_safe(answer.text) if isinstance(answer.value, str) else answer.text


def statistics_out(leaderboard: Leaderboard) -> StatisticsOut:
    """Return a board's statistics as an API model."""
    has_ranges = any(row.rank_range for row in leaderboard.rows)
    return StatisticsOut(state=leaderboard.statistics, version=leaderboard.version if has_ranges else None)
