"""Every golden file of one file, and further forms of files, broken in many ways: the reported problems, by code, line,
column and text.

Each task's own tests decide what is right; `bad_files.json` contains everything, so that a change of one reader shows
its effects on all. Sentences are left out, because they may be reworded at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidFile
from evergold.scoring.task import AnyTask, read_options
from evergold.scoring.tasks import get_task
from tests.evergold.scoring.test_golden import GOLDEN, the

TOLD = Path(__file__).with_name("bad_files.json")
Lines = list[str]
Options = dict[str, Any]
#: Forms that no golden case has: the task type, its options, gold, items, prediction.
FORMS: dict[str, tuple[str, Options, str, str, str]] = {
    "sequence-labelling, spans": (
        "sequence-labelling",
        {"types": ["PER", "LOC"]},
        '{"id": "1", "text": "Ann", "spans": [[0, 3, "PER"]]}\n{"id": "2", "text": "Rome", "spans": [[0, 4, "LOC"]]}\n',
        '{"id": "1", "text": "Ann"}\n{"id": "2", "text": "Rome"}\n',
        '{"id": "1", "spans": [[0, 2, "PER"]]}\n{"id": "2", "spans": [{"start": 0, "end": 4, "type": "LOC"}]}\n',
    ),
    "sequence-labelling, documents": (
        "sequence-labelling",
        {"resample_by": "document"},
        "# document = a\nAnn\tB-PER\nleft\tO\n\n# document = b\nRome\tB-LOC\n",
        "Ann\t_\nleft\t_\n\nRome\t_\n",
        "Ann\tB-PER\nleft\tI-PER\n\nRome\tI-LOC\n",
    ),
    "ranking, table": (
        "ranking",
        {"cutoffs": [3]},
        "query,document,relevance\nq1,a,2\nq1,b,0\nq2,d,1\n",
        "query,document\nq1,a\nq1,b\nq2,d\nq2,e\n",
        "query,document,score\nq1,a,1\nq1,b,3\nq2,d,2\nq2,e,1\n",
    ),
    "table, numbers": (
        "table",
        {
            "metrics": ["rmse"],
            "value": "value",
            "minimum": 0,
            "maximum": 5,
            "groups": {"part": ["x", "y"]},
            "resample_by": "topic",
        },
        "id,value,part,topic\n1,0.5,x,s\n2,5,x,t\n3,0,y,t\n4,1.25,y,s\n",
        "id,text\n1,a\n2,b\n3,c\n4,d\n",
        "id,value\n1,1\n2,4.5\n3,0\n4,5\n",
    ),
    "table, texts": (
        "table",
        {"metrics": ["chrf"], "value": "text", "references": ["second"], "allow_empty": True},
        "id,text,second\n1,one,uno\n2,two,\n3,three,tre\n",
        "id,source\n1,eins\n2,zwei\n3,drei\n",
        "id,text\n1,one\n2,\n3,tree\n",
    ),
    "meaning-matching, scores": (
        "meaning-matching",
        {"settings": ["zero_shot"], "languages": ["EN"], "resample_by": "Topic"},
        "ID,Language,SentenceID,Label,Topic\n1,EN,s1,1,x\n2,EN,s1,0,x\n3,EN,s2,1,y\n",
        "ID,Language,SentenceID,Sentence,Meaning\n1,EN,s1,a,b\n2,EN,s1,a,c\n3,EN,s2,d,e\n",
        "ID,Language,Setting,Label,Score\n1,EN,zero_shot,1,0.5\n2,EN,zero_shot,0,0.1\n3,EN,zero_shot,1,2\n",
    ),
}
GOLDEN_CASES = [path.name for path in sorted(GOLDEN.iterdir()) if the(path, "prediction") and the(path, "items.")]
CASES = [*GOLDEN_CASES, *FORMS]


def separator(lines: Lines) -> str:
    return next((mark for mark in (",", "\t") if mark in lines[1]), " ")


def first(lines: Lines, place: int, text: str) -> Lines:
    """Return the lines with another text in the first column."""
    mark = separator(lines)
    return [*lines[:place], mark.join([text, *lines[place].split(mark)[1:]]), *lines[place + 1 :]]


def last(lines: Lines, place: int, text: str) -> Lines:
    mark = separator(lines)
    return [*lines[:place], mark.join([*lines[place].split(mark)[:-1], text]), *lines[place + 1 :]]


def cell(lines: Lines, place: int, number: int, text: str) -> Lines:
    """Return the lines with another text in a column between the first and the last."""
    mark = separator(lines)
    cells = lines[place].split(mark)
    return [*lines[:place], mark.join([*cells[:number], text, *cells[number + 1 :]]), *lines[place + 1 :]]


def of_columns(lines: Lines) -> dict[str, Lines]:
    """Return the lines with each column between the first and the last empty, and with nonsense."""
    columns = range(1, len(lines[2].split(separator(lines))) - 1)
    return {
        f"column {number + 1} is {text or 'empty'}": cell(lines, 2, number, text)
        for number in columns
        for text in ("", "nonsense")
    }


def of_keys(lines: Lines) -> dict[str, Lines]:
    """Return the lines with each key of the second object missing, and with values of other kinds; and with unknown
    keys.
    """
    said = json.loads(lines[1])
    others: list[Any] = [None, "", -1, 1.5, [], [[0, 99, "PER"]], [[3, 1, "PER"], [0, 1, "PER"], [0, 1, "X"]], {"a": 1}]
    changed = {f"{key} is {json.dumps(other)}": {**said, key: other} for key in said for other in others}
    changed |= {f"no {key}": {name: said[name] for name in said if name != key} for key in said}
    changed["a key more"] = {**said, "more": 1}
    return {way: [lines[0], json.dumps(document), *lines[2:]] for way, document in changed.items()}


def broken(lines: Lines) -> dict[str, Lines]:
    """Return the broken files, by the way in which they are broken."""
    found = {way: broke(lines) for way, broke in WAYS.items()} if len(lines) > 2 else {}
    return found | (of_keys(lines) if lines[0].startswith("{") else of_columns(lines))


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
    """Return the kind of error, and the parts of each problem that are no words; nothing if there is none."""
    try:
        read()
    except InvalidFile as invalid:
        problems: Sequence[Any] = invalid.problems
        return [type(invalid).__name__, *([p.code, p.line, p.column, p.text, p.lines] for p in problems)]
    return []


@dataclass(frozen=True)
class Case:
    """The files of a task type, whole, and its options."""

    task: AnyTask
    options: Any
    files: dict[str, Path]


def case_of(name: str, folder: Path) -> Case:
    """A golden case, or a form, whose files are written into the folder."""
    if name not in FORMS:
        task, said = get_task(name), GOLDEN / name / "expected.json"
        options = json.loads(said.read_text()).get("options") if said.exists() else {}
        parts = {part: the(GOLDEN / name, f"{part}.") for part in ("gold", "items", "prediction")}
        return Case(task, read_options(task, options), {part: path for part, path in parts.items() if path})
    type_, options, *texts = FORMS[name]
    files = {part: folder / part for part in ("gold", "items", "prediction")}
    for path, text in zip(files.values(), texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return Case(get_task(type_), read_options(get_task(type_), options), files)


def all_told(name: str, folder: Path) -> dict[str, dict[str, list[Any]]]:
    """Return all reported problems, by what is broken and how."""
    case = case_of(name, folder)
    found: dict[str, dict[str, list[Any]]] = {}
    for part, read in readers(case).items():
        lines = case.files[part].read_text(encoding="utf-8").rstrip("\n").split("\n")
        for way, those in broken(lines).items():
            path = folder / "broken"
            path.write_text("\n".join(those) + "\n", encoding="utf-8")
            if problems := told(lambda read=read, path=path: read(path)):  # type: ignore[misc]
                found.setdefault(part, {})[way] = problems
    return found


def readers(case: Case) -> dict[str, Callable[[Path], object]]:
    task, options = case.task, case.options
    wanted = task.read_items(case.files["items"], options)
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
