"""The bubblewrap of tests and benchmarks: without it a test is skipped, and in CI it fails."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ABSENT = "no bubblewrap here: install the package bubblewrap, version 0.8 or later"


def find_bubblewrap() -> str | None:
    """Return the path of the command; None if there is none."""
    return shutil.which("bwrap")


def why_not() -> str:
    """Return why no sandbox can be started here; empty if one can."""
    from workers.sandbox import SandboxUnavailable, find_backend

    if find_bubblewrap() is None:
        return ABSENT
    try:
        find_backend()
    except SandboxUnavailable as error:
        return f"no sandbox here: {error} (`evergold doctor sandbox` has more)"
    return ""


@contextmanager
def bare_environment() -> Iterator[Path]:
    """Build an environment without packages on the Python below /usr, where the user of sandboxes can read it."""
    from workers.sandbox.building import build_environment
    from workers.sandbox.environments import DeclaredEnvironment

    before = os.environ.get("EVERGOLD_ENVIRONMENTS_DIR")
    with tempfile.TemporaryDirectory(prefix="evergold-environments-") as folder:
        os.environ["EVERGOLD_ENVIRONMENTS_DIR"] = folder
        try:
            yield build_environment(DeclaredEnvironment(()))
        finally:
            os.environ.pop("EVERGOLD_ENVIRONMENTS_DIR")
            if before is not None:
                os.environ["EVERGOLD_ENVIRONMENTS_DIR"] = before


def main() -> int:
    """Print the bubblewrap that tests would take; exit with 1 if there is none (`.ci/run` installs one then)."""
    found = find_bubblewrap()
    sys.stdout.write(f"{found or ABSENT}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
