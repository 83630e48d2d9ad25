"""Problems: one line each, whatever the file contains."""

from __future__ import annotations

import pytest

from evergold.scoring.errors import Problem


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\0b", r"a\x00b"),  # PostgreSQL refuses NUL in any text
        ("a\nb\u2028c", r"a\nb\u2028c"),
        ("\ud800", r"\ud800"),  # cannot be encoded
        ("\x1b[31mred", r"\x1b[31mred"),  # would colour a terminal
        ("می‌خواهم é 日本", "می‌خواهم é 日本"),  # Persian needs its zero-width non-joiner
    ],
)
def test_control_characters_of_a_file_are_escaped_in_every_part(raw: str, shown: str) -> None:
    problem = Problem("bad", raw, file=raw, line=1, column=raw, text=raw)
    assert (problem.message, problem.file, problem.column, problem.text) == (shown,) * 4
    assert str(problem) == f"{shown}, line 1, column {shown}: {shown}"
    assert Problem.from_dict(problem.as_dict()) == problem
