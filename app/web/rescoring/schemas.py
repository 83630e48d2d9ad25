"""Rescoring sets in JSON, for organisers: content, progress and rank changes."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from app.base import links
from app.base.answers import ApiModel, Moment, example
from app.models import Competition, Rescoring, RescoringState
from app.rescoring.difference import BoardMoves, Difference, Move
from app.rescoring.sets import NOTE_CHARACTERS, Progress

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
    """A task of a phase in a set."""

    phase: str
    task: str
    gold_version: int | None = Field(description="of sealed gold; null: plain gold, by its name")


class RescoringProgress(ApiModel):
    """The progress of an open set: `of` is its number of submissions."""

    of: int
    scored: int
    rejected: int
    failed: int = Field(description="on our side; these have to be scored again before the set can be published")
    waiting: int
    is_ready: bool = Field(description="whether it can be published")


class RescoringOut(ApiModel):
    """A set of runs beside the current ones. Nobody but organisers sees anything of it while it is open."""

    model_config = example(_EXAMPLE)

    number: int
    competition: str
    state: RescoringState
    note: str = Field(description="why; teams and official results show it once the set is published")
    with_rejected: bool = Field(description="whether rejected files are tried again, too")
    tasks: list[RescoredTaskOut]
    progress: RescoringProgress | None = Field(description="null once the set has ended")
    started_at: Moment
    started_by: str | None = Field(description="user name; null: the command line")
    ended_at: Moment | None
    page: str


class RescoringList(ApiModel):
    """The sets of a competition, the newest first."""

    model_config = example({"competition": "demo", "rescorings": [_EXAMPLE]})

    competition: str
    rescorings: list[RescoringOut]


class NewRescoring(ApiModel):
    """The submissions to rescore."""

    model_config = example(
        {
            "tasks": ["evaluation/idiom-detection"],
            "note": "Items 12 and 40 had the wrong label.",
            "gold_version": 2,
            "with_rejected": False,
        }
    )

    tasks: list[str] = Field(
        default_factory=list, max_length=200, description="`PHASE/TASK` or `PHASE`; none: everything that is scored"
    )
    note: str = Field(description=f"why, in a sentence of at most {NOTE_CHARACTERS} characters")
    gold_version: int | None = Field(
        None, ge=1, le=2**31 - 1, description="a version of the sealed gold; null: the newest, published or not"
    )
    with_rejected: bool = Field(False, description="try rejected files again, for items or options that changed")


class MoveOut(ApiModel):
    """A row that changes; null where it is not there, has no rank, or no defined score."""

    team: str
    kind: str
    submission: UUID | None = Field(description="that it stands with afterwards, or stood with")
    carried_from: str | None = Field(description="the phase that it is carried over from")
    rank_before: int | None
    rank_after: int | None
    places: int | None = Field(description="how many it rises; below 0: falls")
    score_before: float | None
    score_after: float | None
    cells_changed: int
    words: str = Field(description="what happened, where scores alone do not show it")


class BoardMovesOut(ApiModel):
    """A board in a phase, those who move most first."""

    phase: str
    board: str
    title: str
    column: str = Field(description="the one that ranks")
    moves: list[MoveOut]
    unchanged: int = Field(description="how many rows stay as they are")


class RankDifference(ApiModel):
    """Changes by publishing, as far as the set is scored; for a published set, those it made."""

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
    newly_rejected: int = Field(description="submissions whose files are found wrong now")
    newly_accepted: int = Field(description="submissions whose files were rejected, and are scored now")
    boards: list[BoardMovesOut]


def rescoring_out(competition: Competition, rescoring: Rescoring, progress: Progress | None) -> RescoringOut:
    """Return a set, from `find_rescoring`, as an API model; progress: of an open set."""
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
        progress=_progress(progress) if progress else None,
        started_at=rescoring.created_at,
        started_by=rescoring.created_by.username if rescoring.created_by else None,
        ended_at=rescoring.ended_at,
        page=links.rescoring(competition.name, rescoring.id),
    )


def difference_out(number: int, difference: Difference) -> RankDifference:
    return RankDifference(
        number=number,
        progress=_progress(difference.progress),
        newly_rejected=difference.newly_rejected,
        newly_accepted=difference.newly_accepted,
        boards=[_board(board) for board in difference.boards],
    )


def _progress(progress: Progress) -> RescoringProgress:
    return RescoringProgress(
        of=progress.of,
        scored=progress.scored,
        rejected=progress.rejected,
        failed=progress.failed,
        waiting=progress.waiting,
        is_ready=progress.is_ready,
    )


def _board(board: BoardMoves) -> BoardMovesOut:
    return BoardMovesOut(
        phase=board.phase,
        board=board.board,
        title=board.title,
        column=board.column,
        moves=[_move(move) for move in board.moves],
        unchanged=board.unchanged,
    )


def _move(move: Move) -> MoveOut:
    return MoveOut(
        team=move.team,
        kind=move.kind,
        submission=UUID(move.submission) if move.submission else None,
        carried_from=move.carried_from,
        rank_before=move.rank_before,
        rank_after=move.rank_after,
        places=move.places,
        score_before=move.score_before,
        score_after=move.score_after,
        cells_changed=move.cells_changed,
        words=move.words,
    )
