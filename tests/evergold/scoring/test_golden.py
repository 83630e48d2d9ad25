"""Every golden folder: items, gold and a prediction of its task type, with the scores computed by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evergold import scoring

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir() if (path / "expected.json").is_file())


def the(case: Path, name: str) -> Path | None:
    """Return the case's file or folder of this name, with any ending."""
    return next(iter(sorted(case.glob(f"{name}*"))), None)


def wanted(value: str | float) -> Any:
    """A number, written as such or as a fraction (`2/5`), or the reason why there is none."""
    try:
        return pytest.approx(float(Fraction(value)), abs=1e-12)
    except ValueError:
        return value


@pytest.mark.parametrize("blind", [True, False], ids=["blind-items", "items-of-gold"])
@pytest.mark.parametrize("name", CASES)
def test_scores_are_as_calculated_by_hand(name: str, blind: bool) -> None:
    case = GOLDEN / name
    gold, prediction, items = (the(case, part) for part in ("gold", "prediction", "items"))
    assert gold
    assert prediction
    document = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    found = scoring.score(name, gold, prediction, document.get("options"), items if blind else None)
    actual = {f"{s.metric} {s.split}": s.reason if s.value is None else s.value for s in found}
    assert list(actual) == list(document["scores"])
    for score, value in document["scores"].items():
        assert actual[score] == wanted(value), score
