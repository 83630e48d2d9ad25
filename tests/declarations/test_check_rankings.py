"""Findings of `check` about rankings across tasks, by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.declarations.competition_folder import Competition, make_competition


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def declare(demo: Competition, ranking: str) -> None:
    phases = "    phases:\n      - name: practice\n"
    demo.change(phases, f"    rankings: [{ranking}]\n{phases}")


def test_what_is_right(demo: Competition) -> None:
    declare(demo, "{name: all, title: All, by: mean_score, missing: zero, boards: [{board: zero-shot, weight: 2}]}")
    assert demo.said() == []


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (
            "{name: all, title: All, boards: [{board: zeroshot}]}",
            "no board 'zeroshot'; did you mean 'zero-shot'?",
        ),
        (
            "{name: all, title: All, boards: [{board: zero-shot}, {board: zero-shot}]}",
            "is in this ranking twice",
        ),
        (
            "{name: all, title: All, missing: zero, boards: [{board: zero-shot}]}",
            "use 'zero' only with 'by: mean_score'",
        ),
        ("{name: all, title: All, boards: [{board: zero-shot, weight: 0}]}", "'weight'"),
        (
            "{name: all, title: A, boards: [{board: zero-shot}]}, {name: all, title: B, boards: [{board: zero-shot}]}",
            "the ranking 'all' is declared twice; first on line",
        ),
    ],
)
def test_what_is_wrong(demo: Competition, ranking: str, expected: str) -> None:
    declare(demo, ranking)
    (said,) = demo.said()
    assert expected in said
