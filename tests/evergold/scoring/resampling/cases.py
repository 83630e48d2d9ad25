"""Runs to resample: every golden case, and tables made from a seed for the options that these do not cover."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergold.scoring.resampling.sample import Sample
from evergold.scoring.task import AnyTask, Score, read_gold, read_options, score_with_outcomes
from evergold.scoring.tasks import get_task

GOLDEN = Path(__file__).parents[3] / "golden"
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "spilled", "beans", "kicked", "bucket", "over")


@dataclass(frozen=True)
class Run:
    """A run's scores, and the sample made from its outcomes after these have been JSON."""

    scores: list[Score]
    sample: Sample


def run_of(name: str, gold: Path, prediction: Path, options: Mapping[str, Any] | None = None) -> Run:
    """Score the files of a task type."""
    task: AnyTask = get_task(name)
    chosen = read_options(task, options)
    answers = read_gold(task, gold, (), chosen)
    checked = task.read_prediction(prediction, task.items_of(answers, chosen), chosen)
    scores, outcomes = score_with_outcomes(task, answers, checked, chosen)
    assert task.sample is not None
    return Run(scores, task.sample(json.loads(json.dumps(outcomes, allow_nan=False))))


def golden_run(name: str) -> Run:
    """Score the golden case of a task type that needs no encoder."""
    case = GOLDEN / name
    gold, prediction = (next(iter(sorted(case.glob(f"{part}*")))) for part in ("gold", "prediction"))
    return run_of(name, gold, prediction, json.loads((case / "expected.json").read_text()).get("options"))


def table_run(
    folder: Path,
    kind: str,
    items: int,
    options: Mapping[str, Any] | None = None,
    seed: int = 1,
    copies: Sequence[int] | None = None,
    other_answers: int = 1,
) -> Run:
    """Score a made-up table of this kind in two languages, with all metrics of the kind; its answers partly follow
    gold.

    copies: how often each item occurs (None: once); other_answers: another number gives other answers to the same gold.
    """
    chances = random.Random(seed), random.Random(other_answers)
    metrics = {
        "labels": ["accuracy", "macro_f1", "micro_f1", "weighted_f1", "mcc"],
        "numbers": ["pearson", "spearman", "kendall", "mae", "rmse"],
        "texts": ["exact_match", "chrf", "bleu", "ter", "rouge_1", "rouge_2", "rouge_l"],
    }[kind]
    rows = [
        (f"{row[0]}.{n}", *row[1:])
        for row in _rows(kind, items, *chances)
        for n in range(1 if copies is None else copies[row[0]])
    ]
    gold, prediction = folder / f"{kind}.gold.csv", folder / f"{kind}.csv"
    gold.write_text("id,label,language,other\n" + "".join(f"{n},{g},{lang},{o}\n" for n, g, _, lang, o in rows))
    prediction.write_text("id,label\n" + "".join(f"{n},{p}\n" for n, _, p, _, _ in rows))
    labels = {"labels": ["a", "b", "c", "d"]} if kind == "labels" else {}
    wanted = {"metrics": metrics, "groups": {"language": ["en", "pt"]}, **labels, **(options or {})}
    return run_of("table", gold, prediction, wanted)


def _rows(
    kind: str, items: int, chance: random.Random, answering: random.Random
) -> Iterator[tuple[int, str, str, str, str]]:
    for number in range(items):
        gold = _gold(kind, chance)
        other = " ".join(chance.choices(WORDS, k=4)) if kind == "texts" and chance.random() < 0.5 else ""
        yield number, gold, _answer(kind, gold, answering), "en" if number < 0.6 * items else "pt", other


def _gold(kind: str, chance: random.Random) -> str:
    if kind == "labels":
        return chance.choice("aaaaabbbc")
    return str(chance.randint(0, 20)) if kind == "numbers" else " ".join(chance.choices(WORDS, k=chance.randint(1, 9)))


def _answer(kind: str, gold: str, chance: random.Random) -> str:
    if kind == "labels":
        return gold if chance.random() < 0.6 else chance.choice("abcd")
    if kind == "numbers":
        return str(int(gold) + chance.randint(-9, 9))
    changed = [word if chance.random() < 0.8 else chance.choice(WORDS) for word in gold.split()]
    return " ".join(changed[: chance.randint(1, 9)])
