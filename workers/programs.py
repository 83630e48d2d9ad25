"""Runs of task types scored by an organisers' program: gold is opened for each run, and never cached.

The clear text is in a private folder, under the organisers' file names, until the run has ended.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from app.runs.workers import NOT_FOR_PROGRAM
from evergold.scoring.archives import is_zip, member_names
from evergold.scoring.errors import InvalidGold, InvalidOptions, Problem
from evergold.scoring.program.packing import files_of
from evergold.scoring.running import ProgramScores, RunFiles, Runner
from evergold.scoring.task import AnyTask, Options
from workers.gold import (
    ARCHIVE_HEAD_BYTES,
    LIMITS,
    GoldRequest,
    is_tar,
    open_sealed_gold,
    private_folder,
    sealed_path,
    unpack_tar,
)
from workers.gold_errors import GoldRefused

#: Names of the files given to a program, if the original name is unusable.
UNNAMED_GOLD, UNNAMED = "gold", "submission"


class Sent(GoldRequest, Protocol):
    """The file of a claim, for a run or a validation."""

    @property
    def filename(self) -> str: ...


def run_program(task: AnyTask, options: Options, claim: Sent, upload: Path, runner: Runner) -> ProgramScores:
    """Check the upload, open gold for this single run, run the program, and return its scores.

    Raises InvalidPrediction, NoSandbox, ProgramMissing, GoldRefused, and the errors of opening gold.
    """
    if task.run is None:
        raise InvalidOptions([Problem("no-program", f"{task.name} runs no program")])
    with named_upload(upload, claim.filename) as path:
        prediction = task.read_prediction(path, task.read_items(path, options), options)
        with opened_gold(claim) as reference:
            found = task.run(RunFiles(reference, path, path.name), options, runner)
    return ProgramScores(found.scores, found.failure, found.log, prediction.warnings)


@contextmanager
def named_upload(upload: Path, filename: str) -> Iterator[Path]:
    """Yield the upload under the name that its team gave it, as a link in a separate folder."""
    with tempfile.TemporaryDirectory(prefix="evergold-named-") as folder:
        path = Path(folder, plain_name(filename, UNNAMED))
        path.symlink_to(upload.absolute())
        yield path


def plain_name(filename: str, otherwise: str) -> str:
    """Return the last part of a file name without unsafe characters. otherwise: the name if nothing remains."""
    last = filename.replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = "".join(character for character in last if character.isprintable()).lstrip(".").strip()
    while len(name.encode()) > 200:
        name = name[1:]
    return name or otherwise


@contextmanager
def opened_gold(claim: GoldRequest) -> Iterator[Path]:
    """Yield a private folder with the gold in clear, under its file names; it is deleted when the block ends.

    Plain gold is never opened: a program can read everything that it gets, and nothing binds plain gold to one program.
    Raises GoldRefused, and the errors of opening gold.
    """
    sealed = claim.sealed_gold
    if sealed is None:
        raise GoldRefused(f"{NOT_FOR_PROGRAM}: it is not sealed; upload it with `evergold gold put`")
    with private_folder(sealed_path(sealed).stat().st_size) as folder:
        clear, reference = folder / "sealed", folder / "ref"
        reference.mkdir()
        with clear.open("wb") as content:
            open_sealed_gold(sealed, content)
        lay_out_gold(clear, reference, plain_name(sealed.filename, UNNAMED_GOLD))
        yield reference


def lay_out_gold(clear: Path, reference: Path, name: str) -> None:
    """Unpack gold that was uploaded as a folder or zip; a single file keeps its name. Deletes `clear`."""
    with clear.open("rb") as file:
        head = file.read(ARCHIVE_HEAD_BYTES)
    if is_tar(head):
        unpack_tar(clear, reference)
        clear.unlink()
    elif is_zip(head) and _is_folder(clear):
        for inside, content in files_of(clear, LIMITS, InvalidGold):
            target = reference.joinpath(*PurePosixPath(inside).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        clear.unlink()
    else:
        clear.rename(reference / name)


def _is_folder(path: Path) -> bool:
    """Return whether a zip is a folder of files, rather than a file of NumPy or an office document."""
    try:
        names = member_names(path, LIMITS, InvalidGold)
    except InvalidGold:  # also for documents
        return False
    return not all(name.endswith(".npy") for name in names)
