"""The Chromium of tests, benchmarks and pictures: the one that EVERGOLD_CHROMIUM names, else that of
Debian or Google.
"""

from __future__ import annotations

import os
import shutil
import sys

#: The build without windows is faster and left out: tests see what anybody who installs a browser sees.
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
ABSENT = "no Chromium here: install the package chromium, or set EVERGOLD_CHROMIUM"


def find_chromium() -> str | None:
    """Return the path or command of the browser, None if there is none."""
    return os.environ.get("EVERGOLD_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def main() -> int:
    """Print the browser that tests would use; exit with 1 if there is none (`.ci/run` then installs one)."""
    found = find_chromium()
    sys.stdout.write(f"{found or ABSENT}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
