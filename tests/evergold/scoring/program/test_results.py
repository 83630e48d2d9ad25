"""Scores from a program's output: declared metrics alone, finite and in range, else undefined with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.results import scores_from, shown_to_teams
from evergold.scoring.running import ProgramEnd

METRICS = [
    {"name": "f1", "key": "Mean F1", "minimum": 0, "maximum": 1},
    {"name": "err", "better": "lower", "minimum": -1},
    {"name": "mean", "mean_of": ["f1", "err"]},
    {"name": "sum", "sum_of": ["f1", "err"]},
    {"name": "least", "min_of": ["f1", "err"]},
    {"name": "most", "max_of": ["f1", "err"]},
]


def options(**said: Any) -> ProgramOptions:
    return ProgramOptions.model_validate({"metrics": METRICS, "program_sha256": "ab" * 32, **said})


def end(scores: dict[str, object] | None, **said: Any) -> ProgramEnd:
    values: dict[str, Any] = {
        "failure": None, "exit_code": 0, "page": None, "stdout": b"", "stderr": b"", "seconds": 0.1,
        "environment": "cd" * 32, "image": None,
    }  # fmt: skip
    return ProgramEnd(scores=scores, **(values | said))


def found(scores: dict[str, object]) -> dict[str, float | str | None]:
    return {
        one.metric: one.reason if one.value is None else one.value for one in scores_from(end(scores), options()).scores
    }


def test_declared_figures_are_made_of_what_the_program_wrote() -> None:
    # (0.5 + 0.25) / 2 = 0.375; 0.5 + 0.25 = 0.75
    assert found({"Mean F1": 0.5, "err": 0.25, "f1": 99}) == {
        "f1": 0.5, "err": 0.25, "mean": 0.375, "sum": 0.75, "least": 0.25, "most": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "the program gave NaN, not a number"),
        (float("inf"), "the program gave an infinite number"),
        (float("-inf"), "the program gave an infinite number"),
        (10**400, "the program gave an infinite number"),
        ("0.5", "the program gave a value that is not a number"),
        (True, "the program gave a value that is not a number"),
        (None, "the program gave a value that is not a number"),
        ([0.5], "the program gave a value that is not a number"),
        (1.0000001, "it lies outside its declared range"),
        (-1e-300, "it lies outside its declared range"),
    ],
)
def test_what_is_no_number_in_range_is_undefined_and_so_is_all_that_is_made_of_it(value: object, reason: str) -> None:
    scores = found({"Mean F1": value, "err": 0.25})
    assert scores["f1"] == reason
    assert scores["err"] == 0.25
    assert {scores[name] for name in ("mean", "sum", "least", "most")} == {"f1 is undefined"}
    log = scores_from(end({"Mean F1": value, "err": 0.25}), options()).log
    assert len(log["notes"]) == 1
    assert log["notes"][0].startswith("f1")


def test_a_missing_score_is_undefined_and_undeclared_keys_are_in_the_log_alone() -> None:
    result = scores_from(end({"err": 1, "f1": 0.5, "All": [1, 2]}), options())
    assert result.scores[0].reason == "the program gave no score of this name"
    assert result.log["undeclared"] == {"f1": "0.5", "All": "[1, 2]"}


def test_a_failed_program_gives_no_score() -> None:
    result = scores_from(end(None, failure="ended with exit code 3", exit_code=3, stderr=b"\xff no"), options())
    assert (list(result.scores), result.failure) == ([], "ended with exit code 3")
    assert (result.log["exit_code"], result.log["stderr"]) == (3, "\ufffd no")


SAME = "f1|all|program:abababababab|environment:cdcdcdcdcdcd|image:none|contract:codabench|command:own|key:Mean F1"


@pytest.mark.parametrize(
    ("said", "of_end"),
    [
        ({"program_sha256": "0" * 64}, {}),
        ({"command": "python3 a.py"}, {}),
        ({"contract": "evalai", "phase": "dev"}, {}),
        ({"metrics": [{"name": "f1", "key": "F1"}]}, {}),
        ({"metrics": [{"name": "e"}, {"name": "f1", "mean_of": ["e"]}]}, {}),
        ({}, {"environment": "0" * 64}),
        ({}, {"image": "1" * 64}),
    ],
)
def test_everything_that_can_move_a_score_is_in_its_signature(said: dict[str, Any], of_end: dict[str, Any]) -> None:
    def signature(declared: ProgramOptions, ended: ProgramEnd) -> str:
        return next(one.signature for one in scores_from(ended, declared).scores if one.metric == "f1")

    assert signature(options(), end({})) == f"program:1|{SAME}"
    assert signature(options(**said), end({}, **of_end)) != f"program:1|{SAME}"


def test_titles_ranges_and_limits_are_not_in_the_signature() -> None:
    metrics = [{"name": "f1", "key": "Mean F1", "title": "F", "minimum": -5}]
    declared = options(metrics=metrics, limits={"seconds": 5}, files={"allowed": ["*.csv"]})
    assert scores_from(end({"Mean F1": 0.5}), declared).scores[0].signature == f"program:1|{SAME}"


def test_teams_are_shown_what_is_declared_and_nothing_else() -> None:
    log = scores_from(end({"f1": 1}, stdout=b"out", stderr=b"err", page=b"<p>page"), options()).log
    assert shown_to_teams(log, options()) == {}
    assert shown_to_teams(log, options(shown={"stdout": "teams"})) == {"stdout": "out"}
    assert shown_to_teams(log, options(shown={"stderr": "teams", "details": "teams"})) == {
        "stderr": "err", "page": "<p>page",
    }  # fmt: skip
