"""A full board's statistics and checks of gold, while somebody waits for *validate only* and for a score.

`python -m tests.attacks.waiting_check` starts a server on the embedded default, fills a board, has its statistics
computed and its gold checked again and again, and reports how long checks waited. It fails where one waited for long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench import _busy_board
from bench.server import prepare, running_server

#: A check waits no longer, in the middle and at most.
MEDIAN_MS, LONGEST_MS = 200, 1000


def main() -> int:
    """Run the attack, print a report, and return 1 if a check waited too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=_busy_board.ROWS)
    parser.add_argument("--checks", type=int, default=30)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evergold-attack-") as name:
        figures = attack(Path(name), arguments.rows, arguments.checks)
    for key, value in figures.items():
        sys.stdout.write(f"{key:45} {value}\n")
    within = (
        figures["check_with_statistics_p50_ms"] <= MEDIAN_MS,
        figures["check_with_statistics_max_ms"] <= LONGEST_MS,
    )
    return 0 if all(within) else 1


def attack(folder: Path, rows: int, checks: int) -> dict[str, float]:
    """Return the waiting times of so many checks and uploads, without and with statistics running, in milliseconds."""
    _, file = prepare(folder, _busy_board.PHASES)
    with (
        running_server(folder, _busy_board.SETTINGS) as (url, _),
        _busy_board.busy_server(url, folder, file, rows) as busy,
    ):
        return _busy_board.measure_waits(busy, checks)


if __name__ == "__main__":
    sys.exit(main())
