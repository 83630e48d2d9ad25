"""The problems of a file as CSV, to work through: one line each, with the place, the sentence and what stands there."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Response

from app.base.text import spreadsheet_safe

COLUMNS = ("file", "line", "column", "severity", "code", "message", "text")
PROBLEMS_CSV_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One line for each problem.",
        "content": {
            "text/csv": {
                "schema": {"type": "string"},
                "example": f'{",".join(COLUMNS)}\n,14,ID,error,duplicate-id,"id 203 appears twice",203\n',
            }
        },
    }
}


def problems_csv_response(problems: Sequence[Mapping[str, Any]], filename: str) -> Response:
    """As a download called after the file."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in filename) or "file"
    headers = {
        "Content-Disposition": f'attachment; filename="{stem}-problems.csv"',
        "Cache-Control": "private, no-cache",
    }
    return Response(problems_csv(problems), media_type="text/csv", headers=headers)


def problems_csv(problems: Sequence[Mapping[str, Any]]) -> str:
    """Texts are marked where a spreadsheet would take them for formulas: the file that they come from is anybody's."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for problem in problems:
        writer.writerow([_cell(problem.get(column)) for column in COLUMNS])
    return text.getvalue()


def _cell(value: Any) -> Any:
    return spreadsheet_safe(value) if isinstance(value, str) else value
