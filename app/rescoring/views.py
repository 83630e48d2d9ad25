"""API schemas for rescoring sets, for their organisers: content, progress and rank changes."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Mirror, Moment, example
from app.models import Competition, Rescoring, RescoringState
from app.rescoring.difference import Difference
from app.rescoring.sets import Progress

_EXAMPLE = {
    "number": 1,
    "competition": "demo",
    "state": "open",
    "note": "Items 12 and 40 had the wrong label.",
    "with_rejected": False,
    "tasks": [{"phase": "evaluation", "task": "idiom-detection", "gold_version": 2}],
    "progress": {"of": 120, "scored": 118, "rejected": 0, "failed": 1, "waiting": 1, "is_ready": False},
    "started_at": "2026-02-01T09:00:00Z",
    "started_by": "grace",
    "ended_at": None,
    "page": "/competitions/demo/rescoring/1",
}


class RescoredTaskOut(ApiModel):
    """A task in a phase of a set."""

    phase: str
    task: str
    gold_version: int | None = Field(description="version number of sealed gold; null: plain gold, by its name")


class RescoringProgress(Mirror):
    """The progress of an open set. of: its number of submissions."""

    of: int
    scored: int
    rejected: int
    failed: int = Field(description="failed on our side; these must be scored again before the set can be published")
    waiting: int
    is_ready: bool = Field(description="whether it can be published")


class RescoringOut(ApiModel):
    """A set of runs next to the current ones, which only organisers see while it is open."""

    model_config = example(_EXAMPLE)

    number: int
    competition: str
    state: RescoringState
    note: str = Field(description="reason, shown to teams and with official results once the set is published")
    with_rejected: bool = Field(description="whether rejected files are also scored again")
    tasks: list[RescoredTaskOut]
    progress: RescoringProgress | None = Field(description="null once the set has ended")
    started_at: Moment
    started_by: str | None = Field(description="user name; null: the command line")
    ended_at: Moment | None
    page: str


class RescoringList(ApiModel):
    """The sets of a competition, newest first."""

    model_config = example({"competition": "demo", "rescorings": [_EXAMPLE]})

    competition: str
    rescorings: list[RescoringOut]


class MoveOut(Mirror):
    """A row that changes; null if it is absent, unranked, or has no defined score."""

    team: str
    kind: str
    submission: UUID | None = Field(description="submission that counts afterwards, or counted before")
    carried_from: str | None = Field(description="phase from which it is carried over")
    rank_before: int | None
    rank_after: int | None
    places: int | None = Field(description="number of places that it rises; negative: falls")
    score_before: float | None
    score_after: float | None
    cells_changed: int
    words: str = Field(description="what happened, if the scores do not show it")


class BoardMovesOut(Mirror):
    """A board in a phase, with the largest moves first."""

    phase: str
    board: str
    title: str
    column: str = Field(description="the ranking column")
    moves: list[MoveOut]
    unchanged: int = Field(description="number of unchanged rows")


class RankDifference(ApiModel):
    """The changes of publishing a set, as far as it is scored; for a published set, the changes made."""

    model_config = example(
        {
            "number": 1,
            "progress": _EXAMPLE["progress"],
            "newly_rejected": 0,
            "newly_accepted": 0,
            "boards": [
                {
                    "phase": "evaluation",
                    "board": "zero-shot",
                    "title": "Zero-shot, Evaluation",
                    "column": "Macro F1",
                    "moves": [
                        {
                            "team": "Ada Lovelace",
                            "kind": "team",
                            "submission": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
                            "carried_from": None,
                            "rank_before": 3,
                            "rank_after": 1,
                            "places": 2,
                            "score_before": 0.7037,
                            "score_after": 0.7411,
                            "cells_changed": 2,
                            "words": "",
                        }
                    ],
                    "unchanged": 11,
                }
            ],
        }
    )

    number: int
    progress: RescoringProgress
    newly_rejected: int = Field(description="submissions that were scored before and are rejected now")
    newly_accepted: int = Field(description="submissions that were rejected before and are scored now")
    boards: list[BoardMovesOut]


class ScoredAnewOut(Mirror):
    """The submissions that are being rescored."""

    model_config = example({"queued_again": 0, "rescoring": 3, "tasks": ["evaluation/idiom-detection"]})

    queued_again: int = Field(description="failed submissions that were queued again")
    rescoring: int | None = Field(description="the rescoring set that was started for scored submissions; null: none")
    tasks: list[str] = Field(description="tasks of the set, all of whose submissions are rescored")


def describe_rescoring(competition: Competition, rescoring: Rescoring, progress: Progress | None) -> RescoringOut:
    """Return the API object of a set, from `find_rescoring`. progress: of an open set."""
    return RescoringOut(
        number=rescoring.id,
        competition=competition.name,
        state=RescoringState(rescoring.state),
        note=rescoring.note,
        with_rejected=rescoring.with_rejected,
        tasks=[
            RescoredTaskOut(
                phase=one.phase_task.phase.name,
                task=one.phase_task.task.name,
                gold_version=one.gold_version.number if one.gold_version else None,
            )
            for one in rescoring.tasks
        ],
        progress=progress,
        started_at=rescoring.created_at,
        started_by=rescoring.created_by.username if rescoring.created_by else None,
        ended_at=rescoring.ended_at,
        page=links.rescoring(competition.name, rescoring.id),
    )


def describe_difference(number: int, difference: Difference) -> RankDifference:
    """Return the API object of the changes of publishing a set, without fields that only its record needs."""
    return RankDifference(
        number=number,
        progress=difference.progress,
        newly_rejected=difference.newly_rejected,
        newly_accepted=difference.newly_accepted,
        boards=difference.boards,
    )
