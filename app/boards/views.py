"""API schemas for boards: columns, rows and cells, as on pages, in the API and in CSV; results, teams, rankings."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, Mirror, Moment, Named, example
from app.boards.rows import LeaderboardRow, RowKind, StatisticsState
from app.cards.views import CARD_EXAMPLE, CardColumnOut, CardOut
from app.competitions.views import EXAMPLE_VISIBILITY, VisibilityOut
from app.models import EntryRule, MissingEntry, RankingBy, RowStatus
from evergold.scoring.halves import Half

EXAMPLE_COLUMN: dict[str, Any] = {
    "metric": "macro_f1",
    "metric_title": "Macro F1",
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


class ColumnOut(Mirror):
    """A column: the score that it shows, and its format on pages (values here have the decimals of the phase, see
    `visibility.precision`).
    """

    metric: str
    metric_title: str = Field("", description="name of the metric; empty on old frozen boards")
    split: str
    title: str
    decimals: int
    percent: bool = Field(description="pages show the value times 100")
    higher_is_better: bool
    description: str
    out_of: int | None = Field(None, description="the largest possible value of a number that pages show as `9/14`")
    aspect: str = Field(
        "", description="which number of a measure with several: `mean`, `sd`, `rho`; empty: it has one"
    )


class IntervalOut(Mirror):
    """A confidence interval of a score. level: its confidence level."""

    low: float
    high: float
    level: float
    method: str = Field(description="method of the interval, with number and kind of the units")


class DifferenceTestOut(Mirror):
    """A significance test of the difference of two submissions in one score."""

    difference: float
    low: float | None = Field(
        description="lower end of the difference's interval, of these two alone; null: undefined in too many resamples"
    )
    high: float | None
    level: float = Field(description="level of the interval")
    p: float = Field(description="p of a two-sided paired permutation test of these two rows alone")
    corrected: float | None = Field(
        description="p with Holm's correction over all pairs shown together, which decides; null: only one pair"
    )
    method: str = Field(description="method of the test, with the seed")


class CellOut(Mirror):
    """A value, or null with the reason; published results have no signature."""

    value: float | None
    reason: str | None
    signature: str | None
    interval: IntervalOut | None = Field(
        None, description="null: not stored, not shown here, or the score does not depend on the sample of items"
    )


class RankRangeOut(ApiModel):
    """The possible ranks. best: 1 + the number of significantly better teams; worst: the number of teams minus the
    significantly worse ones.
    """

    best: int
    worst: int


class StatisticsOut(ApiModel):
    """The state of intervals, rank ranges and clusters, and the version of the board that they belong to."""

    state: StatisticsState = Field(
        description="`current`: they are those of these rows; `pending`: a row is new, ranges and clusters are being "
        "computed; `withheld`: they would reveal more than the board (hidden digits, a Ladder, hidden gold of an open "
        "phase); `none`"
    )
    version: str | None = Field(
        description="version of the board that ranges and clusters belong to; null: there are none"
    )
    note: str = Field("", description="a sentence on why the board never has statistics; otherwise empty")


class RowOut(ApiModel):
    """A row of a board. rank: null for published results, baselines without a rank, teams whose ranking score is
    undefined, and rows with a status.
    """

    rank: int | None
    team: str = Field(description="a neutral name while names are hidden")
    kind: RowKind = Field(description="historic: a result published elsewhere, see `source`")
    cells: list[CellOut] = Field(description="one for each column, in their order")
    achieved_at: Moment | None
    system: str = Field(description="name that the team gave its system; empty: it has no name, or is not shown")
    method: str
    card: CardOut | None = Field(description="the method card of its system; null: not shown here")
    status: RowStatus | None = Field(
        description="set by the organisers: `unranked`, `disqualified` (scores are withheld), or `hidden` (from all "
        "but its team and organisers)"
    )
    note: str = Field(description="why the row has this status; shown as a footnote below the board")
    entries: int | None = Field(description="how many scored submissions the team has here; null: not shown")
    track: str | None = Field(description="null: the competition has no tracks")
    source: str | None
    submission: UUID | None = Field(description="only for your own rows and for organisers")
    is_mine: bool
    carried_from: str | None = Field(description="the phase that this entry was carried over from; null: this one")
    is_outdated: bool = Field(description="whether it was scored against gold that is no longer in use")
    sealed_gold: int | None = Field(description="the version of sealed gold that it was scored against")
    published_rank: int | None = Field(
        None, description="for a published result: its rank in the publication; otherwise null"
    )
    rank_range: RankRangeOut | None = Field(
        None, description="the range of ranks consistent with the data; null: see `statistics` of the board"
    )
    cluster: int | None = Field(
        None,
        description=(
            "number of the cluster, from 1 at the top: all its rows are significantly better than all rows of the "
            "clusters below"
        ),
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
    """Return the fields of a RowOut without validation, which would take longer than everything else."""
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


class RowMarksOut(ApiModel):
    """All marks of rows of a task in a phase, by team."""

    model_config = example({"rows": [EXAMPLE_MARK]})

    rows: list[RowMarkOut]


class CommittedGoldOut(ApiModel):
    """A version of sealed gold. Once gold and salt are published, anybody can verify that it was never replaced."""

    version: int
    commitment: str = Field(description="sha256 of salt and gold; without the salt it reveals nothing")


class SuccessorOut(ApiModel):
    """The results that supersede an official board."""

    number: int | None = Field(
        description="number of the next official board; null: the live board, while there is none"
    )
    link: str
    page: str
    closes_at: Moment | None = Field(description="when the reopened phase closes; null: it never closes, or has closed")
    newest: int | None = Field(description="number of the latest official board; null: there is no later one")


class OfficialOut(ApiModel):
    """A frozen board, which later changes do not affect."""

    number: int = Field(description="1, or more if the phase was reopened and closed again")
    closed_at: Moment = Field(description="the end of the phase")
    made_at: Moment
    note: str
    link: str = Field(description="its permanent address")
    superseded_by: SuccessorOut | None = Field(description="null: this is the latest")


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
            "statistics": {"state": "current", "version": "2-1-17-8c1f20e3", "note": ""},
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
    rows: list[RowOut] = Field(description="empty while the board is hidden, see `visibility`")
    card_columns: list[CardColumnOut] = Field(description="the answers of method cards shown beside the scores")
    gold_version: str = Field(description="the organisers' name of the gold; may be empty")
    sealed_gold: list[CommittedGoldOut] = Field(
        description="published versions of the gold, oldest first; empty: not sealed"
    )
    task_versions: list[int] = Field(
        description="versions of the task type that scored the rows; several: not all rows are comparable"
    )
    outdated_rows: int = Field(
        description="the number of rows whether it was scored against gold that is no longer in use, not rescored yet"
    )
    part: Half | None = Field(description="the part of the items that was scored; null: items are not divided")
    statistics: StatisticsOut
    visibility: VisibilityOut
    official: OfficialOut | None = Field(
        description="the official board, frozen after the phase closed; null: there is none"
    )
    version: str = Field(description="a value that changes whenever the board does")
    page: str


class ResultColumnOut(ApiModel):
    """A board in a phase; the cells have its ranking score."""

    phase: str
    board: str
    title: str = Field(description="title of the board, without the beginning that all boards of the task share")
    track: str | None
    metric: str
    split: str
    decimals: int
    percent: bool = Field(description="pages show the value times 100")
    higher_is_better: bool
    visibility: VisibilityOut
    link: str = Field(description="the board")


class ResultsOut(ApiModel):
    """All rows of a task's boards, side by side."""

    model_config = example(
        {
            "competition": "demo",
            "task": "idiom-detection",
            "title": "Idiom detection",
            "sorted_by": 0,
            "columns": [
                {
                    "phase": "evaluation",
                    "board": "zero-shot",
                    "title": "Zero-shot",
                    "track": None,
                    "metric": "macro_f1",
                    "split": "zero_shot/all",
                    "decimals": 4,
                    "percent": False,
                    "higher_is_better": True,
                    "visibility": EXAMPLE_VISIBILITY,
                    "link": "/api/v1/competitions/demo/phases/evaluation/boards/zero-shot",
                }
            ],
            "rows": [
                {
                    "team": "Ada Lovelace",
                    "kind": "team",
                    "source": None,
                    "is_mine": False,
                    "cells": [
                        {
                            "value": 0.7037,
                            "reason": None,
                            "signature": "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1",
                        }
                    ],
                }
            ],
            "page": "/competitions/demo/tasks/idiom-detection/results",
        }
    )

    competition: str
    task: str
    title: str
    sorted_by: int | None = Field(description="index of the column that sorts the rows, best first")
    columns: list[ResultColumnOut]
    rows: list[ResultRowOut]
    page: str


