"""A starter kit for one task of a server: a script and a notebook that load the data, predict, check and submit.

Script and notebook consist of the same steps, and read and write files in plain code; users replace the body of
`predict`, which is very simple at first (`evergold.baselines.starter_forms`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from evergold.baselines.baseline import UnknownBaseline, written_zip
from evergold.baselines.catalogue import first_baseline
from evergold.baselines.starter_forms import form_of
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task
from evergold.version import VERSION

SCRIPT, NOTEBOOK, README, FOLDER = "starter.py", "starter.ipynb", "README.md", "starter-kit"


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
    """Return whether the task has a baseline from which a starter kit can begin."""
    return first_baseline(task_type, options) is not None


def starter_kit(task: StarterTask) -> bytes:
    """Return the zip of script, notebook and README; the same task always yields the same bytes."""
    files = {README: starter_readme(task), SCRIPT: starter_script(task), NOTEBOOK: starter_notebook(task)}
    return written_zip({f"{FOLDER}/{name}": text.encode() for name, text in files.items()})


def starter_readme(task: StarterTask) -> str:
    """Return the README: the content of the kit, how to start, and where to read more."""
    place = f"/competitions/{task.competition}"
    values = {"items": task.items, "place": task.place, "page": f"{task.server}{place}", "version": VERSION}
    return _words(_README, task, **values)


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


def _words(template: str, task: StarterTask, **values: str) -> str:
    """Fill in a template; quotes in an organiser's title must not end the docstring that contains it."""
    title, server = (text.replace("\\", " ").replace('"', "'") for text in (task.title, task.server))
    return template.format(title=title, server=server, **values)


def _steps(task: StarterTask, submit: str) -> Sequence[Step]:
    if not has_starter_kit(task.task_type, task.options):
        raise UnknownBaseline(f"{task.task_type} has no baseline to start from")
    form = form_of(task.task_type, read_options(get_task(task.task_type), task.options), task.items)
    values = {
        "server": task.server,
        "place": task.place,
        "task_type": task.task_type,
        "options": dict(task.options),
        "items": task.items,
        "submission": f"submission{form.suffix}",
        "path": f"/competitions/{task.competition}/phases/{task.phase}/tasks/{task.task}/files/",
    }
    written = {name: repr(value) for name, value in values.items()}
    standard = "\n".join(sorted(line for line in form.imports.splitlines() if line.startswith("import ")))
    others = "\n".join(line for line in form.imports.splitlines() if line.startswith("from zipfile"))
    ours = "".join(f"{line}\n" for line in form.imports.splitlines() if line.startswith("from evergold"))
    code = {"standard": f"{standard}\n" if standard else "", "others": f"\n{others}" if others else "", "ours": ours}
    plain = {"predict": form.predict, "write": form.write, "submit": submit, **code}
    return [Step(text, Template(step).substitute(plain | written)) for text, step in _STEPS]


_HEAD = """{title}: a first submission

Needs Python 3.11 and `pip install --find-links {server}/wheels/ 'evergold[metrics]'`. The first run needs nothing else
where the data are public; to submit, `evergold login --server {server}` first. Replace the inside of `predict`.
"""

_README = """# {title}: starter kit

A first submission to `{place}`: valid, with a low score.

| file | what it is |
| --- | --- |
| `starter.py` | loads `{items}`, predicts, checks the file locally, and submits it with `--submit` |
| `starter.ipynb` | the same as a notebook |

1. `pip install --find-links {server}/wheels/ 'evergold[metrics]'` (Python 3.11 or newer). That is the version of this
   server, {version}; the other packages come from your usual index. A server with http instead of https needs
   `--trusted-host` and its name, too, unless it is your own machine.
2. `python starter.py` writes a submission and checks it. Nothing is sent.
3. Replace the inside of `predict`: it gets one item, and returns your system's answer. Reading and writing stand below
   it, to be changed as you like.
4. `evergold login --server {server}`, then `python starter.py --submit`: it prints score, rank, and the address of the
   page that shows how your file compares.

Rules, dates and limits: {page}
Formats and scores: {server}/guide/tasks
"""

_STEPS = (
    (
        "The task and the server.",
        """\
${standard}import sys
from pathlib import Path$others

${ours}from evergold.client import Client
from evergold.scoring import validate

SERVER = $server
PLACE = $place
TASK_TYPE = $task_type
OPTIONS = $options
$submit""",
    ),
    (
        "Load the blind file, from the page *Data*.",
        """\
items = Path($items)
if not items.exists():
    with Client(SERVER) as client:
        client.download($path + items.name, items)
print(f"{items}: {items.stat().st_size:,} bytes")""",
    ),
    (
        "Your system. Replace the inside of `predict`.",
        """\
$predict""",
    ),
    (
        "Read the items, predict each, and write the submission.",
        """\
submission = Path($submission)
$write""",
    ),
    (
        "Check the file locally, exactly as the server would, but without gold. An invalid file raises an error.",
        """\
for warning in validate(TASK_TYPE, items, submission, OPTIONS):
    print("Warning:", warning)
print(f"{submission} can be submitted.")""",
    ),
    (
        "Submit it, and wait for its score and rank.",
        """\
if SUBMIT:
    with Client(SERVER) as client:
        result = client.submit(submission, PLACE, method="Starter kit")
    print(result.status, result.message)
    for one in result.document.get("standings", []):  # a line for each board that shows them
        rank = f", rank {one['rank']} of {one['of']}" if one["rank"] else ""
        print(f"{one['board']}: {one['metric']} {one['value']}{rank}")
    print(result.page)""",
    ),
)
