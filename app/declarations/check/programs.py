"""Checks of organisers' programs: that they exist and can be started, and that their tasks declare nothing impossible.

A program is only read here, never run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from app.declarations.check.competition import Parts, PhaseTaskNode, TaskNode
from app.declarations.check.shape import text_of
from app.declarations.findings import Findings, quoted
from app.models import PROGRAM
from evergold.scoring.errors import InvalidFile
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.packing import pack, program_fault
from evergold.yaml_lines import Node

_NO_ITEMS = (
    "a program of the organisers' own gives no results for single items, so there is nothing to show; offer the "
    "gold under 'downloads' instead"
)


def check_programs(parts: Parts, findings: Findings) -> None:
    """Check the programs of a competition, and their tasks in every phase."""
    for task in parts.tasks:
        _check_task(task, findings)
    for phase_task in parts.phase_tasks:
        if phase_task.task.type is not None and phase_task.task.type.run is not None:
            _check_phase_task(phase_task, findings)


def _check_task(task: TaskNode, findings: Findings) -> None:
    node, options = task.node.entries.get("program"), task.node.entries.get("options")
    if task.type is None:
        return
    if options is not None and PROGRAM in options.entries:
        findings.error(
            options.entries[PROGRAM], f"leave '{PROGRAM}' out of the options: name the program under `program`"
        )
    if task.type.run is None:
        if node is not None:
            findings.error(node, f"'{task.type.name}' computes its scores itself: a program belongs to type program")
        return
    if node is None:
        findings.error(task.node, "this task needs a 'program': a folder or zip with your scoring program")
        return
    path = _existing(node, findings)
    if path is not None and isinstance(task.options, ProgramOptions):
        _check_program(path, task.options, node, findings)


def _existing(node: Node, findings: Findings) -> Path | None:
    if not node.text or node.text.startswith("/") or ".." in PurePosixPath(node.text).parts:
        return None  # a fault of the shape, which is reported already
    path = Path(node.file).parent / node.text
    if not path.exists():
        findings.error(node, f"the program {node.text} does not exist: name a folder or a zip")
        return None
    return path


def _check_program(path: Path, options: ProgramOptions, node: Node, findings: Findings) -> None:
    with tempfile.TemporaryDirectory(prefix="evergold-program-") as folder:
        packed = Path(folder, "program.zip")
        try:
            pack(path, packed)
        except InvalidFile as invalid:
            findings.error(node, f"the program {node.text} cannot be used: {quoted(invalid)}")
            return
        except OSError as error:
            findings.error(node, f"the program {node.text} cannot be read: {error.strerror}")
            return
        if fault := program_fault(packed, options):
            findings.error(node, f"the program {node.text} {fault}")


def _check_phase_task(phase_task: PhaseTaskNode, findings: Findings) -> None:
    public = phase_task.node.entries.get("gold_is_public")
    if public is not None and public.value is True:
        findings.error(public, _NO_ITEMS)
    gold = phase_task.node.entries.get("gold")
    if gold is not None and text_of(phase_task.node, "gold") not in (None, "sealed"):
        findings.error(
            gold,
            "gold that an organisers' own program opens is sealed, so that no other program can open it: leave 'gold' "
            "out, and upload the gold once the competition exists",
        )
    options = phase_task.node.entries.get("options")
    for key in ("metrics", PROGRAM):
        if options is not None and key in options.entries:
            findings.error(options.entries[key], f"'{key}' belongs to the task: it is the same in all of its phases")
