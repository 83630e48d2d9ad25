"""Per-item outcomes are JSON, and yield the golden scores again, computed with other people's code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from evergold.scoring.errors import InvalidGold
from evergold.scoring.task import AnyTask, read_options
from evergold.scoring.tasks import TASKS

GOLDEN = Path(__file__).parents[2] / "golden"


def outcomes_of(name: str, gold: str, prediction: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outcomes of a golden case, as they are after having been JSON, and the scores calculated by hand."""
    task: AnyTask = TASKS[name]
    options = read_options(task)
    answers = task.read_gold(GOLDEN / name / gold, options)
    checked = task.read_prediction(GOLDEN / name / prediction, task.items_of(answers, options), options)
    assert task.outcomes is not None
    found: dict[str, Any] = json.loads(json.dumps(task.outcomes(answers, checked, options), allow_nan=False))
    return found, json.loads((GOLDEN / name / "expected.json").read_text())["scores"]


def value(expected: Mapping[str, Any], name: str) -> float | None:
    """A score as calculated by hand, written as a fraction or a number; None where it is a reason."""
    try:
        return float(Fraction(expected[name]))
    except ValueError:
        return None


def test_idiom_detection_by_label_of_every_item() -> None:
    found, expected = outcomes_of("idiom-detection", "gold.csv", "prediction.csv")
    compared = 0
    for setting, predicted in found["predicted"].items():
        for split in ("all", *sorted(set(found["languages"]))):
            hand = value(expected, f"macro_f1 {setting}/{split}")
            if predicted is None:
                assert hand is None
                continue
            chosen = [n for n, language in enumerate(found["languages"]) if split in ("all", language)]
            again = f1_score([found["gold"][n] for n in chosen], [predicted[n] for n in chosen], average="macro")
            assert again == pytest.approx(hand, abs=1e-12), (setting, split)
            compared += 1
    assert compared > 1
    assert len(found["items"]) == len(found["gold"]) == len(found["languages"])


def test_idiom_similarity_by_target_and_similarity_of_every_row() -> None:
    found, expected = outcomes_of("idiom-similarity", "gold.csv", "prediction.csv")
    compared = 0
    for setting, pair in found["settings"].items():
        for split, rows in found["splits"].items():
            hand = value(expected, f"spearman {setting}/{split}")
            if hand is not None:
                targets, predicted = ([pair[side][n] for n in rows] for side in ("targets", "predicted"))
                assert spearmanr(targets, predicted).statistic == pytest.approx(hand, abs=1e-12), (setting, split)
                compared += 1
    assert compared > 1


def test_mwe_identification_by_counts_of_every_sentence() -> None:
    found, expected = outcomes_of("mwe-identification", "gold", "prediction")
    compared = 0
    for language, outcomes in found["languages"].items():
        for split, bases in outcomes["cells"].items() if outcomes["submitted"] else ():
            for basis, rows in bases.items():
                right, in_gold, in_predicted = (sum(row[place] for row in rows) for place in (1, 2, 3))
                where = language if split == "all" else f"{language}/{split}"
                hand = value(expected, f"{basis}_f1 {where}")
                # F1 = 2·TP / (gold + predicted)
                assert 2 * right / (in_gold + in_predicted) == pytest.approx(hand, abs=1e-12), where
                assert [row[0] for row in rows] == sorted({row[0] for row in rows}), "a row for each sentence, in order"
                compared += 1
    assert compared > 4


@pytest.mark.parametrize(
    ("name", "gold", "prediction"),
    [
        ("idiom-detection", "gold.csv", "prediction.csv"),
        ("idiom-similarity", "gold.csv", "prediction.csv"),
        ("mwe-identification", "gold", "prediction"),
    ],
)
def test_outcomes_of_a_prediction_for_other_items_are_refused_as_scores_are(
    tmp_path: Path, name: str, gold: str, prediction: str
) -> None:
    task: AnyTask = TASKS[name]
    options = read_options(task)
    answers = task.read_gold(GOLDEN / name / gold, options)
    others = task.items_of(_other_gold(task, tmp_path), options)
    checked = task.read_prediction(_for(task, others, tmp_path), others, options)
    assert task.outcomes is not None
    with pytest.raises(InvalidGold):
        task.outcomes(answers, checked, options)


def _other_gold(task: AnyTask, folder: Path) -> Any:
    path = folder / "gold"
    texts = {
        "idiom-detection": "ID,Language,Label\nelsewhere,EN,0\n",
        "idiom-similarity": "ID,DataID,Language,sim,otherID\nelsewhere,a.b.sts,EN,0.5,\n",
        "mwe-identification": "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"
        "1\tElsewhere\telsewhere\tX\t_\t_\t0\troot\t_\t_\t*\n\n",
    }
    path.write_text(texts[task.name])
    return task.read_gold(path, read_options(task))


def _for(task: AnyTask, items: Any, folder: Path) -> Path:
    """A prediction for these items."""
    if task.name == "mwe-identification":
        return folder / "gold"
    path = folder / "prediction.csv"
    setting, column, given = {
        "idiom-detection": ("zero_shot", "Label", "0"),
        "idiom-similarity": ("pre_train", "Sim", "0.5"),
    }[task.name]
    path.write_text(f"ID,Language,Setting,{column}\nelsewhere,EN,{setting},{given}\n")
    return path
