"""The interface of task types: a frozen dataclass of functions. A task's module fills one in, `evergold.scoring.tasks`
registers it.

The parts can be used and tested alone: `read_prediction` needs items and no gold, so that it also runs on a
participant's laptop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evergold.scoring.errors import InvalidOptions, Problem, shorten
from evergold.scoring.halves import Keep
from evergold.value_words import fault_words, field_of, own_words

if TYPE_CHECKING:
    from evergold.scoring.resampling.sample import Sample
    from evergold.scoring.running import ProgramScores, RunFiles, Runner

#: The interface that this module is. It rises when a task type written for the version before could fail; task types
#: from outside say which one they are written for, and others are not used.
API_VERSION = 2
#: Task types written for these versions work unchanged: 2 only added parts that a task type may leave out.
API_VERSIONS = (1, API_VERSION)
#: The reason of a score whose setting (or language, or track) the team left out; such a team stays out of that column.
NOT_ENTERED = "not entered"
#: So much of a text is kept where people look at single items.
TEXT_CHARACTERS = 500


class Options(BaseModel):
    """Base of the options of a task type: unknown names are refused, values never change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HasWarnings(Protocol):
    """A prediction with warnings: peculiarities that do not prevent scoring."""

    @property
    def warnings(self) -> tuple[Problem, ...]: ...


O = TypeVar("O", bound=Options)  # noqa: E741 - O, I, G, P read as Options, Items, Gold, Prediction
I = TypeVar("I")  # noqa: E741
G = TypeVar("G")
P = TypeVar("P", bound=HasWarnings)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its description for people, shown beside boards and in the docs.

    minimum, maximum: the theoretical range (None: unbounded); higher_is_better: which end wins;
    percent: pages show the value times 100; has_interval: whether it is an estimate, which other items would change
    (unlike a p, or the number of languages submitted); is_share: whether each item counts as 0 or 1 and the score is
    their mean; aspect: for a measure with several numbers, this one's (`mean`, `sd`, `rho`): boards show one at a time.
    """

    name: str
    title: str
    description: str
    minimum: float | None = 0.0
    maximum: float | None = 1.0
    higher_is_better: bool = True
    percent: bool = False
    has_interval: bool = True
    is_share: bool = False
    aspect: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One (metric, split) that a board may show, with its title unless the organiser gives another."""

    metric: str
    split: str
    title: str


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: a value, or None with the reason why it is undefined; never NaN, never 0 for "undefined"."""

    metric: str
    split: str
    value: float | None
    reason: str | None
    signature: str

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a score has either a value or a reason")
        if self.value is not None and not abs(self.value) < float("inf"):
            raise ValueError("a score's value must be finite")


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result of one item of a prediction, for people who look at single items. It reveals the item's gold.

    item: its id as the items file has it; splits: the narrowest splits of the task's scores that it counts in, such as
    `zero_shot/en`: an item with two settings has a result for each. gold, predicted: a label, a text, or a
    finite number in the task's own unit; gold is None where there is no value of gold for the item alone.
    matched: for items with any number of answers: how many are on both sides; gold and predicted are then how many
    there are on each. is_right: None if items are not right or wrong (numbers), or gold is None.
    error: in the unit of gold, 0 is best: for numbers predicted minus gold, with its sign; for several answers how many
    are on one side alone; for texts that get a number, its difference to that of gold's own text (-0.2 of 1);
    None for labels and other texts, and where gold is None.
    """

    item: str
    splits: tuple[str, ...]
    gold: str | float | None
    predicted: str | float
    is_right: bool | None = None
    error: float | None = None
    matched: int | None = None


