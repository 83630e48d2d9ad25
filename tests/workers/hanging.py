"""A worker whose background process hangs over every version of gold, for as long as a file `hang` lies in its data.

Run as `python -m tests.workers.hanging`, with the arguments of `workers.start`.
"""

from __future__ import annotations

import sys
import time

from app.base.config import get_settings
from app.models import GoldVersion
from app.runs.claims import SealedGold
from workers import background, background_process, start, version_check

_check = version_check._problems


def hang(version: GoldVersion, sealed: SealedGold) -> version_check.CheckResult:
    while (get_settings().data_dir / "hang").exists():
        time.sleep(0.02)
    return _check(version, sealed)


if __name__ == "__main__":
    if sys.argv[1] == "background":
        del sys.argv[1]
        version_check._problems = hang
        background.main()
    else:
        background_process.COMMAND = (sys.executable, "-P", "-m", "tests.workers.hanging", "background")
        sys.exit(start.main())
