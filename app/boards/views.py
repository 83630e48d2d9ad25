"""The answers about boards: columns, rows and cells, as pages, API and CSV have them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field

from app.base.answers import ApiModel, Moment, example
from app.boards.rows import LeaderboardRow, RowKind, StatisticsState
from app.cards.views import CARD_EXAMPLE, CardOut
from app.models import RowStatus

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


class _Mirror(ApiModel):
    """An answer made from an object with the same fields."""

    model_config = ConfigDict(from_attributes=True)


class ColumnOut(_Mirror):
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
    aspect: str = Field(
        "", description="of a measure with several numbers which one it is: `mean`, `sd`, `rho`; empty: it has one"
    )


class IntervalOut(_Mirror):
    """A confidence interval of a score at `level`."""

    low: float
    high: float
    level: float
    method: str = Field(description="how it was computed, from how many units of what kind")


class CellOut(_Mirror):
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
    published_rank: int | None = Field(None, description="of a published result: its rank where it was published")
    rank_range: RankRangeOut | None = Field(
        None, description="the range of ranks consistent with the data; null: see `statistics` of the board"
    )
    cluster: int | None = Field(
        None, description="from 1 at the top: everybody in it is significantly better than everybody in those below"
    )


#: The fields of a row in CSV, in order; its method card, scores, ranks and intervals follow.
CSV_FIELDS = (
    *("rank", "team", "kind", "achieved_at", "track", "carried_from", "sealed_gold", "commitment"),
    *("status", "note", "method", "entries", "source", "published_rank"),
)


#: The field of a row for each of RowOut; taken by position, as there may be thousands of rows.
_FROM_ROW = {name: name for name in RowOut.model_fields} | {"submission": "submission_id"}
_in_order = itemgetter(*(LeaderboardRow._fields.index(name) for name in _FROM_ROW.values()))


def row_document(row: LeaderboardRow) -> dict[str, Any]:
    """Return the fields of a RowOut without validation, which would take longer than all the rest."""
    document = dict(zip(_FROM_ROW, _in_order(row), strict=True))
    document["cells"] = [cell._asdict() for cell in row.cells]
    if row.rank_range:
        document["rank_range"] = dict(zip(RankRangeOut.model_fields, row.rank_range, strict=True))
    return document


class ResultRowOut(ApiModel):
    """A team, a baseline, or a system whose results were published elsewhere (`historic`, see `source`)."""

    team: str
    kind: RowKind
    source: str | None
    is_mine: bool
    cells: list[CellOut] = Field(description="one for each column, in their order")


EXAMPLE_MARK: dict[str, Any] = {
    "id": 3,
    "team": "Ada Lovelace",
    "submission": None,
    "status": "unranked",
    "note": "used additional data",
    "marked_by": "grace",
    "set_at": "2026-02-01T12:00:00Z",
}


class RowMarkOut(ApiModel):
    """The mark of a row."""

    model_config = example(EXAMPLE_MARK)

    id: int
    team: str
    submission: UUID | None = Field(description="null: the whole team, with all its submissions to this task here")
    status: RowStatus
    note: str
    marked_by: str | None = Field(description="a user name; null: on the command line")
    set_at: Moment
