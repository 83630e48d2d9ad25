"""A starter kit for one task of a server: a script and a notebook that load the data, predict, check and submit.

Both consist of the same steps. They predict with the first baseline that needs no training data; users replace the line
that calls it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evergold.baselines.baseline import UnknownBaseline, written_zip
from evergold.baselines.catalogue import first_baseline

SCRIPT, NOTEBOOK, FOLDER = "starter.py", "starter.ipynb", "starter-kit"


@dataclass(frozen=True, slots=True)
class StarterTask:
    """A task of a server.

    task_type, options: as `evergold validate` takes them; items: the blind file's name on the server.
    """

    server: str
    competition: str
    phase: str
    task: str
    title: str
    task_type: str
    options: Mapping[str, Any]
    items: str

    @property
    def place(self) -> str:
        """The place, as commands and the client take it."""
        return f"{self.competition}/{self.phase}/{self.task}"


@dataclass(frozen=True, slots=True)
class Step:
    """A step: its description in Markdown, and its code."""

    text: str
    code: str


def has_starter_kit(task_type: str, options: Mapping[str, Any]) -> bool:
    """Return whether there is a baseline to begin with."""
    return first_baseline(task_type, options) is not None


def starter_kit(task: StarterTask) -> bytes:
    """Return the zip of both, the same bytes for the same task."""
    files = {SCRIPT: starter_script(task), NOTEBOOK: starter_notebook(task)}
    return written_zip({f"{FOLDER}/{name}": text.encode() for name, text in files.items()})


def starter_script(task: StarterTask) -> str:
    """Return the steps as a program; `--submit` submits."""
    head = f'"""{_words(_HEAD, task)}"""\n\n'
    parts = ["\n".join([*_commented(step.text), step.code]) for step in _steps(task, 'SUBMIT = "--submit" in sys.argv')]
    return head + "\n\n".join(parts) + "\n"


def starter_notebook(task: StarterTask) -> str:
    """Return the steps as a Jupyter notebook (format 4.5), without outputs."""
    cells = [_cell("markdown", "head", f"# {_words(_HEAD, task)}")]
    for number, step in enumerate(_steps(task, "SUBMIT = False  # True: the last step submits")):
        cells += [_cell("markdown", f"text-{number}", step.text), _cell("code", f"code-{number}", step.code)]
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _cell(kind: str, name: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def _commented(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.splitlines()]


def _words(template: str, task: StarterTask) -> str:
    """Fill in a template; quotes in an organiser's title must not end the docstring that contains it."""
    title, server = (text.replace("\\", " ").replace('"', "'") for text in (task.title, task.server))
    return template.format(title=title, server=server)


def _steps(task: StarterTask, submit: str) -> Sequence[Step]:
    baseline = first_baseline(task.task_type, task.options)
    if baseline is None:
        raise UnknownBaseline(f"{task.task_type} has no baseline to begin with")
    values = {
        "server": task.server,
        "place": task.place,
        "task_type": task.task_type,
        "options": dict(task.options),
        "items": task.items,
        "submission": f"submission{baseline.suffix}",
        "baseline": baseline.name,
        "path": f"/competitions/{task.competition}/phases/{task.phase}/tasks/{task.task}/files/",
    }
    written = {name: repr(value) for name, value in values.items()}
    return [Step(text, code.format(submit=submit, **written)) for text, code in _STEPS]


_HEAD = """{title}: a first submission

Needs Python 3.11 and `pip install 'evergold[metrics]'`. The first run needs nothing else where the data are public; to
submit, `evergold login {server}` first.
"""

_STEPS = (
    (
        "Which task, and where.",
        """\
import sys
from pathlib import Path

from evergold.baselines.catalogue import write_baseline
from evergold.client import Client
from evergold.scoring import validate

SERVER = {server}
PLACE = {place}
TASK_TYPE = {task_type}
OPTIONS = {options}
{submit}""",
    ),
    (
        "Load the data: the blind file, as the page *Data* has it.",
        """\
items = Path({items})
if not items.exists():
    with Client(SERVER) as client:
        client.download({path} + items.name, items)
print(f"{{items}}: {{items.stat().st_size:,}} bytes")""",
    ),
    (
        "Predict. This is the line to replace: read `items`, and write your own predictions into `submission`.",
        """\
submission = Path({submission})
write_baseline(TASK_TYPE, {baseline}, items, submission, options=OPTIONS)""",
    ),
    (
        "Check the file as the server would, here and without the gold. What is wrong with it would be raised.",
        """\
for warning in validate(TASK_TYPE, items, submission, OPTIONS):
    print("Warning:", warning)
print(f"{{submission}} can be submitted.")""",
    ),
    (
        "Submit it, and wait for its score.",
        """\
if SUBMIT:
    with Client(SERVER) as client:
        result = client.submit(submission, PLACE, method="Starter kit: " + {baseline})
    print(result.status, result.message)""",
    ),
)
