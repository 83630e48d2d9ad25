"""What the commands that run on the server share: its settings, as options, environment and `.env` give them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where all data lie; default: EVERGOLD_DATA_DIR, else ./var."),
]
PhasesOption = Annotated[
    Path | None,
    typer.Option("--phases", metavar="FILE", help="Default: EVERGOLD_PHASES_FILE, else ./phases.yaml."),
]


def use_settings(data_dir: Path | None = None, phases_file: Path | None = None) -> None:
    """Settings for this process: what the command line says, then the environment, then `.env`."""
    if Path(".env").is_file():
        from dotenv import load_dotenv

        load_dotenv(".env", override=False)
    for name, path in (("EVERGOLD_DATA_DIR", data_dir), ("EVERGOLD_PHASES_FILE", phases_file)):
        if path is not None:
            os.environ[name] = str(path.resolve())


def gold_folder() -> Path:
    """Where this server's workers look for gold, for commands that put gold there."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_GOLD_DIR") or data_dir / "gold")


def models_folder() -> Path:
    """Where this machine's workers look for encoder models."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_MODELS_DIR") or data_dir / "models")
