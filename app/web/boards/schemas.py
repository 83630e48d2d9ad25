"""Leaderboards as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from pydantic import Field, TypeAdapter

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, Named, example
from app.base.text import spreadsheet_safe
from app.boards.leaderboard import Cell, Leaderboard, LeaderboardRow, RowKind
from app.boards.rows import StatisticsState, scored_with
from app.boards.snapshots import Official, Successor
from app.competitions.columns import BoardColumn
from app.models import Board, Competition, EntryRule, Phase, RowStatus
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out
from app.web.submissions.card_schemas import CARD_EXAMPLE, CardColumnOut, CardOut
from app.web.submissions.standing_schemas import IntervalOut
from evergold.scoring.halves import Half

EXAMPLE_COLUMN: dict[str, Any] = {
    "metric": "macro_f1",
    "split": "zero_shot/all",
    "title": "All",
    "decimals": 4,
    "percent": False,
    "higher_is_better": True,
    "description": "Mean over the labels of F1.",
    "out_of": None,
}
EXAMPLE_ROW: dict[str, Any] = {
    "rank": 1,
    "team": "Ada Lovelace",
    "kind": "team",
    "cells": [
        {
            "value": 0.7037,
            "reason": None,
            "signature": "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1",
            "interval": {
                "low": 0.6791,
                "high": 0.7272,
                "level": 0.95,
                "method": "jackknife-logit-t:1|units:item,2342",
            },
        }
    ],
    "achieved_at": "2026-01-11T09:00:00Z",
    "system": "XLM-R large",
    "method": "XLM-R large",
    "card": CARD_EXAMPLE,
    "status": None,
    "note": "",
    "entries": 3,
    "track": None,
    "source": None,
    "submission": None,
    "is_mine": False,
    "carried_from": None,
    "is_outdated": False,
    "sealed_gold": 1,
    "rank_range": {"best": 1, "worst": 2},
    "cluster": 1,
}


class ColumnOut(ApiModel):
    """A column: which score it shows, and how a page would round it (values here have the digits of the
    phase, see `visibility.precision`)."""

    metric: str
    split: str
    title: str
    decimals: int
    percent: bool = Field(description="pages show the value times 100")
    higher_is_better: bool
    description: str
    out_of: int | None = Field(None, description="the most there can be, of a number that pages show as `9/14`")


class CellOut(ApiModel):
    """A value, or null with the reason; published results of old have no signature."""

    value: float | None
    reason: str | None
    signature: str | None
    interval: IntervalOut | None = Field(
        None, description="null: none is kept, or shown here, or the score does not depend on which items there are"
    )


class RankRangeOut(ApiModel):
    """The best rank is 1 + the teams that are significantly better, the worst their number - those that are worse."""

    best: int
    worst: int


class StatisticsOut(ApiModel):
    """The state of intervals, rank ranges and clusters, and the board version they belong to."""

    state: StatisticsState = Field(
        description="`current`: they belong to these very rows; `pending`: a row is new, ranges and clusters are being "
        "computed; `withheld`: they would reveal more than the board (hidden digits, a Ladder, hidden gold of an open "
        "phase); `none`"
    )
    version: str | None = Field(description="of the board that ranges and clusters belong to; null: there are none")


class RowOut(ApiModel):
    """rank: null for published results, baselines without a rank, teams whose ranking score is undefined, and rows
    with a status."""

    rank: int | None
    team: str = Field(description="a neutral name while names are hidden")
    kind: RowKind = Field(description="historic: a result published elsewhere, see `source`")
    cells: list[CellOut] = Field(description="one for each column, in their order")
    achieved_at: Moment | None
    system: str = Field(description="what its team calls it; empty where it has no name, or is not shown")
    method: str
    card: CardOut | None = Field(description="the method card of its system; null: not shown here")
    status: RowStatus | None = Field(
        description="set by the organisers: `unranked`, `disqualified` (scores are withheld), or `hidden` (from all "
        "but its team and organisers)"
    )
    note: str = Field(description="why it has a status; stands as a footnote below the board")
    entries: int | None = Field(description="how many scored submissions the team has here; null: not shown")
    track: str | None = Field(description="null where the competition has no tracks")
    source: str | None
    submission: UUID | None = Field(description="for your own rows, and for organisers")
    is_mine: bool
    carried_from: str | None = Field(description="the phase that this entry was carried over from; null: this one")
    is_outdated: bool = Field(description="scored against another gold than the one in use")
    sealed_gold: int | None = Field(description="the version of sealed gold that it was scored against")
    rank_range: RankRangeOut | None = Field(
        None, description="the range of ranks consistent with the data; null: see `statistics` of the board"
    )
    cluster: int | None = Field(
        None, description="from 1 at the top: everybody in it is significantly better than everybody in those below"
    )


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
    versions = sealed_numbers(leaderboard)
    document = _without_rows(competition, phase, board, leaderboard, official).model_dump(mode="json")
    return orjson.dumps(
        {**document, "rows": [_row(row, versions) for row in leaderboard.rows]}, option=orjson.OPT_UTC_Z
    )


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
        columns=[column_out(column) for column in leaderboard.columns],
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
    commitment if gold is sealed; status and note if a row has one; one for each method card answer on the board; with
    statistics, best and worst rank, cluster, and both ends of each score's interval (for scores with an interval in any
    row).
    superseded_by: address of the results that replace an official board, in an additional last column.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    scores = [f"{column.metric} {column.split}" for column in leaderboard.columns]
    track = ["track"] if leaderboard.has_tracks else []
    carries = any(row.carried_from for row in leaderboard.rows)
    phase = ["carried_from"] if carries else []
    versions = sealed_numbers(leaderboard)
    gold = ["sealed_gold", "commitment"] if versions else []
    status = ["status", "note"] if any(row.status for row in leaderboard.rows) else []
    cards = [f"card {column.name}" for column in leaderboard.card_columns]
    ranges = ["rank_low", "rank_high", "cluster"] if any(row.rank_range for row in leaderboard.rows) else []
    sure = [at for at in range(len(scores)) if any(row.cells and row.cells[at].interval for row in leaderboard.rows)]
    ends = [f"{scores[at]} {end}" for at in sure for end in ("low", "high")]
    start = ["rank", "team", "kind", "achieved_at", *track, *phase, *gold, *status]
    later = ["superseded_by"] if superseded_by else []
    writer.writerow([*start, "method", "entries", "source", *cards, *scores, *ranges, *ends, *later])
    for row in leaderboard.rows:
        writer.writerow(
            [
                row.rank,
                spreadsheet_safe(row.team),
                row.kind,
                row.achieved_at.isoformat() if row.achieved_at else "",
                *([row.track or ""] if leaderboard.has_tracks else []),
                *([row.carried_from or ""] if carries else []),
                *([versions.get(row.commitment or ""), row.commitment] if versions else []),
                *([row.status or "", spreadsheet_safe(row.note)] if status else []),
                spreadsheet_safe(row.method),
                row.entries,
                spreadsheet_safe(row.source or ""),
                *(_said(row, column.name) for column in leaderboard.card_columns),
                *(cell.value for cell in row.cells),
                *([*(row.rank_range or ("", "")), row.cluster] if ranges else []),
                *(end for at in sure for end in _ends(row.cells[at])),
                *([superseded_by] if superseded_by else []),
            ]
        )
    return text.getvalue()


def _ends(cell: Cell) -> tuple[float | None, float | None]:
    return (cell.interval.low, cell.interval.high) if cell.interval else (None, None)


def _said(row: LeaderboardRow, name: str) -> str:
    """Return a row's method card answer for a column; numbers stay numbers, also negative ones."""
    answer = row.answer(name)
    if answer is None:
        return ""
    return spreadsheet_safe(answer.text) if isinstance(answer.value, str) else answer.text


