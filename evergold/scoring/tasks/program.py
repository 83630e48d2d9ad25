"""program: an organisers' own scoring program, run in a sandbox, for every task that no other type scores.

Program: a folder or zip, as Codabench (`metadata.yaml` with a command, folders `ref` and `res`, scores.json) or EvalAI
(a package with `evaluate`) has it. Gold: any files, which the program alone reads, under their names.
Prediction: a zip or a plain file (`evergold.scoring.program.uploads`), with the files, columns and schemas that are
declared. Score: what the program writes, of declared metrics (`evergold.scoring.program.results`).
Deliberate: a value that is missing, no number, infinite or outside its declared range is undefined, never 0; there are
no outcomes item by item, so scores have no intervals and items cannot be divided; files of teams are never run.
Source: https://docs.codabench.org (contract of scoring programs), https://evalai.readthedocs.io.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from evergold.scoring.errors import InvalidGold, InvalidOptions, Problem
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.results import NAME, SPLIT, VERSION, metrics_by, scores_from
from evergold.scoring.program.uploads import CheckedUpload, lay_out, read_upload
from evergold.scoring.running import ProgramCall, ProgramScores, RunFiles, Runner
from evergold.scoring.task import Column, Metric, Task


@dataclass(frozen=True)
class Gold:
    """The names of gold's files, sorted; their content is read by the program alone."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Items:
    """No items: the options declare what an upload must contain."""

    demands: Mapping[str, object] = field(default_factory=dict)


def read_items(path: Path, options: ProgramOptions) -> Items:
    """Return no items: a blind file is only downloaded by teams; uploads are checked against the options."""
    return Items()


def read_gold(path: Path, options: ProgramOptions) -> Gold:
    """Return the names of gold's files; raises InvalidGold where there is no file, or all of them are empty."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    if not any(one.stat().st_size for one in files):
        raise InvalidGold([Problem("empty-file", "the gold contains only empty files")])
    return Gold(tuple(one.name if one == path else one.relative_to(path).as_posix() for one in files))


def items_of(gold: Gold, options: ProgramOptions) -> Items:
    """Return no items: the options declare what an upload must contain."""
    return Items()


def read_prediction(path: Path, items: Items, options: ProgramOptions) -> CheckedUpload:
    """Check the files of an upload; raises InvalidPrediction with every problem, by file and line.

    path: the file under the name that the team gave it, because the options may declare names.
    """
    return read_upload(path, options)


def score(gold: Gold, prediction: CheckedUpload, options: ProgramOptions) -> NoReturn:
    """Raise InvalidOptions: scores come from the program alone, see `run`."""
    message = "its scores come from the organisers' own program, which runs in a sandbox: `evergold score program`"
    raise InvalidOptions([Problem("needs-program", message)])


def run(files: RunFiles, options: ProgramOptions, runner: Runner) -> ProgramScores:
    """Lay out the upload in a private folder, run the program, and return its declared scores with its log.

    Raises InvalidPrediction for an upload that is not as declared; NoSandbox or ProgramMissing if it cannot be run
    here.
    """
    with tempfile.TemporaryDirectory(prefix="evergold-upload-") as name:
        lay_out(files.submission, options, Path(name))
        end = runner(
            ProgramCall(
                program=options.program_sha256,
                contract=options.contract.value,
                command=options.command,
                reference=files.reference,
                submission=Path(name),
                environment=options.environment,
                python=options.python,
                image=options.image,
                phase=options.phase,
                limits=options.limits.model_dump(),
            )
        )
    return scores_from(end, options)


def bound_to(options: ProgramOptions) -> str:
    """Return a hash of everything that decides which code reads gold in a run: the program, its command and its
    environment.

    Metrics, titles, limits, files and texts are not included: they may change while gold stays sealed.
    """
    facts = {
        "program": options.program_sha256,
        "contract": options.contract.value,
        "command": options.command,
        "environment": options.environment,
        "python": options.python,
        "image": options.image,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def seconds_by(options: ProgramOptions) -> float:
    """Return the seconds that one run may take."""
    return options.limits.seconds


def columns(options: ProgramOptions) -> tuple[Column, ...]:
    """Return a column for every declared metric, in their order."""
    return tuple(Column(name, SPLIT, metric.title) for name, metric in metrics_by(options).items())


def template(items: Items, options: ProgramOptions) -> None:
    """Return None: the form of an upload depends on the program, so organisers offer a file to download."""
    return


METRICS: Mapping[str, Metric] = {}

TASK: Task[ProgramOptions, Items, Gold, CheckedUpload] = Task(
    name=NAME,
    version=VERSION,
    title="Organisers' own program",
    summary="Whatever a scoring program of the organisers computes, in a sandbox: bundles of Codabench and EvalAI.",
    options=ProgramOptions,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    read_prediction=read_prediction,
    score=score,
    template=template,
    template_name=None,
    metrics_by=metrics_by,
    seconds_by=seconds_by,
    run=run,
    bound_to=bound_to,
)
