"""The golden files of mwe-paraphrase, and how tests change and pack them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidPrediction
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.tasks.mwe_paraphrase import TASK, Items, Prediction

GOLDEN = Path(__file__).parents[2] / "golden" / "mwe-paraphrase"
OPTIONS = Options()
IDS = ("en-1", "en-2", "en-3", "en-4")
ROWS = json.loads((GOLDEN / "prediction" / "EN" / "test.system.json").read_text(encoding="utf-8"))
SYSTEM = "EN/test.system.json"


def zipped(path: Path, members: Mapping[str, Any]) -> Path:
    """Write a zip: texts and bytes unchanged, everything else as JSON."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return path


def items(options: Options = OPTIONS) -> Items:
    return TASK.read_items(GOLDEN / "items", options)


def predicted(tmp_path: Path, members: Mapping[str, Any], options: Options = OPTIONS) -> Prediction:
    return TASK.read_prediction(zipped(tmp_path / "upload", members), items(), options)


def rejected(tmp_path: Path, rows: Any, name: str = SYSTEM) -> list[str]:
    """Return the problems reported about a zip with this file."""
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {name: rows})
    return [str(problem).removeprefix(f"{SYSTEM}, ").removeprefix(f"{SYSTEM}: ") for problem in caught.value.problems]


def row(id_: str = "en-1", prediction: Any = "She finally died last winter.", **more: Any) -> dict[str, Any]:
    return {"source_sent_id": id_, "prediction": prediction, **more}


def rows_with(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the golden prediction, with the rows of the same ids replaced."""
    by_id = {one["source_sent_id"]: one for one in changed}
    return [by_id.get(one["source_sent_id"], one) for one in ROWS]
