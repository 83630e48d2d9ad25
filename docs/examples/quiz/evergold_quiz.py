"""exact-answer: one short answer per question; how many are right, letter by letter. The smallest whole task type.

Items: CSV `id`, others passed over. Gold: `id,answer`. Prediction: exactly `id,answer`, every id once, no answer empty.
Score: the number and the share of answers that equal gold, with `ignore_case` in any case. Source: an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evergold.scoring.archives import read_single
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problem, Problems, shorten
from evergold.scoring.tables import read_table
from evergold.scoring.task import Column, Metric, Options, Score, Task, signature

NAME, VERSION = "exact-answer", 1


class QuizOptions(Options):
    """ignore_case: whether `Paris` answers `paris`."""

    ignore_case: bool = False


@dataclass(frozen=True)
class Prediction:
    """An answer for each id."""

    answers: Mapping[str, str]
    warnings: tuple[Problem, ...] = ()


Items = tuple[str, ...]
Gold = Mapping[str, str]


def read_items(path: Path, options: QuizOptions) -> Items:
    """The ids; raises InvalidItems."""
    return tuple(_read(path, ["id"], InvalidItems))


def read_gold(path: Path, options: QuizOptions) -> Gold:
    """The right answers by id; raises InvalidGold."""
    return _read(path, ["id", "answer"], InvalidGold)


def items_of(gold: Gold, options: QuizOptions) -> Items:
    return tuple(gold)


def read_prediction(path: Path, items: Items, options: QuizOptions) -> Prediction:
    """The answers by id; raises InvalidPrediction with every problem of the file."""
    _, data = read_single(path)
    problems, answers = Problems(), dict[str, str]()
    if table := read_table(data, ["id", "answer"], problems):
        first: dict[str, int] = {}
        for line, id_, answer in zip(table.lines, table["id"], table["answer"], strict=True):
            if id_ not in items:
                problems.add("unknown-id", f"id {shorten(id_)!r} is not an item", line=line, column="id")
            elif (before := first.setdefault(id_, line)) != line:
                problems.add("duplicate-id", f"id {id_} appears twice, first on line {before}", line=line, column="id")
            if not answer.strip():
                problems.add("empty-cell", "the answer is empty", line=line, column="answer")
            answers[id_] = answer
        if missing := [id_ for id_ in items if id_ not in first]:
            problems.add("missing-id", f"{len(missing)} of {len(items)} ids are missing: {', '.join(missing[:5])}")
    problems.raise_if_any()
    return Prediction(answers)


def score(gold: Gold, prediction: Prediction, options: QuizOptions) -> list[Score]:
    """`right`, a count, and `share`, in [0, 1], of all answers; `share` is undefined where gold is empty."""
    right = sum(_same(answer, prediction.answers[id_], options) for id_, answer in gold.items())
    share = right / len(gold) if gold else None
    return [_score("right", float(right), options), _score("share", share, options)]


def columns(options: QuizOptions) -> tuple[Column, ...]:
    return tuple(Column(name, "all", metric.title) for name, metric in METRICS.items())


def template(items: Items, options: QuizOptions) -> str:
    return "\n".join(["id,answer", *(f"{id_}," for id_ in items), ""])


def _read(path: Path, wanted: list[str], error: type[InvalidFile]) -> dict[str, str]:
    """The last wanted column by id, of an organiser's file."""
    _, data = read_single(path, error=error)
    problems = Problems()
    table = read_table(data, wanted, problems, others=True)
    problems.raise_if_any(error)
    return dict(zip(table["id"], table[wanted[-1]], strict=True)) if table else {}


def _same(answer: str, found: str, options: QuizOptions) -> bool:
    return answer.casefold() == found.casefold() if options.ignore_case else answer == found


def _score(metric: str, value: float | None, options: QuizOptions) -> Score:
    signed = signature(NAME, VERSION, metric, "all", ignore_case=options.ignore_case)
    return Score(metric, "all", value, None if value is not None else "there is no item", signed)


METRICS = {
    "right": Metric("right", "Right answers", "How many answers equal gold.", 0.0, None),
    "share": Metric("share", "Share", "The share of the answers that equal gold.", percent=True),
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Exact answers",
    summary="One short answer per question, right or wrong.",
    options=QuizOptions,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    read_prediction=read_prediction,
    score=score,
    template=template,
    api_version=1,
)
