"""The demo's calendar: dates relative to the first start of the server, which is stored in the data directory.

phases.yaml has dates that hold for years. On a server started with `--demo`, the demo's phases instead surround its
first start and then stay fixed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.declarations.check import LoadedCompetition
from app.declarations.model import CompetitionDeclaration

COMPETITION = "demo"
_FILE = "demo.json"
#: Days from the first start to the start and the end of each phase; None: always open.
DAYS: dict[str, tuple[float, float | None]] = {
    "practice": (-60, None),
    "evaluation": (-39, 12),
    "blind-test": (-9, 12),
    "post-evaluation": (12, None),
}


def note_first_start(data_dir: Path, now: datetime) -> None:
    """Store the moment of the first start with `--demo`; later calls change nothing."""
    if not (data_dir / _FILE).exists():
        _write(data_dir, {"first_start": now.isoformat(timespec="seconds"), "history_told": False})


def note_told(data_dir: Path) -> None:
    """Record that the demo history was generated, so that it is not generated again."""
    _write(data_dir, {**_read(data_dir), "history_told": True})


def is_told(data_dir: Path) -> bool:
    return bool(_read(data_dir).get("history_told"))


def first_start(data_dir: Path) -> datetime:
    return datetime.fromisoformat(_read(data_dir)["first_start"])


def evaluation_start(start: datetime) -> datetime:
    return _moment(start, DAYS["evaluation"][0])


def dated(loaded: Sequence[LoadedCompetition], data_dir: Path) -> list[LoadedCompetition]:
    """Return the competitions with the demo's dates around its first start; as declared if it never started."""
    kept = _read(data_dir)
    if "first_start" not in kept:
        return list(loaded)
    start = datetime.fromisoformat(kept["first_start"])
    return [_moved(one, start) if one.declaration.name == COMPETITION else one for one in loaded]


def _moved(loaded: LoadedCompetition, start: datetime) -> LoadedCompetition:
    document = deepcopy(loaded.document)
    for phase in document.get("phases", ()):
        if phase["name"] in DAYS:
            begins, ends = DAYS[phase["name"]]
            phase["start"] = _text(start, begins)
            if ends is not None:
                phase["end"] = _text(start, ends)
    return replace(loaded, declaration=CompetitionDeclaration.model_validate(document), document=document)


def _moment(start: datetime, days: float) -> datetime:
    """Count from midnight after the first start, so that pages show 12 days during the whole first day."""
    midnight = start.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return midnight + timedelta(days=days)


def _text(start: datetime, days: float) -> str:
    return f"{_moment(start, days):%Y-%m-%d %H:%M} UTC"


def _read(data_dir: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads((data_dir / _FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return kept


def _write(data_dir: Path, kept: dict[str, Any]) -> None:
    unfinished = data_dir / f"{_FILE}.unfinished"
    unfinished.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    unfinished.replace(data_dir / _FILE)
