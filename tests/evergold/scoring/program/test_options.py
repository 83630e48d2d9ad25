"""Options of organisers' own programs: what is refused, in words, and what metrics come out."""

from __future__ import annotations

from typing import Any

import pytest

from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

TASK = TASKS["program"]
ONE = [{"name": "accuracy"}]


def refused(**options: Any) -> str:
    with pytest.raises(InvalidOptions) as caught:
        read_options(TASK, {"metrics": ONE, **options})
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metrics": []}, "option metrics must not be empty"),
        ({"metrics": [*ONE, *ONE]}, "the metric accuracy is declared twice"),
        ({"metrics": [*ONE, {"name": "other", "key": "accuracy"}]}, "accuracy and other read the same key, 'accuracy'"),
        (
            {"metrics": [{"name": "mean", "mean_of": ["accuracy"]}, *ONE]},
            "'accuracy' is not a metric declared before it",
        ),
        ({"metrics": [*ONE, {"name": "m", "mean_of": ["accuracy"], "key": "m"}]}, "m is one thing: a key"),
        ({"metrics": [*ONE, {"name": "m", "mean_of": ["accuracy"], "sum_of": ["accuracy"]}]}, "m is one thing: a key"),
        ({"metrics": [{"name": "a", "minimum": 1, "maximum": 0}]}, "minimum of a must be below its maximum"),
        ({"metrics": [{"name": "a", "maximum": float("inf")}]}, "minimum and maximum of a must be finite"),
        ({"metrics": [{"name": "a", "better": "both"}]}, "option metrics.0.better"),
        ({"image": "python:3.11"}, "give an image with its digest, name@sha256:…"),
        ({"image": f"a@sha256:{'0' * 64}", "python": "3.11"}, "an image has its own environment"),
        ({"steps": ["ingestion", "scoring"]}, "programs that run a team's code (ingestion) are not supported"),
        ({"contract": "evalai", "command": "python3 a.py"}, "an EvalAI package has no command"),
        ({"environment": ["-e git+https://example.org/a"]}, "'-e git+https://example.org/a' is not a requirement"),
        ({"files": {"required": ["*.csv"]}}, "'*.csv' is a pattern: required files have names"),
        ({"files": {"allowed": ["../a"]}}, "'../a' is not the name of a file in an upload"),
        ({"tables": {"/etc/passwd": ["id"]}}, "'/etc/passwd' is not the name of a file in an upload"),
        ({"json_schema": {"a.json": {"type": "thing"}}}, "json_schema of a.json:"),
        ({"json_schema": {"a.json": {"$ref": "http://example.org/a.json"}}}, "nothing is fetched"),
        ({"json_schema": {"a.json": {"$ref": "file:///etc/passwd"}}}, "nothing is fetched"),
        ({"limits": {"seconds": 0}}, "option limits.seconds"),
        ({"python": "python3"}, "option python"),
        ({"colour": 1}, "program has no option colour"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(options: dict[str, Any], sentence: str) -> None:
    assert sentence in refused(**options)


def test_metrics_are_those_of_the_options() -> None:
    declared = [
        {"name": "wer", "key": "Word error", "title": "WER", "better": "lower", "minimum": 0, "decimals": 2},
        {"name": "mean", "mean_of": ["wer"]},
    ]
    options = read_options(TASK, {"metrics": declared, "limits": {"seconds": 7}})
    metrics = TASK.metrics_of(options)
    assert list(metrics) == ["wer", "mean"]
    assert (metrics["wer"].title, metrics["wer"].higher_is_better) == ("WER", False)
    assert (metrics["wer"].minimum, metrics["wer"].maximum) == (0, None)
    assert metrics["mean"].description == "The mean of wer."
    assert [(one.metric, one.split, one.title) for one in TASK.columns(options)] == [
        ("wer", "all", "WER"), ("mean", "all", "mean"),
    ]  # fmt: skip
    assert TASK.seconds_of(options) == 7


def test_other_task_types_have_the_metrics_that_they_always_had() -> None:
    for name in ("table", "idiom-detection", "ranking"):
        task = TASKS[name]
        assert task.metrics_of(read_options(task)) is task.metrics
        assert task.seconds_of(read_options(task)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"command": "python3 b.py"},
        {"environment": ["numpy==2.1.0"]},
        {"environment": "default"},
        {"python": "3.7"},
        {"image": f"a@sha256:{'0' * 64}"},
        {"program_sha256": "1" * 64},
        {"contract": "evalai"},
    ],
)
def test_what_opens_gold_is_in_what_gold_is_bound_to(change: dict[str, Any]) -> None:
    assert bound(change) != bound({})


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": [{"name": "other"}]},
        {"limits": {"seconds": 5}},
        {"files": {"required": ["a.csv"]}},
        {"tables": {"a.csv": ["id"]}},
        {"shown": {"stdout": "teams"}},
    ],
)
def test_columns_titles_limits_and_files_may_change_while_gold_stays_sealed(change: dict[str, Any]) -> None:
    assert bound(change) == bound({})


def bound(options: dict[str, Any]) -> str:
    assert TASK.bound_to is not None
    return TASK.bound_to(read_options(TASK, {"metrics": ONE, **options}))
