"""Targets of fuzzing: the readers of every task type, over its golden files, and what must hold for every input.

A reader accepts a file, or raises its own error with problems that can be stored and shown; nothing else comes out.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, InvalidPrediction, Problem
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import TASKS
from tests.evergold.scoring.test_embeddings import entry, npz_of, safetensors

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(TASKS)


@dataclass(frozen=True)
class Target:
    """A task type with what its golden folder holds; seeds: valid submissions, stored without a name as uploads are."""

    task: AnyTask
    options: Options
    items: Any
    gold: Any
    seeds: tuple[bytes, ...]

    @property
    def folder(self) -> Path:
        return GOLDEN / self.task.name


def target(name: str) -> Target:
    """Return the target of this task type."""
    folder = GOLDEN / name
    task = TASKS[name]
    expected = folder / ("case.json" if task.run is not None else "expected.json")
    document = json.loads(expected.read_text(encoding="utf-8")).get("options") if expected.is_file() else None
    options = read_options(task, document)
    gold = task.read_gold(_the(folder, "gold"), options)
    items = task.read_items(_the(folder, "items"), options) if _has(folder, "items") else task.items_of(gold, options)
    return Target(task, options, items, gold, tuple(_seeds(name, _the(folder, "prediction"))))


def check_prediction(target: Target, upload: bytes, folder: Path) -> None:
    """Read this upload as a worker does; one that is accepted must also be scored without an error."""
    path = folder / "upload"
    path.write_bytes(upload)
    prediction = _read(InvalidPrediction, lambda: target.task.read_prediction(path, target.items, target.options))
    if prediction is None:
        return
    _check_problems(prediction.warnings)
    if target.task.needs_gpu or target.task.run is not None:
        return  # scoring wants a model, or a sandbox; it is tested where there is one
    target.task.score(target.gold, prediction, target.options)
    report = target.task.report(target.gold, prediction, target.options) if target.task.report else None
    json.dumps(report, allow_nan=False)
    for write in target.task.text_reports.values():
        write(report, target.options)


def check_organisers_file(target: Target, kind: str, changed: Path, content: bytes, folder: Path) -> None:
    """Read gold or items of which one file has this content."""
    source = _the(target.folder, kind)
    copy = folder / source.name
    if source.is_dir():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
        (copy / changed.relative_to(source)).write_bytes(content)
    else:
        copy.write_bytes(content)
    if kind == "gold":
        _read(InvalidGold, lambda: target.task.read_gold(copy, target.options))
    else:
        _read(InvalidItems, lambda: target.task.read_items(copy, target.options))


def organisers_files(name: str) -> Iterator[tuple[str, Path]]:
    """Yield ("gold" | "items", file) for each file of the golden folder."""
    for kind in ("gold", "items"):
        if _has(GOLDEN / name, kind):
            path = _the(GOLDEN / name, kind)
            yield from ((kind, file) for file in ([path] if path.is_file() else sorted(path.rglob("*.*"))))


def zip_of(members: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a zip of these members, in order; names may be strange and may repeat."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def _read(error: type[InvalidFile], read: Callable[[], Any]) -> Any:
    try:
        return read()
    except error as invalid:
        problems = invalid.problems
    assert problems, "refused without a reason"
    _check_problems(problems)
    return None


def _check_problems(problems: Sequence[Problem]) -> None:
    for problem in problems:
        shown = str(problem) + json.dumps(problem.as_dict(), ensure_ascii=False)
        shown.encode()  # half a surrogate pair can neither be stored nor shown
        assert "\0" not in str(problem), "PostgreSQL takes no NUL"
        assert "\n" not in str(problem), "a problem is one line"
        assert len(shown) < 5_000, "a problem is short"


def _seeds(name: str, path: Path) -> Iterator[bytes]:
    if path.is_file():
        yield path.read_bytes()
        yield zip_of([(path.name, path.read_bytes())])
    else:
        files = sorted(file for file in path.rglob("*") if file.is_file())
        yield zip_of([(str(file.relative_to(path)), file.read_bytes()) for file in files])
    if name == "idiomaticity-probing":
        yield from _embeddings()


def _embeddings() -> Iterator[bytes]:
    names = [f"pt/{context}/{level}" for context in ("nat", "neut") for level in ("sent", "nc")]
    vectors = np.arange(12, dtype="<f4").reshape(3, 4)
    yield npz_of({name: vectors for name in names})
    size = vectors.nbytes
    header = {name: entry("F32", [3, 4], at * size, (at + 1) * size) for at, name in enumerate(names)}
    yield safetensors(header, vectors.tobytes() * len(names))


def _has(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}*"))


def _the(folder: Path, name: str) -> Path:
    return next(iter(sorted(folder.glob(f"{name}*"))))
