"""`python -m evergold.scoring TASK --gold … --prediction …`: the command `evergold score`."""

from __future__ import annotations

import sys

from evergold.cli import run

if __name__ == "__main__":
    sys.exit(run(["score", *sys.argv[1:]]))
