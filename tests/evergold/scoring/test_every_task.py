"""Declarations of every task type for boards, and its problems with an archive that cannot be read."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, InvalidPrediction
from evergold.scoring.task import Metric, read_options
from evergold.scoring.tasks import get_task
from tests.evergold.scoring.test_golden import GOLDEN, the

#: Every name, title and range that boards, pages and exports show: whoever changes one sees here what else it changes.
DECLARED = Path(__file__).with_name("declared.json")
WITH_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("idiom-detection", {}),
    ("idiom-detection", {"settings": ["one_shot"], "labels": ["no", "yes", "both"], "languages": ["EN"]}),
    ("idiom-similarity", {}),
    ("idiom-similarity", {"settings": ["fine_tune"], "languages": ["PT", "GL"]}),
    ("idiomaticity-probing", {"levels": ["nc"]}),
    ("idiomaticity-probing", {"languages": ["en"], "component": "nc-level"}),
    ("meaning-matching", {}),
    ("meaning-matching", {"settings": ["zero_shot"], "languages": ["en", "de"]}),
    ("multi-label", {"labels": ["fear", "joy"]}),
    ("mwe-identification", {}),
    ("mwe-identification", {"languages": ["FR", "RO"], "categories": ["VID"], "rank_by": "unseen"}),
    ("mwe-identification", {"language": "FR", "rank_by": "token"}),
    ("mwe-paraphrase", {}),
    ("ranking", {"cutoffs": [5, 10], "rank_by": "map"}),
    ("sequence-labelling", {"types": ["PER", "LOC"], "rank_by": "macro"}),
    ("sequence-labelling", {"rank_by": "lenient_f1"}),
    ("table", {"metrics": ["macro_f1", "accuracy"], "groups": {"language": ["en", "pt"]}}),
    ("table", {"metrics": ["rmse", "spearman"], "minimum": 0, "maximum": 5}),
    ("table", {"metrics": ["mae", "pearson"]}),
    ("text-generation", {"metrics": ["chrf", "bleu"], "groups": {"language": ["en", "pt"]}}),
]


def declared(name: str, options: dict[str, Any]) -> dict[str, Any]:
    task = get_task(name)
    columns = [[column.metric, column.split, column.title] for column in task.columns(read_options(task, options))]
    return {"task": name, "options": options, "columns": columns}


def about(metric: Metric) -> list[Any]:
    marks = (metric.higher_is_better, metric.percent, metric.has_interval)
    return [metric.title, metric.description, metric.minimum, metric.maximum, *marks]


def test_names_titles_and_ranges_are_those_that_were_declared() -> None:
    wanted = json.loads(DECLARED.read_text(encoding="utf-8"))
    assert [declared(name, options) for name, options in WITH_OPTIONS] == wanted["columns"]
    found = {name: {m.name: about(m) for m in get_task(name).metrics.values()} for name, _ in WITH_OPTIONS}
    assert found == wanted["metrics"]


SCORED = [path.name for path in sorted(GOLDEN.iterdir()) if (path / "expected.json").is_file()]


def signatures(name: str) -> list[str]:
    """Return the signature of every score of the golden case, each once."""
    case, task = GOLDEN / name, get_task(name)
    options = read_options(task, json.loads((case / "expected.json").read_text(encoding="utf-8")).get("options"))
    gold_at, prediction_at = the(case, "gold"), the(case, "prediction")
    assert gold_at
    assert prediction_at
    gold = task.read_gold(gold_at, options)
    found = task.score(gold, task.read_prediction(prediction_at, task.items_of(gold, options), options), options)
    return list(dict.fromkeys(score.signature for score in found if score.signature))


@pytest.mark.parametrize("name", SCORED)
def test_signatures_say_how_each_score_was_computed(name: str) -> None:
    assert signatures(name) == json.loads(DECLARED.read_text(encoding="utf-8"))["signatures"][name]


CASES = [name for name in sorted(path.name for path in GOLDEN.iterdir()) if name not in ("mwe-paraphrase", "program")]


def archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "nothing of use")
    return path


def damaged(path: Path, *_: str) -> Path:
    path.write_bytes(archive(path, "one.csv").read_bytes()[:60])
    return path


@pytest.mark.parametrize("make", [archive, damaged])
@pytest.mark.parametrize("name", CASES)
def test_whose_file_is_no_file_is_told_by_the_kind_of_error(
    tmp_path: Path, name: str, make: Callable[..., Path]
) -> None:
    """Check that a team's upload is refused, and an organiser's gold stops the start: the same archive, three kinds of
    error.
    """
    task, case = get_task(name), GOLDEN / name
    told = case / "expected.json"
    options = read_options(task, json.loads(told.read_text()).get("options") if told.exists() else {})
    wrong, gold = make(tmp_path / "wrong.zip", "one.csv", "two.csv"), the(case, "gold")
    assert gold
    items = task.items_of(task.read_gold(gold, options), options)
    kinds: dict[type[InvalidFile], Callable[[], object]] = {
        InvalidItems: lambda: task.read_items(wrong, options),
        InvalidGold: lambda: task.read_gold(wrong, options),
        InvalidPrediction: lambda: task.read_prediction(wrong, items, options),
    }
    for kind, read in kinds.items():
        with pytest.raises(InvalidFile) as refused:
            read()
        assert type(refused.value) is kind
