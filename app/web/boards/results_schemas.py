"""The results of one task over all its phases and boards, as JSON and CSV."""

from __future__ import annotations

import csv
import io

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, example
from app.base.text import spreadsheet_safe
from app.boards.side_by_side import Results
from app.boards.views import ResultRowOut
from app.models import Competition, CompetitionTask
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out


class ResultColumnOut(ApiModel):
    """A board in a phase; its ranking score is what the cells have."""

    phase: str
    board: str
    title: str = Field(description="of the board, without what all boards of the task begin with")
    track: str | None
    metric: str
    split: str
    decimals: int
    percent: bool = Field(description="pages show the value times 100")
    higher_is_better: bool
    visibility: VisibilityOut
    link: str = Field(description="the board")


class ResultsOut(ApiModel):
    """Everything that stands on a task's boards, side by side."""

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
    sorted_by: int | None = Field(description="index of the column that rows are sorted by, best first")
    columns: list[ResultColumnOut]
    rows: list[ResultRowOut]
    page: str


def results_out(competition: Competition, task: CompetitionTask, results: Results) -> ResultsOut:
    """Return the results as an API model."""
    return ResultsOut(
        competition=competition.name,
        task=task.name,
        title=task.title,
        sorted_by=results.sorted_by,
        columns=[
            ResultColumnOut(
                phase=column.phase.name,
                board=column.board.name,
                title=column.title,
                track=column.board.track,
                metric=column.shown.metric,
                split=column.shown.split,
                decimals=column.shown.decimals,
                percent=column.shown.percent,
                higher_is_better=column.shown.higher_is_better,
                visibility=visibility_out(column.view),
                link=api_links.board(competition.name, column.phase.name, column.board.name),
            )
            for column in results.columns
        ],
        rows=list(results.rows),
        page=links.results(competition.name, task.name),
    )


def results_csv(results: Results) -> str:
    """Return the results as CSV, with the decimals of the JSON; no value is an empty field.

    Columns are called `phase/board`.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["team", "kind", "source", *(f"{one.phase.name}/{one.board.name}" for one in results.columns)])
    for row in results.rows:
        writer.writerow(
            [
                spreadsheet_safe(row.team),
                row.kind,
                spreadsheet_safe(row.source or ""),
                *(cell.value for cell in row.cells),
            ]
        )
    return text.getvalue()
