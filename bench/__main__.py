"""`make bench`: every benchmark in turn, each in a process of its own, so that none warms up or slows down another."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Run all; the exit code is the number of those that failed."""
    argparse.ArgumentParser(prog="python -m bench", description=__doc__).parse_args()
    failed = 0
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        print(f"\n== {path.stem}", flush=True)
        failed += (
            subprocess.run([sys.executable, "-m", f"bench.{path.stem}"], cwd=FOLDER.parent, check=False).returncode != 0
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
