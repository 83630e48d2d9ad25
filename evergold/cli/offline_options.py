"""Options of the commands that score at home: what they compare with, and which scores they show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GoldOption = Annotated[
    Path, typer.Option(metavar="PATH", exists=True, help="The gold: a file, or a folder of several.")
]
ItemsOption = Annotated[
    Path | None,
    typer.Option(metavar="PATH", exists=True, help="The blind file; default: gold says what must be covered."),
]
TrainOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", exists=True, help="Training data that gold is compared with; may be repeated."),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this: macro_f1, or 'macro_f1 zero_shot/en'; may be repeated."),
]