@dataclass(frozen=True)
class Task(Generic[O, I, G, P]):
    """A task type.

    name, version: `version` rises whenever any score could change;
    options: the pydantic model of what organisers may set;
    metrics: every metric that `score` returns, by name; empty if `metrics_by` gives them; columns(options): every
    (metric, split) a board may show; these are stored as rows, all scores in the run's report; read_items(path,
    options): the items to be predicted, from the blind file or from gold (raises InvalidItems); read_gold(path,
    options): the gold, a file or a folder (raises InvalidGold); items_of(gold, options): the items that this gold
    demands, for when there is no blind file; demands(items): the names of all that must be predicted, each with its
    content (a language, a sentence, …): blind items and those of gold must have the same; read_prediction(path, items,
    options): the prediction, checked (raises InvalidPrediction with every problem); score(gold, prediction, options):
    the scores, in a fixed order; pure arithmetic; template(items, options): the text of an empty submission file, to
    download, or None if there is none;
    template_name: the name of that file; None: there never is one, so that the items need not be read to know;
    read_gold_with_train(path, train, options): for tasks that compare gold with training data given beside it;
    report(gold, prediction, options): JSON-able aggregates for pages (histograms, tables), never per-item outcomes;
    outcomes(gold, prediction, options): data per item from which every score can be recomputed, also with other weights
    of items; JSON-able. They reveal gold: workers store them sealed; score_with_outcomes(gold, prediction, options):
    scores and outcomes at once, if that saves an expensive step; else None; sample(outcomes): the scores with the data
    they are computed from, for intervals and comparisons (`resampling`); item_results(gold, prediction, options): the
    result of each item, in a fixed order, for people to look at; called only if organisers declare gold to be public;
    it never moves a score; item_results_from_outcomes(gold, prediction, options, outcomes): the same for tasks whose
    scores are expensive, so that nothing is computed twice; text_reports(document, options): further formats of
    `evergold score --format NAME`, made from `report`; part(gold, prediction, keep): gold and prediction reduced to the
    items to keep, by id or by cluster (`resample_by`); None if items cannot be divided in this way (`halves`);
    advice(options): a sentence on options that organisers should set as well; None if there is nothing to advise;
    metrics_by(options): for types whose metrics organisers declare: the metrics, by name; read them by `metrics_of`;
    seconds_by(options): for types whose time organisers declare: how many seconds one run may take, see `seconds_of`;
    run(files, options, runner): the scores, by a program that is not ours (`evergold.scoring.running`); such a type
    reads no content of gold, and its gold is opened separately for every run; bound_to(options): for types with `run`:
    everything that opens gold in a run, as one line, for which gold is sealed;
    needs_gpu: runs go to the `gpu` queue;
    api_version: for an external task type, the API_VERSION for which it is written, as a number;
    distribution: the one that contains an external task type, `evergold-quiz 1.0.0`; filled in on registration.
    """

    name: str
    version: int
    title: str
    summary: str
    options: type[O]
    metrics: Mapping[str, Metric]
    columns: Callable[[O], tuple[Column, ...]]
    read_items: Callable[[Path, O], I]
    read_gold: Callable[[Path, O], G]
    items_of: Callable[[G, O], I]
    read_prediction: Callable[[Path, I, O], P]
    score: Callable[[G, P, O], list[Score]]
    template: Callable[[I, O], str | None]
    demands: Callable[[I], Mapping[str, object]] | None = None
    read_gold_with_train: Callable[[Path, Sequence[Path], O], G] | None = None
    report: Callable[[G, P, O], dict[str, Any]] | None = None
    outcomes: Callable[[G, P, O], dict[str, Any]] | None = None
    score_with_outcomes: Callable[[G, P, O], tuple[list[Score], dict[str, Any]]] | None = None
    sample: Callable[[Mapping[str, Any]], Sample] | None = None
    item_results: Callable[[G, P, O], list[ItemResult]] | None = None
    item_results_from_outcomes: Callable[[G, P, O, Mapping[str, Any]], list[ItemResult]] | None = None
    text_reports: Mapping[str, Callable[[Any, O], str]] = field(default_factory=dict)
    part: Callable[[G, P, Keep], tuple[G, P]] | None = None
    metrics_by: Callable[[O], Mapping[str, Metric]] | None = None
    seconds_by: Callable[[O], float] | None = None
    run: Callable[[RunFiles, O, Runner], ProgramScores] | None = None
    bound_to: Callable[[O], str] | None = None
    template_name: str | None = "template.csv"
    advice: Callable[[O], str | None] | None = None
    needs_gpu: bool = False
    api_version: int | None = None
    distribution: str = ""

    def metrics_of(self, options: O) -> Mapping[str, Metric]:
        """Return every metric of a task with these options, by name."""
        return self.metrics if self.metrics_by is None else self.metrics_by(options)

    def seconds_of(self, options: O) -> float | None:
        """Return how many seconds a run with these options may take; None: the server's limit for all runs."""
        return None if self.seconds_by is None else self.seconds_by(options)

    @property
    def has_item_results(self) -> bool:
        """True if it gives the results of single items."""
        return self.item_results is not None or self.item_results_from_outcomes is not None