class BoardPlace(ApiModel):
    """A board in a phase."""

    phase: str
    board: str


class ScorePairOut(ApiModel):
    """One score of both rows."""

    column: ColumnOut
    first: CellOut
    second: CellOut
    difference: float | None = Field(
        description="first minus second; null: one is undefined, or they were computed differently"
    )
    is_same_computation: bool = Field(description="false: their signatures differ")
    better: Literal["first", "second", "equal", ""] = Field(description="empty: no difference")


class RowComparisonOut(BoardPlace):
    """Two rows of a board side by side, as the viewer sees the board."""

    competition: str
    first: RowOut = Field(description="the row that is higher on the board")
    second: RowOut
    test: DifferenceTestOut | None = Field(
        description="test of first minus second in the ranking score; null: not computed (yet), or not shown"
    )
    is_significant: bool | None = Field(description="whether the ranking score differs significantly; null: no test")
    statistics: StatisticsState = Field(
        description="state of the board's statistics: `pending` while its tests are being computed"
    )
    scores: list[ScorePairOut] = Field(description="the ranking score first, then every other score of either row")
    page: str

    model_config = example(
        {
            "competition": "idioms",
            "phase": "evaluation",
            "board": "zero-shot",
            "first": EXAMPLE_ROW,
            "second": EXAMPLE_ROW | {"rank": 2, "team": "Bob"},
            "test": None,
            "is_significant": None,
            "statistics": "pending",
            "scores": [],
            "page": "/competitions/idioms/phases/evaluation/boards/zero-shot/compare",
        }
    )


