"""`evergold score program`: runs an organisers' program on their own machine, in a sandbox or, if trusted, without one.

The command line starts it as `python -m workers.program_at_home REQUESTS`, with a JSON list; it writes a list of
answers to stdout.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from app.declarations.check import InvalidPhases, load_checked
from app.declarations.model import CompetitionDeclaration, TaskDeclaration
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidPrediction, ScoringError
from evergold.scoring.program.packing import pack, unpack
from evergold.scoring.running import ProgramCall, ProgramEnd, RunFiles, Runner
from evergold.scoring.task import AnyTask, read_options
from evergold.scoring.tasks import get_task
from workers.program_runner import command_of, end_of, limits_of, run_folder
from workers.programs import lay_out_gold
from workers.sandbox import Program
from workers.sandbox.trusted import run_trusted

#: Usual names of the folder with gold in a competition's folder.
GOLD_FOLDERS = ("gold", "reference_data", "ref")
TRUSTED = "none: without a sandbox"


class WrongRequest(Exception):
    """Something in the request does not exist; the message names it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the command line. task, phase: "" if there is only one, or none applies."""

    competition: str
    prediction: str
    gold: str = ""
    task: str = ""
    phase: str = ""
    trust: bool = False


def answer_to(request: Request) -> dict[str, Any]:
    """Return the scores and the log, or an `error` with its kind, message and problems."""
    try:
        return _scored(request)
    except InvalidPhases as invalid:
        return {"error": "competition", "message": str(invalid), "lines": [str(one) for one in invalid.findings]}
    except (InvalidPrediction, InvalidGold) as invalid:
        return _of_file("prediction" if isinstance(invalid, InvalidPrediction) else "gold", invalid)
    except InvalidFile as invalid:
        return _of_file("program", invalid)
    except (WrongRequest, ScoringError) as wrong:
        return {"error": "request", "message": str(wrong)}
    except OSError as error:
        return {"error": "request", "message": f"{error.filename or 'a file'}: {error.strerror or error}"}


def _of_file(kind: str, invalid: InvalidFile) -> dict[str, Any]:
    problems = [problem.as_dict() for problem in invalid.problems]
    return {"error": kind, "message": str(invalid), "problems": problems, "problems_omitted": invalid.omitted}


def _scored(request: Request) -> dict[str, Any]:
    main = main_of(Path(request.competition))
    declared = _declared(main)
    task = _task(declared, request.task)
    type_ = get_task(task.type)
    gold = _gold(request, main.parent)
    with tempfile.TemporaryDirectory(prefix="evergold-home-") as name:
        place = Path(name)
        pack(main.parent / (task.program or ""), place / "program.zip")
        sha256 = hashlib.sha256((place / "program.zip").read_bytes()).hexdigest()
        for folder in ("program", "reference"):
            (place / folder).mkdir()
        unpack(place / "program.zip", place / "program")
        _lay_out(gold, place)
        options = {**task.options, **_of_phase(declared, task.name, request.phase), "program_sha256": sha256}
        runner: Runner = partial(run_at_home if request.trust else run_folder, folder=place / "program")
        return _run(type_, options, RunFiles(place / "reference", Path(request.prediction), ""), runner)


def _run(task: AnyTask, options: Mapping[str, Any], files: RunFiles, runner: Runner) -> dict[str, Any]:
    if task.run is None:
        raise WrongRequest(f"{task.name} has no program: `evergold score {task.name}` computes its scores")
    chosen = read_options(task, options)
    warnings = task.read_prediction(files.submission, task.read_items(files.submission, chosen), chosen).warnings
    found = task.run(RunFiles(files.reference, files.submission, files.submission.name), chosen, runner)
    return {
        "task": task.name,
        "version": task.version,
        "scores": [asdict(score) for score in found.scores],
        "warnings": [warning.as_dict() for warning in warnings],
        "failure": found.failure,
        "log": found.log,
    }


def main_of(folder: Path) -> Path:
    """Return the path if it is a file, or else the only declaration in the folder. Raises WrongRequest."""
    if folder.is_file():
        return folder
    found = sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.yml"))
    usual = [path for path in found if path.stem == "competition"] or found
    if len(usual) != 1:
        raise WrongRequest(f"{folder} has {len(found)} declarations: name one of them")
    return usual[0]


def _declared(main: Path) -> CompetitionDeclaration:
    loaded, _ = load_checked(main, now=None)
    if len(loaded) != 1:
        raise WrongRequest(f"{main} declares {len(loaded)} competitions: name a file with one")
    return loaded[0].declaration


def _task(declared: CompetitionDeclaration, wanted: str) -> TaskDeclaration:
    known = {task.name: task for task in declared.tasks if task.program}
    if wanted and wanted not in known:
        raise WrongRequest(f"no task '{wanted}' has a program; these have: {', '.join(known) or 'none'}")
    if not wanted and len(known) != 1:
        raise WrongRequest(f"name one of the tasks with a program: {', '.join(known) or 'there is none'}")
    return known[wanted] if wanted else next(iter(known.values()))


def _of_phase(declared: CompetitionDeclaration, task: str, wanted: str) -> dict[str, Any]:
    phases = {phase.name: phase.tasks[task].options for phase in declared.phases if task in phase.tasks}
    if wanted and wanted not in phases:
        raise WrongRequest(f"no phase '{wanted}' has the task '{task}'; these do: {', '.join(phases)}")
    return phases.get(wanted, {})


def _gold(request: Request, folder: Path) -> Path:
    if request.gold:
        return Path(request.gold)
    there = [folder / name for name in GOLD_FOLDERS if (folder / name).is_dir()]
    if len(there) != 1:
        raise WrongRequest(f"name the gold with --gold: {folder} has no folder called {GOLD_FOLDERS[0]}")
    return there[0]


def _lay_out(gold: Path, place: Path) -> None:
    if gold.is_dir():
        shutil.copytree(gold, place / "reference", dirs_exist_ok=True)
        return
    copy = place / "gold"
    shutil.copyfile(gold, copy)
    lay_out_gold(copy, place / "reference", gold.name)


# ------------------------------------------------------------------------------------------------------------- trusted


def run_at_home(call: ProgramCall, folder: Path) -> ProgramEnd:
    """Run a program that its organiser trusts, with all rights of this process, on copies of its files; return the
    result.
    """
    program = Program(folder, command_of(call, folder))
    outcome = run_trusted(program, call.reference, call.submission, limits_of(call), None)
    return end_of(outcome, "", TRUSTED)


def main(words: list[str]) -> int:
    """Answer the requests, given as a JSON list; return the exit code."""
    answers = [answer_to(Request(**one)) for one in json.loads(words[0])]
    sys.stdout.write(json.dumps(answers, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