AnyTask = Task[Any, Any, Any, Any]


def read_options(task: AnyTask, document: Mapping[str, Any] | None = None) -> Options:
    """Return the options, with the task's defaults; raises InvalidOptions with every problem, each by option name."""
    try:
        options: Options = task.options.model_validate(dict(document or {}))
    except ValidationError as invalid:
        raise InvalidOptions(_option_problem(task, fault) for fault in invalid.errors(include_url=False)) from None
    return options


def read_gold(task: Task[O, I, G, P], path: Path, train: Sequence[Path], options: O) -> G:
    """Read the gold, with training data to compare it with, if given.

    Raises InvalidGold, or InvalidOptions if the task has no use for training data.
    """
    if not train:
        return task.read_gold(path, options)
    if task.read_gold_with_train is None:
        raise InvalidOptions([Problem("unknown-option", f"{task.name} does not use training data")])
    return task.read_gold_with_train(path, train, options)


def score_with_outcomes(
    task: Task[O, I, G, P], gold: G, prediction: P, options: O
) -> tuple[list[Score], dict[str, Any] | None]:
    """Return the scores, and the outcomes from which they follow; None if the task type has none."""
    if task.score_with_outcomes is not None:
        return task.score_with_outcomes(gold, prediction, options)
    scores = task.score(gold, prediction, options)
    return scores, task.outcomes(gold, prediction, options) if task.outcomes else None


def item_results(
    task: Task[O, I, G, P], gold: G, prediction: P, options: O, outcomes: Mapping[str, Any] | None
) -> list[ItemResult] | None:
    """Return the result of every item; None if the task type has no results of single items. outcomes: those from
    `score_with_outcomes`.
    """
    if task.item_results_from_outcomes is not None and outcomes is not None:
        return task.item_results_from_outcomes(gold, prediction, options, outcomes)
    return task.item_results(gold, prediction, options) if task.item_results is not None else None


#: Names that pydantic gives to the kinds of a union.
_KIND = re.compile(r"constrained-|(dict|list|tuple|function-\w+)\[")


def _option_problem(task: AnyTask, fault: Mapping[str, Any]) -> Problem:
    name = ".".join(str(part) for part in fault["loc"] if not _KIND.match(str(part)))
    if fault["type"] == "extra_forbidden":
        known = ", ".join(task.options.model_fields) or "none"
        return Problem("unknown-option", f"{task.name} has no option {shorten(name)}; its options are: {known}")
    if fault["type"] in ("value_error", "assertion_error"):
        message = own_words(fault)
        return Problem("bad-option", f"{task.name}, option {name}: {message}" if name else f"{task.name}: {message}")
    return Problem(
        "bad-option", f"{task.name}, option {name} {fault_words(fault, field_of(task.options, fault['loc']))}"
    )


def signature(task: str, version: int, metric: str, split: str, **parts: object) -> str:
    """Return how a score was computed, as one line: `idiom-detection:1|macro_f1|zero_shot/all|labels:0,1|…`.

    Two scores may be compared if and only if their signatures are equal. `parts` holds every option and choice that can
    move the number, as `name:value` in the order given; sequences are joined by commas, None is written `none`.
    """
    named = [f"{name}:{_written(value)}" for name, value in parts.items()]
    return "|".join([f"{task}:{version}", metric, split, *named])


def _written(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(_written(part) for part in value)
    return str(value)
