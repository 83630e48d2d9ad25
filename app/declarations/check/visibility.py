"""Contradictions in visibility, entry rules and carry-over, each reported at its line.

Times are checked as written; values of the wrong type are reported elsewhere and skipped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.base.times import in_utc, parse_moment
from app.competitions.private_part import scored_by
from app.declarations.check.shape import text_of
from app.declarations.findings import Findings
from evergold.value_words import did_you_mean, listed
from evergold.yaml_lines import Node

_CLOSE = "close"
_MOMENTS = ("public_from", "names_from")


@dataclass(frozen=True, slots=True)
class PhaseNode:
    """A declared phase. start, end: None if absent or invalid; ends: whether an end is declared."""

    node: Node
    name: str
    start: datetime | None
    end: datetime | None
    ends: bool


def check_visibility(phases: Sequence[PhaseNode], findings: Findings) -> None:
    """Report contradictions in the phases of a competition, and in their tasks."""
    for phase in phases:
        _check_settings(phase, phase.node, {}, findings)
        _check_entry(phase, phase.node, {}, findings)
        _check_snapshot(phase, findings)
        tasks = phase.node.entries.get("tasks")
        for task in tasks.entries.values() if tasks else ():
            _check_settings(phase, task, phase.node.entries, findings)
            _check_private_part(phase, task, findings)
            _check_entry(phase, task, phase.node.entries, findings)
    _check_carry_over(phases, findings)


# ---------------------------------------------------------------------------------------------------------- visibility


def _check_settings(phase: PhaseNode, node: Node, above: Mapping[str, Node], findings: Findings) -> None:
    """Check visibility. node: of the phase or one of its tasks; above: for a task, the keys of the phase."""
    own = node.entries.get("visibility")
    if own is None or not isinstance(own.value, dict):
        return
    outer = above["visibility"].entries if "visibility" in above else {}
    entries = {**outer, **own.entries}
    for key in _MOMENTS:
        if key in own.entries:
            _check_moment(phase, own.entries[key], key, findings)
    board, public_from = _value(entries, "board"), _value(entries, "public_from")
    if public_from is not None and board == "public":
        place = own.entries.get("public_from") or own.entries.get("board") or own
        message = "'public_from' has no effect on a public board: remove it, or set 'board' to hidden or ranks_only"
        findings.error(place, message)
    if board in ("hidden", "ranks_only") and public_from is None:
        what = "is hidden for ever" if board == "hidden" else "shows only ranks for ever"
        place = own.entries.get("board") or own.entries.get("public_from") or own
        findings.warning(place, f"without 'public_from' the board {what}: write a moment, or 'close'")
    own_scores = _value(entries, "own_scores")
    if own_scores == "after_close" and not phase.ends:
        place = own.entries.get("own_scores") or own
        findings.error(
            place, f"'after_close' is never: the phase '{phase.name}' has no end; write 'never' or give it one"
        )
    if own_scores in ("never", "after_close") and board in (None, "public") and public_from is None:
        place = own.entries.get("own_scores") or own
        findings.warning(place, f"own_scores is '{own_scores}', but the public board shows these scores to everybody")


def _check_moment(phase: PhaseNode, node: Node, key: str, findings: Findings) -> None:
    if node.value == _CLOSE and not phase.ends:
        findings.error(node, f"'{key}' is 'close', but the phase '{phase.name}' has no end")
    moment = _moment(node)
    if moment and phase.start and moment <= phase.start:
        moments = f"{in_utc(moment)}, {in_utc(phase.start)}"
        findings.error(node, f"'{key}' is not after the start of the phase, so nothing would be hidden: {moments}")


def _check_private_part(phase: PhaseNode, task: Node, findings: Findings) -> None:
    part = task.entries.get("private_part")
    if part is None or not isinstance(part.value, dict):
        return
    shown_from = part.entries.get("shown_from")
    if shown_from is not None and "carry_over" in phase.node.entries:
        return  # it may be shown from the start on: that of the earlier phase was private until then
    if shown_from is not None:
        _check_moment(phase, shown_from, "shown_from", findings)
        moment = _moment(shown_from)
        if moment and (phase.end is None or moment < phase.end):
            findings.warning(shown_from, "teams can still submit when they see the scores of the private part")
    elif not phase.ends:
        findings.error(
            part, f"the phase '{phase.name}' has no end: set 'shown_from', the moment when the private part is shown"
        )


def _check_snapshot(phase: PhaseNode, findings: Findings) -> None:
    """Check a declared `snapshot`; by default every phase with an end has one."""
    snapshot = phase.node.entries.get("snapshot")
    if snapshot is None or snapshot.value is not True:
        return
    if not phase.ends:
        findings.error(snapshot, f"the phase '{phase.name}' has no end, so no official results will ever be frozen")
    visibility = phase.node.entries.get("visibility")
    entries = visibility.entries if visibility else {}
    if _value(entries, "board") == "hidden" and _value(entries, "public_from") is None:
        findings.error(snapshot, "the board is hidden for ever, and its official results with it: set 'public_from'")


# --------------------------------------------------------------------------------------------------------------- entry


def _check_entry(phase: PhaseNode, node: Node, above: Mapping[str, Node], findings: Findings) -> None:
    entries = {**above, **node.entries}
    for key in ("choose_until", "without_choice"):
        own = node.entries.get(key)
        if own is not None and own.value is not None and _value(entries, "entry") != "chosen":
            findings.error(own, f"'{key}' is for the entry rule 'chosen': here teams do not choose")
    _check_ladder(node, entries, findings)
    until = node.entries.get("choose_until")
    moment = _moment(until) if until else None
    if until is None:
        return
    if until.value == _CLOSE and not phase.ends:
        findings.error(until, f"'choose_until' is 'close', but the phase '{phase.name}' has no end")
    if moment and phase.start and moment <= phase.start:
        findings.error(until, f"'choose_until' is not after the start of the phase: {in_utc(moment)}")
    if moment and phase.end and moment > phase.end:
        findings.error(
            until,
            f"'choose_until' is after the phase has closed, when its boards are frozen: {in_utc(moment)}, "
            f"{in_utc(phase.end)}",
        )


def _check_ladder(node: Node, entries: Mapping[str, Node], findings: Findings) -> None:
    step = node.entries.get("ladder_step")
    is_ladder = _value(entries, "entry") == "ladder"
    if step is not None and step.value is not None and not is_ladder:
        findings.error(step, "'ladder_step' is for the entry rule 'ladder': here scores are shown unchanged")
    if is_ladder and _value(entries, "ladder_step") is None:
        findings.error(node.entries.get("entry") or node, "the entry rule 'ladder' needs a 'ladder_step', such as 0.01")


# ---------------------------------------------------------------------------------------------------------- carry over


def _check_carry_over(phases: Sequence[PhaseNode], findings: Findings) -> None:
    by_name = {phase.name: phase for phase in phases}
    for phase in phases:
        node = phase.node.entries.get("carry_over")
        name = node.text if node else None
        if node is None or name is None:
            continue
        other = by_name.get(name)
        if other is None:
            known = f"{did_you_mean(name, by_name)}; the phases are {listed(by_name)}"
            findings.error(node, f"there is no phase '{name}'{known}")
        elif circle := _circle(phase, by_name):
            findings.error(node, f"entries are carried over in a circle: {' > '.join(circle)}")
        elif other.start and phase.start and other.start >= phase.start:
            findings.error(node, f"'{name}' does not start before '{phase.name}': entries come from an earlier phase")
        else:
            _check_same_question(phase, other, findings)


def _circle(phase: PhaseNode, by_name: Mapping[str, PhaseNode]) -> list[str]:
    """Return the names of a cycle from a phase back to itself; empty if there is none."""
    seen, name = [phase.name], text_of(phase.node, "carry_over")
    while name is not None and name in by_name and name not in seen:
        seen.append(name)
        name = text_of(by_name[name].node, "carry_over")
    return [*seen, phase.name] if name == phase.name else []


def _check_same_question(phase: PhaseNode, other: PhaseNode, findings: Findings) -> None:
    """Warn about tasks that are not carried over because gold or settings differ, so that scores are not comparable."""
    tasks, others = ((one.node.entries.get("tasks") or one.node).entries for one in (phase, other))
    shared = [name for name in tasks if name in others]
    if not shared:
        findings.warning(phase.node.entries["carry_over"], f"'{phase.name}' and '{other.name}' have no task in common")
    for name in shared:
        here, there = tasks[name].entries, others[name].entries
        differs = [
            key
            for key in ("gold", "gold_version", "options", "private_part")
            if _scored_with(here, key) != _scored_with(there, key)
        ]
        if differs and _plain(here, "gold") is not None and _plain(there, "gold") is not None:
            findings.warning(
                tasks[name],
                f"nothing of '{name}' can be carried over from '{other.name}': its {' and '.join(differs)} differs "
                "there",
            )


def _scored_with(entries: Mapping[str, Node], key: str) -> Any:
    """Return the part of a value that affects scores."""
    value = _plain(entries, key)
    return scored_by(value) if isinstance(value, dict) else value


def _plain(entries: Mapping[str, Node], key: str) -> Any:
    return entries[key].plain() if key in entries else None


def _value(entries: Mapping[str, Node], key: str) -> Any:
    return entries[key].value if key in entries else None


def _moment(node: Node) -> datetime | None:
    try:
        return parse_moment(node.text)
    except ValueError:
        return None
