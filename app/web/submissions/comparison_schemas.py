"""Two submissions side by side: scores, and single items if gold is public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from pydantic import Field

from app.base.answers import ApiModel, example
from app.boards.views import IntervalOut
from app.feedback.compare import Compared, Comparison
from app.feedback.items import ComparedItem, ItemComparison
from app.web.submissions.schemas import ScoreOut, score_out
from app.web.submissions.standing_schemas import DifferenceTestOut, difference_test_out, interval_out
from evergold.scoring.task import ItemResult, Score

_A, _B = "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11", "5f0c1d7e-9a53-4f2c-8f0b-3c1d2e4f5a6b"
_SIGNATURE = "idiom-detection:1|accuracy|zero_shot/gl|labels:0,1"
_RIGHT = {"is_right": True, "error": None, "found": None}

BetterOut = Literal["a", "b", "equal"]


class ComparedScoreOut(ApiModel):
    """One score of both."""

    metric: str
    split: str
    a: ScoreOut | None = Field(description="null where A has no such score")
    b: ScoreOut | None
    difference: float | None = Field(description="b minus a; null where that means nothing")
    better: BetterOut | None
    is_same_computation: bool = Field(description="false: the signatures differ, the values do not compare")
    interval_a: IntervalOut | None = Field(None, description="of A's value; null: there is none, or none to see")
    interval_b: IntervalOut | None = Field(None, description="of B's value")
    test: DifferenceTestOut | None = Field(
        None,
        description="whether the difference may be chance: there for a run and its team's ten before it, in the scores "
        "that boards rank by",
    )


class ItemResultOut(ApiModel):
    """The result of one item in one of the two submissions."""

    predicted: str | int | float
    is_right: bool | None = Field(description="null where items are not right or wrong")
    error: float | None = Field(description="predicted minus gold; of several answers, how many are on one side alone")
    found: int | None = Field(
        description="of several answers, how many gold has too; gold and predicted are counts then"
    )


class ComparedItemOut(ApiModel):
    """One item of both, under the same gold."""

    item: str
    splits: list[str] = Field(description="the narrowest splits that it counts in")
    gold: str | int | float | None
    a: ItemResultOut
    b: ItemResultOut
    better: BetterOut | None = Field(description="which one is right, or closer; null where that is undefined")


class ComparedItemsOut(ApiModel):
    """Single items, where both golds are declared public and the scores are shown whole."""

    hidden: str | None = Field(description="why there are none, as a sentence")
    shows: dict[str, int] = Field(description="how many items each `show` has")
    both_right: int
    equal: int = Field(description="of how many neither is better")
    left_out: int = Field(description="how many only one of the two has, or under another gold")
    rows: list[ComparedItemOut] = Field(description="of those that `show` names, from `start` on, in gold's order")
    next: str | None = Field(description="the address of the next ones; null: these were the last")


class ComparisonOut(ApiModel):
    """Two submissions to one task."""

    model_config = example(
        {
            "a": _A,
            "b": _B,
            "hidden": None,
            "scores": [
                {
                    "metric": "accuracy",
                    "split": "zero_shot/gl",
                    "a": {
                        "metric": "accuracy",
                        "split": "zero_shot/gl",
                        "value": 0.5,
                        "reason": None,
                        "signature": _SIGNATURE,
                    },
                    "b": {
                        "metric": "accuracy",
                        "split": "zero_shot/gl",
                        "value": 0.75,
                        "reason": None,
                        "signature": _SIGNATURE,
                    },
                    "difference": 0.25,
                    "better": "b",
                    "is_same_computation": True,
                }
            ],
            "items": {
                "hidden": None,
                "shows": {"all": 4, "differ": 1, "a": 0, "b": 1, "wrong": 1},
                "both_right": 2,
                "equal": 3,
                "left_out": 0,
                "rows": [
                    {
                        "item": "dev.GL.17",
                        "splits": ["zero_shot/gl"],
                        "gold": "1",
                        "a": {"predicted": "0", **_RIGHT, "is_right": False},
                        "b": {"predicted": "1", **_RIGHT},
                        "better": "b",
                    }
                ],
                "next": None,
            },
        }
    )

    a: UUID
    b: UUID
    hidden: str | None = Field(description="why there are no scores, as a sentence")
    scores: list[ComparedScoreOut]
    items: ComparedItemsOut


def comparison_out(
    comparison: Comparison, items: ItemComparison, rows: Sequence[ComparedItem], following: str | None
) -> ComparisonOut:
    """Return a comparison as an API model; rows: the items of this page; following: address of the next page."""
    return ComparisonOut(
        a=comparison.a.id,
        b=comparison.b.id,
        hidden=comparison.hidden_words or None,
        scores=[_score_out(row) for row in comparison.rows],
        items=ComparedItemsOut(
            hidden=items.hidden_words or None,
            shows=dict(items.counts),
            both_right=items.both_right,
            equal=items.equal,
            left_out=items.left_out,
            rows=[_item_out(row) for row in rows],
            next=following,
        ),
    )


def _score_out(row: Compared) -> ComparedScoreOut:
    def out(score: Score | None) -> ScoreOut | None:
        return score_out(score) if score else None

    return ComparedScoreOut(
        metric=row.metric,
        split=row.split,
        a=out(row.a),
        b=out(row.b),
        difference=row.difference,
        better=row.better,
        is_same_computation=row.is_same_computation,
        interval_a=interval_out(row.intervals[0]),
        interval_b=interval_out(row.intervals[1]),
        test=difference_test_out(row.test),
    )


def _item_out(row: ComparedItem) -> ComparedItemOut:
    def out(result: ItemResult) -> ItemResultOut:
        return ItemResultOut(
            predicted=result.predicted, is_right=result.is_right, error=result.error, found=result.matched
        )

    return ComparedItemOut(
        item=row.a.item,
        splits=list(row.a.splits),
        gold=row.a.gold,
        a=out(row.a),
        b=out(row.b),
        better=row.better,
    )
