"""The conditions of the figures: the machine, its load, versions, and the commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "scipy", "scikit-learn", "SQLAlchemy", "fastapi", "uvicorn", "celery", "psycopg", "torch")


def machine() -> dict[str, Any]:
    """Return the processor, its number of cores, the memory, and the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the relevant packages; None if one is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """Return the current commit, with `+` if files differ from it; None without git."""
    try:
        found = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--", ".", ":!bench/results.json")
    except (OSError, subprocess.CalledProcessError):
        return None
    return found + ("+" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def load() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 1)
