"""Every golden file of one file, broken in a dozen ways: which problems are told, by code, line, column and text.

What is right is decided by each task's own tests; here stands the whole of it (`bad_files.json`), so that a change of
one reader shows what it does to all. Sentences are left out: they may be put better at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidFile
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task
from tests.evergold.scoring.test_golden import GOLDEN, the

TOLD = Path(__file__).with_name("bad_files.json")
CASES = [path.name for path in sorted(GOLDEN.iterdir()) if the(path, "prediction") and the(path, "items.")]
Lines = list[str]


def separator(lines: Lines) -> str:
    return next((mark for mark in (",", "\t") if mark in lines[1]), " ")


def first(lines: Lines, place: int, text: str) -> Lines:
    """With another text in the first column."""
    mark = separator(lines)
    return [*lines[:place], mark.join([text, *lines[place].split(mark)[1:]]), *lines[place + 1 :]]


def last(lines: Lines, place: int, text: str) -> Lines:
    mark = separator(lines)
    return [*lines[:place], mark.join([*lines[place].split(mark)[:-1], text]), *lines[place + 1 :]]


WAYS: dict[str, Callable[[Lines], Lines]] = {
    "as it is": lambda lines: lines,
    "a line twice": lambda lines: [*lines, lines[2]],
    "the last line missing": lambda lines: lines[:-1],
    "the first line missing": lambda lines: [lines[0], *lines[2:]],
    "a value missing": lambda lines: last(lines, 2, ""),
    "the first value missing": lambda lines: last(lines, 1, ""),
    "another value": lambda lines: last(lines, 2, "nonsense"),
    "two other values": lambda lines: last(last(lines, 1, "nonsense"), 2, "x" * 200),
    "not a number": lambda lines: last(lines, 2, "NaN"),
    "a large number": lambda lines: last(lines, 2, "1e9"),
    "a negative number": lambda lines: last(lines, 2, "-1"),
    "a space behind the id": lambda lines: first(lines, 2, lines[2].split(separator(lines))[0] + " "),
    "no id": lambda lines: first(lines, 2, ""),
    "an unknown id": lambda lines: first(lines, len(lines) - 1, "zz9"),
    "another first column": lambda lines: first(lines, 0, "Nummer"),
    "another last column": lambda lines: last(lines, 0, "Nummer"),
    "a column more": lambda lines: [line + separator(lines) + "more" for line in lines],
    "a line too long": lambda lines: [*lines[:2], lines[2] + separator(lines) + "more", *lines[3:]],
    "no lines": lambda lines: lines[:1],
    "everything wrong": lambda lines: last(first([*lines, lines[1]], 2, "zz9"), 1, "nonsense"),
}


def told(read: Callable[[], object]) -> list[Any]:
    """The kind of error, and of each problem what is not words; nothing if there is none."""
    try:
        read()
    except InvalidFile as invalid:
        problems: Sequence[Any] = invalid.problems
        return [type(invalid).__name__, *([p.code, p.line, p.column, p.text, p.lines] for p in problems)]
    return []


def all_told(name: str, folder: Path) -> dict[str, dict[str, list[Any]]]:
    """By what is broken and how."""
    task, case = get_task(name), GOLDEN / name
    said = case / "expected.json"
    options = read_options(task, json.loads(said.read_text()).get("options") if said.exists() else {})
    found: dict[str, dict[str, list[Any]]] = {}
    for part, read in readers(task, case, options).items():
        lines = lines_of(case, part)
        for way, broken in WAYS.items():
            path = folder / "broken"
            path.write_text("\n".join(broken(lines)) + "\n", encoding="utf-8")
            if problems := told(lambda read=read, path=path: read(path)):  # type: ignore[misc]
                found.setdefault(part, {})[way] = problems
    return found


def lines_of(case: Path, part: str) -> Lines:
    path = the(case, f"{part}.")
    assert path
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


def readers(task: AnyTask, case: Path, options: Options) -> dict[str, Callable[[Path], object]]:
    items = the(case, "items.")
    assert items
    wanted = task.read_items(items, options)
    return {
        "gold": lambda path: task.read_gold(path, options),
        "items": lambda path: task.read_items(path, options),
        "prediction": lambda path: task.read_prediction(path, wanted, options),
    }


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_of_a_broken_file(name: str, tmp_path: Path) -> None:
    wanted = json.loads(TOLD.read_text(encoding="utf-8"))[name]
    found = all_told(name, tmp_path)
    assert json.loads(json.dumps(found)) == wanted
    assert "as it is" not in {way for ways in found.values() for way in ways}
