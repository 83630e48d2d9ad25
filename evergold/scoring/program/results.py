"""Scores from what a program wrote: declared metrics alone, finite and in their range, or undefined with a reason.

What it wrote under other keys, and what is wrong with declared ones, is for the organisers alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evergold.scoring.errors import shorten
from evergold.scoring.program.options import Audience, DeclaredMetric, ProgramOptions
from evergold.scoring.running import ProgramEnd, ProgramScores
from evergold.scoring.task import Metric, Score, signature

NAME, VERSION = "program", 1
SPLIT = "all"
#: So many undeclared keys are told, and so many characters of a value.
_UNDECLARED, _VALUE_CHARACTERS = 200, 200


def metrics_by(options: ProgramOptions) -> dict[str, Metric]:
    """Return the declared metrics, by name, in their order. No item-wise outcomes, so they have no intervals."""
    return {
        one.name: Metric(
            name=one.name,
            title=one.title or one.name,
            description=one.description or _described(one),
            minimum=one.minimum,
            maximum=one.maximum,
            higher_is_better=one.better == "higher",
            percent=one.percent,
            has_interval=False,
        )
        for one in options.metrics
    }


def _described(one: DeclaredMetric) -> str:
    if one.made_of is None:
        return f"Computed by the organisers' own program, which calls it {one.written_as}."
    rule, names = one.made_of
    words = {"mean_of": "The mean", "sum_of": "The sum", "min_of": "The smallest", "max_of": "The largest"}[rule]
    return f"{words} of {', '.join(names)}."


def scores_from(end: ProgramEnd, options: ProgramOptions) -> ProgramScores:
    """Return the scores of a run in declared order, and its log.

    A score is finite and within its declared range, else None with a reason; a metric made of others is None if one of
    them is. If the program failed, there are no scores.
    """
    log: dict[str, Any] = {
        "failure": end.failure,
        "exit_code": end.exit_code,
        "seconds": round(end.seconds, 3),
        "stdout": end.stdout.decode("utf-8", "replace"),
        "stderr": end.stderr.decode("utf-8", "replace"),
        "page": end.page.decode("utf-8", "replace") if end.page is not None else None,
        "notes": list(end.notes),
        "undeclared": {},
    }
    if end.failure is not None:
        return ProgramScores((), end.failure, log)
    written = end.scores or {}
    scores: dict[str, Score] = {}
    for metric in options.metrics:
        value, reason, note = _value(metric, written, scores)
        if note:
            log["notes"].append(note)
        scores[metric.name] = Score(metric.name, SPLIT, value, reason, signature_of(metric, end, options))
    known = {metric.written_as for metric in options.metrics if metric.made_of is None}
    others = [key for key in written if key not in known]
    log["undeclared"] = {shorten(key): shorten(repr(written[key]), _VALUE_CHARACTERS) for key in others[:_UNDECLARED]}
    if len(others) > _UNDECLARED:
        log["notes"].append(f"{len(others) - _UNDECLARED} more undeclared keys are left out")
    return ProgramScores(tuple(scores.values()), None, log)


def _value(
    metric: DeclaredMetric, written: Mapping[str, object], before: Mapping[str, Score]
) -> tuple[float | None, str | None, str | None]:
    """Return the value, or the reason why it is undefined, and a note for the organisers."""
    value, reason = _derived(metric, before) if metric.made_of else _number(metric, written)
    if value is None:
        return None, reason, None if metric.made_of else f"{metric.name}: {reason}"
    low, high = metric.minimum, metric.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        note = f"{metric.name} is {value!r}, outside its declared range, {_end(low)} to {_end(high)}"
        return None, "it lies outside its declared range", note
    return value, None, None


def _number(metric: DeclaredMetric, written: Mapping[str, object]) -> tuple[float | None, str | None]:
    if metric.written_as not in written:
        return None, "the program gave no score of this name"
    found = written[metric.written_as]
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None, "the program gave a value that is not a number"
    try:
        value = float(found)
    except OverflowError:
        return None, "the program gave an infinite number"
    if math.isnan(value):
        return None, "the program gave NaN, not a number"
    return (value, None) if math.isfinite(value) else (None, "the program gave an infinite number")


_RULES: Mapping[str, Callable[[Iterable[float]], float]] = {
    "mean_of": lambda values: math.fsum(found := list(values)) / len(found),
    "sum_of": math.fsum,
    "min_of": min,
    "max_of": max,
}


def _derived(metric: DeclaredMetric, before: Mapping[str, Score]) -> tuple[float | None, str | None]:
    rule, names = metric.made_of or ("", ())
    values = [before[name].value for name in names]
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        return None, f"{missing[0]} is undefined"
    try:
        value = _RULES[rule](value for value in values if value is not None)
    except OverflowError:
        value = math.inf
    return (value, None) if math.isfinite(value) else (None, "the sum is infinite")


def _end(bound: float | None) -> str:
    return "any" if bound is None else f"{bound:g}"


def signature_of(metric: DeclaredMetric, end: ProgramEnd, options: ProgramOptions) -> str:
    """Return the signature: the program, what it ran in, how it was called, and what the score was read from."""
    made_of = metric.made_of
    source = {made_of[0]: made_of[1]} if made_of else {"key": metric.written_as}
    command = "own" if options.command is None else short_hash(options.command)
    parts: dict[str, object] = {
        "program": options.program_sha256[:12] or "unstored",
        "environment": end.environment[:12],
        "image": end.image and end.image[:12],
        "contract": options.contract.value,
        "command": command,
        **({"phase": short_hash(options.phase)} if options.phase else {}),
        **{name: _unbroken(value) for name, value in source.items()},
    }
    return signature(NAME, VERSION, metric.name, SPLIT, **parts)


def _unbroken(value: object) -> object:
    """Return a text shortened and with the signature's separator escaped; any other value is returned unchanged."""
    return shorten(value.replace("|", "%7C")) if isinstance(value, str) else value


def short_hash(text: str) -> str:
    """Return the first 12 hexadecimal digits of the sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shown_to_teams(log: Mapping[str, Any], options: ProgramOptions) -> dict[str, Any]:
    """Return those parts of a log that the organisers show to teams."""
    shown = {"stdout": options.shown.stdout, "stderr": options.shown.stderr, "page": options.shown.details}
    return {name: log.get(name) for name, audience in shown.items() if audience is Audience.TEAMS and log.get(name)}
