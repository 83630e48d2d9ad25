"""Checks of the files that a competition names: that they exist, and are valid for the task types and boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from app.declarations.check.competition import Board, Parts, PhaseTaskNode
from app.declarations.check.gold import check_declared_scores, check_with_gold
from app.declarations.check.shape import elements, text_of
from app.declarations.findings import Findings, quoted
from app.declarations.historic import MOST_RESULTS, MOST_SCORES, read_historic
from evergold.scoring.errors import InvalidFile, ScoringError
from evergold.scoring.task import AnyTask, Options
from evergold.value_words import did_you_mean, listed
from evergold.yaml_lines import Node

#: Maximum size of a public download.
PUBLIC_FILE_LIMIT_BYTES = 2 * 1024 * 1024 * 1024


#: Items by task type, options and path: several phases may share them.
ItemsRead = dict[tuple[str, str, Path], Any]


def check_files(parts: Parts, findings: Findings, *, warn: bool, gold: Path | None = None) -> None:
    """Check all files of one competition.

    warn: also report probable errors; gold: a folder of plain gold to compare with.
    """
    known: ItemsRead = {}
    if warn:
        _advise(parts.phase_tasks, findings)
    for phase_task in parts.phase_tasks:
        items = _check_items(phase_task, known, findings, warn)
        _check_downloads(phase_task, findings)
        _check_baselines(phase_task, items, findings)
        check_declared_scores(phase_task, findings)
        if gold is not None:
            check_with_gold(phase_task, items, gold, findings)
    left = _Left(MOST_RESULTS, MOST_SCORES)
    for board in parts.boards:
        for historic in elements(board.node, "historic"):
            _check_historic(board, historic, left, findings)


def _advise(phase_tasks: Sequence[PhaseTaskNode], findings: Findings) -> None:
    """Warn once about each task whose type advises to set more options than in one of its phases."""
    advised: set[int] = set()
    for phase_task in phase_tasks:
        task, options, node = phase_task.task.type, phase_task.options, phase_task.task.node
        if task is None or task.advice is None or options is None or id(node) in advised:
            continue
        if advice := task.advice(options):
            advised.add(id(node))
            findings.warning(node.entries.get("options", node), f"'{phase_task.name}': {advice}")


def _check_items(phase_task: PhaseTaskNode, known: ItemsRead, findings: Findings, warn: bool) -> Any:
    """Return the items; None if there are none or they cannot be read."""
    node = phase_task.node.entries.get("items")
    path = _existing(node, findings)
    task = phase_task.task.type
    if node is None or path is None or task is None or phase_task.options is None:
        return None
    key = (task.name, phase_task.options.model_dump_json(), path)
    if key in known:
        return known[key]
    try:
        known[key] = task.read_items(path, phase_task.options)
    except InvalidFile as invalid:
        findings.error(node, f"'{task.name}' cannot use {node.text} as items: {quoted(invalid)}")
        return None
    if warn and _is_gold(path, task, phase_task.options):
        findings.warning(node, f"{node.text} can be read as gold: everybody could download the answers with the items")
    return known[key]


def _is_gold(path: Path, task: AnyTask, options: Options) -> bool:
    try:
        task.read_gold(path, options)
    except (ScoringError, OSError):
        return False
    return True


def _check_downloads(phase_task: PhaseTaskNode, findings: Findings) -> None:
    """Check each file, and that the names under which files are downloaded are unique."""
    items = phase_task.node.entries.get("items")
    first: dict[str, Node] = {PurePosixPath(items.text).name: items} if items and items.text else {}
    for download in elements(phase_task.node, "downloads"):
        node = download.entries.get("file")
        _existing(node, findings)
        if node is None or not node.text or (items is not None and node.text == items.text):
            continue
        name = PurePosixPath(node.text).name
        before = first.setdefault(name, node)
        if before is not node:
            findings.error(node, f"two downloads are called '{name}'; first on line {before.line}")


def _check_baselines(phase_task: PhaseTaskNode, items: Any, findings: Findings) -> None:
    first: dict[str, Node] = {}
    for baseline in elements(phase_task.node, "baselines"):
        if name := text_of(baseline, "name"):
            before = first.setdefault(name, baseline)
            if before is not baseline:
                findings.error(baseline, f"the baseline '{name}' is declared twice; first on line {before.line}")
        node = baseline.entries.get("file")
        path = _existing(node, findings)
        if node is None or path is None or items is None or phase_task.task.type is None or phase_task.options is None:
            continue
        try:
            phase_task.task.type.read_prediction(path, items, phase_task.options)
        except InvalidFile as invalid:
            findings.error(node, f"{node.text} would be rejected: {quoted(invalid)}")


@dataclass
class _Left:
    """The numbers of published results, and of their scores, that the competition may still have."""

    results: int
    scores: int


def _check_historic(board: Board, historic: Node, left: _Left, findings: Findings) -> None:
    phases = {one.phase.name: one for one in board.phase_tasks}
    wanted = text_of(historic, "phase")
    phase_task = phases.get(wanted or "")
    if wanted is not None and phase_task is None:
        hint = f"{did_you_mean(wanted, phases)}; these do: {listed(phases)}"
        findings.error(historic.entries["phase"], f"no phase '{wanted}' has the board's task{hint}")
    node = historic.entries.get("file")
    path = _existing(node, findings)
    task = board.task.type
    if node is None or path is None or phase_task is None or phase_task.options is None or task is None:
        return
    try:
        results = read_historic(path, task, task.columns(phase_task.options), task.metrics_of(phase_task.options))
    except InvalidFile as invalid:
        findings.error(node, f"{node.text} does not hold published results: {quoted(invalid)}")
        return
    left.results -= len(results)
    left.scores -= sum(len(one.scores) for one in results)
    if left.results < 0 or left.scores < 0:
        most = f"at most {MOST_RESULTS:,} published results with {MOST_SCORES:,} scores"
        findings.error(node, f"with {node.text} there are too many: a competition has {most} in all its files")


def _existing(node: Node | None, findings: Findings) -> Path | None:
    """Return the path of a file that exists and can be published."""
    if node is None or not node.text or node.text.startswith("/") or ".." in PurePosixPath(node.text).parts:
        return None  # absent, or reported already as a fault of the shape
    path = Path(node.file).parent / node.text
    try:
        size_bytes = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        findings.error(node, f"the file {node.text} {what}{_near_file(path)}")
        return None
    if not path.is_file():
        findings.error(node, f"{node.text} is not a file")
    elif size_bytes == 0:
        findings.error(node, f"the file {node.text} is empty")
    elif size_bytes > PUBLIC_FILE_LIMIT_BYTES:
        findings.error(node, f"the file {node.text} is larger than {PUBLIC_FILE_LIMIT_BYTES // 2**30} GiB")
    else:
        return path
    return None


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()][:1_000]
    except OSError:
        return ""
    return did_you_mean(path.name, names)