class TeamRowOut(BoardPlace):
    """A row of the team with the columns of its board."""

    task: str
    ranked: int = Field(description="how many rows of the board have a rank")
    rank_by: int = Field(description="index of the ranking column")
    columns: list[ColumnOut]
    row: RowOut
    official: int | None = Field(
        description="number of the official board with this row; null: it is on the live board"
    )
    renamed_to: str = Field(description="current name of the team on the live board; empty: the same")
    page: str = Field(description="address of the board's page")


class TeamSystemOut(ApiModel):
    """A system of the team, and the boards that it is on."""

    name: str = Field(description="empty: the system has no name")
    card: CardOut
    boards: list[BoardPlace]


class PublicTeamOut(ApiModel):
    """A team, as boards show it to the viewer."""

    model_config = example(
        {
            "competition": "demo",
            "team": "Ada Lovelace",
            "is_mine": False,
            "rows": [
                {
                    "phase": "evaluation",
                    "board": "zero-shot",
                    "task": "idiom-detection",
                    "ranked": 34,
                    "rank_by": 0,
                    "columns": [EXAMPLE_COLUMN],
                    "row": EXAMPLE_ROW,
                    "official": None,
                    "renamed_to": "",
                    "page": "/competitions/demo/phases/evaluation/boards/zero-shot",
                }
            ],
            "systems": [
                {
                    "name": "XLM-R large",
                    "card": CARD_EXAMPLE,
                    "boards": [{"phase": "evaluation", "board": "zero-shot"}],
                }
            ],
            "orcids": ["0000-0002-1825-0097"],
            "page": "/competitions/demo/teams/Ada%20Lovelace",
        }
    )

    competition: str
    team: str
    is_mine: bool
    rows: list[TeamRowOut] = Field(description="phases and boards in the order of the competition")
    systems: list[TeamSystemOut] = Field(description="systems of its rows")
    orcids: list[str] = Field(description="the ORCID iDs that its members show")
    page: str


_EXAMPLE_RANKING = {
    "name": "overall",
    "title": "Overall",
    "by": "mean_rank",
    "missing": "worst",
    "boards": [{"board": "zero-shot", "weight": 2.0}, {"board": "one-shot", "weight": 1.0}],
    "hidden": [],
    "left_out": 0,
    "rows": [
        {
            "rank": 1,
            "team": "Ada Lovelace",
            "mean": 1.3333333333333333,
            "standings": [{"rank": 1, "score": 0.75, "counted": 1.0}, {"rank": 2, "score": 0.5, "counted": 2.0}],
        }
    ],
}


class RankedBoardOut(ApiModel):
    """A board of the ranking."""

    board: str
    weight: float


class RankingStandingOut(Mirror):
    """A team on one of the boards."""

    rank: int | None = Field(description="null: the team has no rank there")
    score: float | None
    counted: float = Field(
        description="value that enters the mean: the rank, the score, or the substitute for a missing one"
    )


class RankedTeamOut(Mirror):
    """A team in the ranking; `standings` in the order of `boards`."""

    rank: int
    team: str
    mean: float
    standings: list[RankingStandingOut]


class RankingOut(ApiModel):
    """A ranking across tasks, as far as the viewer may see its boards."""

    model_config = example(_EXAMPLE_RANKING)

    name: str
    title: str
    by: RankingBy
    missing: MissingEntry
    boards: list[RankedBoardOut]
    hidden: list[str] = Field(
        description="titles of boards that you may not fully see; if there are any, `rows` is empty"
    )
    left_out: int = Field(description="number of teams left out because they have no rank on some board")
    rows: list[RankedTeamOut]
