"""The problems of a file as CSV: one line each, with position, message and the text found there."""

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
    """Return the problems as a download named after the file."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in filename) or "file"
    headers = {
        "Content-Disposition": f'attachment; filename="{stem}-problems.csv"',
        "Cache-Control": "private, no-cache",
    }
    return Response(problems_csv(problems), media_type="text/csv", headers=headers)


def problems_csv(problems: Sequence[Mapping[str, Any]]) -> str:
    """Return the problems as CSV, with texts from the user's file escaped against spreadsheet formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for problem in problems:
        writer.writerow([_cell(problem.get(column)) for column in COLUMNS])
    return text.getvalue()


def _cell(value: Any) -> Any:
    return spreadsheet_safe(value) if isinstance(value, str) else value