def column_out(column: BoardColumn) -> ColumnOut:
    """Return a column as an API model."""
    return ColumnOut(
        metric=column.metric,
        split=column.split,
        title=column.title,
        decimals=column.decimals,
        percent=column.percent,
        higher_is_better=column.higher_is_better,
        description=column.description,
        out_of=column.out_of,
    )


def sealed_numbers(leaderboard: Leaderboard) -> dict[str, int]:
    """Return this phase's numbers of sealed gold versions by commitment: other phases may number them differently."""
    return {gold.commitment: gold.number for gold in leaderboard.sealed_gold}


def row_out(row: LeaderboardRow, versions: Mapping[str, int]) -> RowOut:
    """Return a row as an API model; versions: from `sealed_numbers`."""
    return RowOut.model_validate(_row(row, versions), from_attributes=True)


def _row(row: LeaderboardRow, versions: Mapping[str, int]) -> dict[str, Any]:
    """Return the fields of a RowOut in order; intervals and cards have the same fields in both."""
    return {
        "rank": row.rank,
        "team": row.team,
        "kind": row.kind,
        "cells": [
            {"value": value, "reason": reason, "signature": signature, "interval": interval}
            for value, reason, signature, interval in row.cells
        ],
        "achieved_at": row.achieved_at,
        "system": row.system,
        "method": row.method,
        "card": row.card,
        "status": row.status,
        "note": row.note,
        "entries": row.entries,
        "track": row.track,
        "source": row.source,
        "submission": row.submission_id,
        "is_mine": row.is_mine,
        "carried_from": row.carried_from,
        "is_outdated": row.is_outdated,
        "sealed_gold": versions.get(row.commitment or ""),
        "rank_range": {"best": row.rank_range[0], "worst": row.rank_range[1]} if row.rank_range else None,
        "cluster": row.cluster,
    }


def cells_out(cells: Sequence[Cell]) -> list[CellOut]:
    """Return cells as API models: all of a row at once, as there may be thousands of rows."""
    return _CELLS.validate_python(cells, from_attributes=True)


_CELLS = TypeAdapter(list[CellOut])


def statistics_out(leaderboard: Leaderboard) -> StatisticsOut:
    """Return a board's statistics as an API model."""
    has_ranges = any(row.rank_range for row in leaderboard.rows)
    return StatisticsOut(state=leaderboard.statistics, version=leaderboard.version if has_ranges else None)
