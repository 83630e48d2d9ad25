"""Check of the number of baselines per phase on hidden gold."""

from __future__ import annotations

from collections.abc import Iterable

from app.declarations.apply.baseline_limit import MOST_BASELINES
from app.declarations.findings import Findings
from evergold.yaml_lines import Node


def check_number_of_baselines(phases: Iterable[tuple[str, Node]], findings: Findings) -> None:
    """Report the first baseline of a phase beyond the limit. phases: the name and node of each."""
    for name, phase in phases:
        tasks = phase.entries.get("tasks")
        hidden = [one for one in tasks.entries.values() if not _has_public_gold(one)] if tasks else []
        declared = [baseline for one in hidden for baseline in _baselines(one)]
        if len(declared) > MOST_BASELINES:
            findings.error(
                declared[MOST_BASELINES],
                f"the phase '{name}' has {len(declared)} baselines on hidden gold, at most {MOST_BASELINES} are "
                "scored: each score tells something of the gold. Leave some out, or say gold_is_public where it is",
            )


def _has_public_gold(task: Node) -> bool:
    said = task.entries.get("gold_is_public")
    return said is not None and said.value is True


def _baselines(task: Node) -> list[Node]:
    inside = task.entries.get("baselines")
    return list(inside.elements) if inside else []
