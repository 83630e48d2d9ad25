"""The command line that all benchmarks share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence

import pytest


class BenchParser(argparse.ArgumentParser):
    """Arguments of a benchmark, with `--json` and `--smoke`.

    smoke: the smallest sizes that still run every step, by the name of the argument; they take a few seconds.
    """

    def __init__(self, description: str | None, smoke: Mapping[str, object]) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._smoke = dict(smoke)
        self.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
        self.add_argument("--smoke", action="store_true", help="the smallest sizes: whether it runs, in a few seconds")

    def parse(self, argv: Sequence[str] | None = None) -> argparse.Namespace:
        """Parse the arguments; `--smoke` replaces missing ones by its sizes."""
        if "--smoke" in (sys.argv[1:] if argv is None else argv):
            self.set_defaults(**self._smoke)
        return self.parse_args(argv)


def run(main: Callable[[], int | None]) -> int:
    """Run a benchmark, or explain that the machine lacks a part that it needs."""
    try:
        return main() or 0
    except pytest.skip.Exception as missing:
        skip(str(missing), as_json="--json" in sys.argv[1:])
        return 0


def skip(why: str, *, as_json: bool) -> None:
    """Print why nothing is measured."""
    print(json.dumps({"skipped": why}) if as_json else f"not measured: {why}")
