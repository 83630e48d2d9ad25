"""A check whether the providers of the tests can be started here: `.ci/run` uses it before anything is installed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ABSENT = "no providers of identities here: install node 20 or newer, then `npm ci --prefix tests/oidc`"


def why_not() -> str:
    """Return why no provider can be started here; "" if they can."""
    is_there = shutil.which("node") and (FOLDER / "node_modules" / "oidc-provider").is_dir()
    return "" if is_there else ABSENT


def main() -> int:
    """Exit with 1 if no provider can be started."""
    words = why_not()
    sys.stdout.write(f"{words or 'node and oidc-provider are here'}\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
