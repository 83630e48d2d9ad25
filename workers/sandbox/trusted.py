"""Runs a program without a sandbox, on the machine of a user who trusts it: `--trust`. Workers never use this.

The program gets the same folders, as copies, but in the temporary folder, and the same limits of time and output. It
runs with the rights of its user.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from app.base.text import readable_size
from workers.sandbox.inside import PAGE, SCORES
from workers.sandbox.stream import APP, PLACES
from workers.sandbox.terms import Ended, Limits, Outcome, Program


def run_trusted(program: Program, reference: Path, submission: Path, limits: Limits, python: Path | None) -> Outcome:
    """Run a program without a sandbox, on copies of all folders; return the outcome.

    python: the folder with the `python3` that it uses; None: as found on PATH. limits: only seconds, output, scores and
    page apply. Processes that leave its session are not ended.
    """
    with tempfile.TemporaryDirectory(prefix="evergold-program-") as name:
        app = Path(name)
        for source, place in ((program.folder, "program"), (submission, "input/res"), (reference, "input/ref")):
            shutil.copytree(source, app / place)
        for place in ("output", "shared"):
            (app / place).mkdir()
        command = [_replaced(word, app) for word in program.command]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            code = _call(command, app / "program", _environment(python), limits.seconds, out, err)
            seconds = time.monotonic() - began
            outputs = [_beginning(file, limits.output) for file in (out, err)]
        ended, detail = _ended(code, limits)
        scores_name, scores, words = _read(app / "output", SCORES, limits.scores)
        pages = (PAGE, *sorted(path.name for path in (app / "output").glob("*.html")))
        _, page, more = _read(app / "output", pages, limits.page)
    if ended is Ended.FINISHED and words:
        ended, detail = Ended.TOO_MUCH_WRITTEN, words
    is_finished = ended is Ended.FINISHED
    return Outcome(
        ended=ended,
        exit_code=code,
        scores_name=scores_name if is_finished else None,
        scores=scores if is_finished else None,
        page=page if is_finished else None,
        stdout=outputs[0],
        stderr=outputs[1],
        seconds=seconds,
        detail="; ".join(filter(None, (detail, more))),
    )


def _replaced(word: str, app: Path) -> str:
    for name, place in PLACES:
        word = word.replace(name, place.replace(APP, str(app), 1))
    return word


def _environment(python: Path | None) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("EVERGOLD_", "PYTHON"))}
    return {**own, "PATH": path if python is None else f"{python}{os.pathsep}{path}", "PYTHONUNBUFFERED": "1"}


def _call(
    command: Sequence[str], folder: Path, environment: dict[str, str], seconds: float, out: IO[bytes], err: IO[bytes]
) -> int | None:
    """Return the exit code, or minus the signal; None if the time limit was reached."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the words of whoever trusts the program
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    except OSError as error:
        err.write(f"the command cannot be started: {error.strerror}: {command[0]}\n".encode())
        return 127
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(code: int | None, limits: Limits) -> tuple[Ended, str]:
    if code is None:
        return Ended.TOO_LATE, f"it took more than {limits.seconds:g} s"
    if code == 0:
        return Ended.FINISHED, ""
    if code < 0:
        return Ended.FAILED, f"it was ended by the signal {signal.Signals(-code).name}"
    return Ended.FAILED, f"it ended with exit code {code}"


def _read(folder: Path, names: Sequence[str], largest: int) -> tuple[str | None, bytes | None, str]:
    """Return name and content of the first of these files that exists, or the reason why it was not read."""
    for name in names:
        try:
            descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                continue
            content = file.read(largest + 1)
        if len(content) > largest:
            return None, None, f"{name} is larger than {readable_size(largest)}"
        return name, content, ""
    return None, None, ""


def _beginning(file: IO[bytes], size: int) -> bytes:
    file.seek(0)
    return file.read(size)
