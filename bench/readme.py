"""Write the figures of bench/results.json into the README and docs/performance.md: `python -m bench.readme`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from bench.__main__ import RESULTS
from bench._conditions import ROOT
from bench._figures import cells

#: Markdown that no page shows: link definitions.
BEGIN, END = '[//]: # "begin figures, written by python -m bench.readme"', '[//]: # "end figures"'
README, PERFORMANCE = ROOT / "README.md", ROOT / "docs" / "performance.md"


def main() -> int:
    """Write both; print which changed."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for path in (README, PERFORMANCE):
        before = path.read_text(encoding="utf-8")
        after = with_figures(path, before, results)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: new figures")
    return 0


def with_figures(path: Path, text: str, results: dict[str, Any]) -> str:
    """Put the table of this file, and the conditions of measurement, between its marks."""
    table = front_table(results) if path == README else full_table(results)
    content = f"{BEGIN}\n\n{conditions(results)}\n\n{table}\n\n{END}"
    after, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: content, text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{path.name}: expected {BEGIN} … {END} once")
    return after


def conditions(results: dict[str, Any]) -> str:
    """Describe the machine of the figures and its load."""
    machine, commit = results["machine"], results["commit"] or "no commit"
    place = f"{machine['cores']} cores of {machine['processor']}, Python {results['versions']['python']}"
    return f"Measured on {results['began_at'][:10]} at `{commit[:10]}`: {place}, load {results['load_before']} before."


def front_table(results: dict[str, Any]) -> str:
    """Format the few figures of the README."""
    rows = [f"| {claim} | {value} |" for claim, value, _ in cells(results, only_front=True)]
    return "\n".join(["| what | figure |", "|---|---|", *rows])


def full_table(results: dict[str, Any]) -> str:
    """Format all figures, each with its command."""
    rows = [f"| {claim} | {value} | `{command}` |" for claim, value, command in cells(results)]
    return "\n".join(["| what | figure | command |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.exit(main())
