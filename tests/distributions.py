"""Our distributions and made-up ones, built without network into folders, and environments made of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_LEFTOVERS = shutil.ignore_patterns("__pycache__", "build", "dist", "*.egg-info")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-deps", "--no-index")


def build_wheel(project: Path, folder: Path) -> Path:
    """The wheel of a project, built from a copy: building leaves things behind."""
    copy = folder / "source" / project.name
    shutil.copytree(project, copy, ignore=_LEFTOVERS)
    _run(*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", folder, copy)
    [wheel] = folder.glob("*.whl")
    return wheel


def install_into(folder: Path, *wheels: Path) -> None:
    """Unpack wheels into a folder for sys.path, as pip does."""
    _run(*PIP, "install", *OFFLINE, "--target", folder, *wheels)


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
