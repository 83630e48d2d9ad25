"""Shared options of the commands that score locally: gold, items and training data, and the scores to show."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evergold.scoring.task import AnyTask

GoldOption = Annotated[
    Path, typer.Option(metavar="PATH", exists=True, help="The gold: a file, or a folder of several.")
]
ItemsOption = Annotated[
    Path | None,
    typer.Option(metavar="PATH", exists=True, help="The blind file; default: the items of the gold."),
]
TrainOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", exists=True, help="Training data to compare with; may be repeated."),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this score: macro_f1, or 'macro_f1 zero_shot/en'; may be repeated."),
]


def load_task(name: str) -> AnyTask:
    """Load a task type, with numpy set to one thread: starting more takes longer than scoring a small file.

    If torch is needed, which reads the same setting, the threads are not limited. Also keeps pydantic from searching
    all installed packages for plug-ins.
    """
    from evergold.scoring.tasks import get_task, needs_gpu

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if "numpy" not in sys.modules and not needs_gpu(name):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return get_task(name)
