"""Runs organisers' programs on a worker: unpacks the stored program, finds its environment, and runs it.

Output of a program is read only as data. `workers.sandbox` decides which sandbox is used, and what it allows.
"""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import fields
from pathlib import Path

from app.base.config import get_settings
from app.base.storage import local_file, storage_of
from evergold.scoring.errors import ScoringError
from evergold.scoring.program.packing import InvalidProgram, command_in_folder, unpack
from evergold.scoring.running import NoSandbox, ProgramCall, ProgramEnd, ProgramMissing
from evergold.scoring.task import Options
from workers.sandbox import Ended, Environment, Limits, Outcome, Program, SandboxUnavailable, find_backend, run
from workers.sandbox.backends import find_container_backend
from workers.sandbox.conduct import OUTSIDE
from workers.sandbox.environments import declared_environment, find_environment
from workers.sandbox.evalai import evalai_command
from workers.sandbox.scores import parse_scores

WAITS = "waits for a worker with a sandbox"


class ProgramLost(ScoringError):
    """A program was ended by something other than a limit of its run, so it is tried again."""


def sandboxed(call: ProgramCall) -> ProgramEnd:
    """Run a stored program in a sandbox on this machine; return the result. Raises NoSandbox, ProgramMissing."""
    if not call.program:
        raise ProgramMissing("the task has no program: declare `program:`")
    try:
        stored = local_file(storage_of(get_settings()), call.program)
    except FileNotFoundError:
        raise ProgramMissing(f"the program {call.program[:12]} is not in storage") from None
    with tempfile.TemporaryDirectory(prefix="evergold-program-") as name:
        folder = Path(name)
        try:
            unpack(stored, folder)
        except InvalidProgram as invalid:
            raise ProgramMissing(f"the program cannot be unpacked: {invalid}") from None
        return run_folder(call, folder)


def must_have_sandbox(options: Options) -> None:
    """Raise NoSandbox, before any gold is opened, if this machine cannot run a program with these options."""
    try:
        if getattr(options, "image", None) is None:
            find_backend()
        else:
            find_container_backend()
    except SandboxUnavailable as lacking:
        raise NoSandbox(f"{WAITS}: {lacking}") from None


def run_folder(call: ProgramCall, folder: Path) -> ProgramEnd:
    """Run the program in this folder in a sandbox; return the result. Raises NoSandbox."""
    limits = limits_of(call)
    try:
        python = None if call.image is not None else environment_of(call, folder)
        program = Program(folder, command_of(call, folder))
        environment = Environment(python, call.image)
        outcome = run(program, call.reference, call.submission, environment, limits)
    except SandboxUnavailable as lacking:
        raise NoSandbox(f"{WAITS}: {lacking}") from None
    if outcome.ended is Ended.KILLED and outcome.detail == OUTSIDE:
        raise ProgramLost("the program was killed from outside")
    return end_of(outcome, python.name if python else "", call.image)


def environment_of(call: ProgramCall, folder: Path) -> Path:
    """Return the folder of the environment: declared by the task, by the program's requirements.txt, or the default.

    Raises SandboxUnavailable if it is not built on this machine.
    """
    return find_environment(declared_environment(folder, call.environment, call.python))


def command_of(call: ProgramCall, folder: Path) -> tuple[str, ...]:
    """Return the words of the command. Raises ProgramMissing if none is declared, or it cannot be split into words."""
    if call.contract == "evalai":
        return evalai_command(call.phase)
    command = call.command if call.command is not None else command_in_folder(folder)
    try:
        words = tuple(shlex.split(command or ""))
    except ValueError as fault:
        raise ProgramMissing(f"the command of the program cannot be read: {fault}") from None
    if not words:
        raise ProgramMissing("the program has no command: declare `command`")
    return words


def limits_of(call: ProgramCall) -> Limits:
    """Return the declared limits; the sandbox caps them at the server's limits."""
    usual, declared = Limits(), dict(call.limits)
    known = {one.name: declared.get(one.name, getattr(usual, one.name)) for one in fields(Limits)}
    whole = {name: value if isinstance(getattr(usual, name), float) else int(value) for name, value in known.items()}
    return Limits(**whole)


def end_of(outcome: Outcome, environment: str, image: str | None) -> ProgramEnd:
    """Return how a program ended, and its output."""
    failure, scores = failure_of(outcome), None
    if failure is None and outcome.scores is not None and outcome.scores_name is not None:
        try:
            scores = parse_scores(outcome.scores_name, outcome.scores)
        except ValueError as fault:
            failure = f"wrote scores that cannot be read: {fault}"
    return ProgramEnd(
        failure=failure,
        exit_code=outcome.exit_code,
        scores=scores,
        page=outcome.page,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        seconds=outcome.seconds,
        environment=environment,
        image=image.rpartition(":")[2] if image else None,
        notes=(outcome.detail,) if outcome.detail and outcome.ended is Ended.FINISHED else (),
    )


def failure_of(outcome: Outcome) -> str | None:
    """Return how the program failed, to follow "the program"; None if it ended without error and left scores."""
    if outcome.ended is Ended.FINISHED:
        return None if outcome.scores is not None else "ended without scores.json or scores.txt in its output"
    if outcome.ended is Ended.FAILED:
        code = outcome.exit_code or 0
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
    return f"was ended: {outcome.detail}"
