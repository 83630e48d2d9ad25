"""`evergold score program`: an organisers' own program, run locally as on the server's workers.

The sandbox belongs to the server's package, so the work is done by a process of that package, if it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evergold.cli.output import Code, CommandError, print_json, remark
from evergold.cli.submissions import show_scores

_WORKER = "workers.program_at_home"
_TITLES = {"prediction": "The prediction is wrong", "gold": "The gold is wrong", "program": "The program is wrong"}
_CODES = {"prediction": Code.REJECTED, "gold": Code.GOLD, "program": Code.ERROR}
_TRUSTED = "The program runs without a sandbox: it can read, change and send everything that you can."


@dataclass(frozen=True)
class AtHome:
    """A request to score locally. competition: a folder with its declaration; task, phase: needed only if it has
    several.
    """

    competition: Path
    prediction: Path
    gold: Path | None = None
    task: str = ""
    phase: str = ""
    trust: bool = False


def score_program(wanted: AtHome, *, as_json: bool) -> None:
    """Run the program and print its scores; raises CommandError with an exit code that fits the problem."""
    if importlib.util.find_spec("workers") is None:
        raise CommandError("Running a program needs the server's package: pip install evergold-server.", Code.USAGE)
    if wanted.trust:
        remark(_TRUSTED)
    [answer] = answers_at_home([wanted])
    if "error" in answer:
        raise _error(answer)
    if answer["failure"]:
        _print_log(answer["log"])
        raise CommandError(
            f"The program {answer['failure']}.", Code.FAILED, name="program_failed", details={"log": answer["log"]}
        )
    if as_json:
        print_json(answer)
        return
    for warning in answer["warnings"]:
        remark(f"Warning: {warning['sentence']}")
    for note in answer["log"]["notes"]:
        remark(f"Note: {note}")
    if answer["log"]["undeclared"]:
        remark(f"Not declared: {', '.join(answer['log']['undeclared'])}")
    show_scores(answer["scores"], precision=None)


def answers_at_home(wanted: Sequence[AtHome]) -> list[dict[str, Any]]:
    """Return the answers to all requests from one process of the server's package, which takes a second to start; its
    log goes to stderr.
    """
    requests = json.dumps([_request(one) for one in wanted])
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", _WORKER, requests], stdout=subprocess.PIPE, check=False
    )
    try:
        answers: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        raise CommandError("The program could not be run: see above.", Code.ERROR) from None
    return answers


def _request(wanted: AtHome) -> dict[str, Any]:
    fields = {name: str(value) if isinstance(value, Path) else value or "" for name, value in asdict(wanted).items()}
    return {**fields, "trust": wanted.trust}


def _error(answer: dict[str, Any]) -> CommandError:
    kind = answer["error"]
    if kind in _TITLES:
        lines = [f"  {problem['sentence']}" for problem in answer["problems"]]
        details = {"problems": answer["problems"], "problems_omitted": answer["problems_omitted"]}
        return CommandError(f"{_TITLES[kind]}.", _CODES[kind], name=f"invalid_{kind}", details=details, lines=lines)
    return CommandError(f"{answer['message'].rstrip('.')}.", Code.USAGE, name=kind, lines=answer.get("lines", ()))


def _print_log(log: dict[str, Any]) -> None:
    for name in ("stdout", "stderr"):
        if log[name]:
            remark(f"{name} of the program:")
            for line in log[name].splitlines():
                remark(f"  {line}")
