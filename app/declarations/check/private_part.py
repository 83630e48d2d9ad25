"""Contradictions around a private part: tasks that cannot be divided, and settings that would reveal it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.declarations.findings import Findings
from evergold.scoring.task import AnyTask
from evergold.yaml_lines import Node


@dataclass(frozen=True, slots=True)
class PrivatePartNode:
    """A task in a phase; `type` is None if invalid."""

    node: Node
    phase: Node
    type: AnyTask | None


def check_private_parts(phase_tasks: Iterable[PrivatePartNode], findings: Findings) -> None:
    """Report contradictions at their lines; moments are checked together with visibility."""
    for one in phase_tasks:
        part = one.node.entries.get("private_part")
        if part is None or part.value is None:
            continue
        if one.type is not None and one.type.part is None:
            findings.error(part, f"'{one.type.name}' cannot score a part of its items, so none can be private")
        public = one.node.entries.get("gold_is_public")
        if public is not None and public.value is True:
            findings.error(part, "gold that everybody has hides no part: say 'gold_is_public' or 'private_part'")
        entry = one.node.entries.get("entry") or one.phase.entries.get("entry")
        if entry is not None and entry.value == "ladder":
            findings.error(
                part, "a Ladder tells no score but a team's record, a private part would: choose one of them"
            )
