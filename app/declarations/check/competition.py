"""Checks of a competition beyond pydantic: unknown names, boards without their scores, times, limits.

They use the file as read, so that one error hides no other; values of the wrong type are reported elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any

from pydantic import ValidationError

from app.base.text import readable_size
from app.base.times import in_utc, parse_moment
from app.declarations.apply.baselines import MOST_BASELINES
from app.declarations.check.parts import check_method_card, check_registration, check_tracks
from app.declarations.check.shape import elements, report, text_of
from app.declarations.check.visibility import PhaseNode, check_visibility
from app.declarations.findings import Findings
from app.declarations.historic import score_fault
from app.models import MissingEntry, RankingBy
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.task import AnyTask, Column, Metric, Options, read_options
from evergold.scoring.tasks import TASKS, unusable_reasons
from evergold.value_words import did_you_mean, listed
from evergold.yaml_lines import Node


@dataclass(frozen=True, slots=True)
class TaskNode:
    """A declared task. type, options: None if invalid."""

    node: Node
    type: AnyTask | None
    options: Options | None


@dataclass(frozen=True, slots=True)
class PhaseTaskNode:
    """A known task in a phase, with its options there (None if invalid)."""

    node: Node
    phase: PhaseNode
    task: TaskNode
    name: str
    options: Options | None


@dataclass(frozen=True, slots=True)
class Board:
    """A board of a known task."""

    node: Node
    task: TaskNode
    phase_tasks: Sequence[PhaseTaskNode]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a competition that the checks of files need."""

    tasks: Sequence[TaskNode]
    phase_tasks: Sequence[PhaseTaskNode]
    boards: Sequence[Board]


def check_competition(
    competition: Node, now: datetime | None, findings: Findings, sealed: Collection[tuple[str, str, str]] = ()
) -> Parts:
    """Check a competition except for its files; return its parts. now: None skips checks that depend on the current
    time.

    sealed: (competition, phase, task) with sealed gold on this server, which the file need not declare.
    """
    here = {(phase, task) for name, phase, task in sealed if name == text_of(competition, "name")}
    tasks = _check_tasks(elements(competition, "tasks"), findings)
    phases = _check_phases(competition, now, findings)
    phase_tasks = [
        phase_task for phase in phases for phase_task in _check_phase_tasks(phase, tasks, now, findings, here)
    ]
    boards = _check_boards(elements(competition, "boards"), tasks, phase_tasks, findings)
    in_phases = {one.name for one in phase_tasks}
    for name, task in tasks.items():
        if name not in in_phases:
            findings.warning(task.node, f"no phase has the task '{name}', so it is not shown anywhere")
    _warn_of_overlaps(phase_tasks, findings)
    _warn_of_public_gold(phase_tasks, now, findings)
    check_visibility(phases, findings)
    _check_private_parts(phase_tasks, findings)
    _check_number_of_baselines(phases, findings)
    check_method_card(competition, findings)
    check_registration(competition, findings)
    by_phase: dict[str, list[str]] = {}
    for one in phase_tasks:
        by_phase.setdefault(one.phase.name, []).append(one.name)
    _check_rankings(competition, by_phase, findings)
    check_names(elements(competition, "tracks"), "the track", findings)
    check_tracks(
        elements(competition, "tracks"),
        boards=elements(competition, "boards"),
        baselines=[baseline for one in phase_tasks for baseline in elements(one.node, "baselines")],
        findings=findings,
    )
    return Parts(list(tasks.values()), phase_tasks, boards)


def check_names(nodes: Iterable[Node], what: str, findings: Findings) -> None:
    """Report duplicate names. what: the kind of thing named, for the message."""
    first: dict[str, Node] = {}
    for node in nodes:
        name = text_of(node, "name")
        if name is None:
            continue
        before = first.setdefault(name, node)
        if before is not node:
            place = f"line {before.line}" if before.file == node.file else f"{before.file}, line {before.line}"
            findings.error(node.entries["name"], f"{what} '{name}' is declared twice; first on {place}")


# ------------------------------------------------------------------------------------------------------------- tasks


def _check_tasks(nodes: list[Node], findings: Findings) -> dict[str, TaskNode]:
    """Check the tasks and return them by name."""
    check_names(nodes, "the task", findings)
    tasks: dict[str, TaskNode] = {}
    for node in nodes:
        name, type_name = text_of(node, "name"), text_of(node, "type")
        type_ = TASKS.get(type_name or "")
        if type_name is not None and type_ is None:
            known = f"{did_you_mean(type_name, TASKS)}; the task types are {listed(TASKS)}"
            why = "".join(f"; {reason}" for reason in unusable_reasons(type_name))
            findings.error(node.entries["type"], f"there is no task type '{type_name}'{why or known}")
        options = _check_options(node, type_, {}, findings) if type_ else None
        if name is not None:
            tasks.setdefault(name, TaskNode(node, type_, options))
    return tasks


def _check_options(node: Node, type_: AnyTask, below: dict[str, Any], findings: Findings) -> Options | None:
    """Return the options of `node` merged over `below`; None, with findings, if they are invalid for the task type."""
    declared = node.entries.get("options", Node({}, node.file, node.line, node.column))
    if not isinstance(declared.value, dict):
        return None
    try:
        options: Options = type_.options.model_validate({**below, **declared.plain()})
    except ValidationError as invalid:
        report(declared, invalid, type_.options, findings)
        return None
    return options


# ------------------------------------------------------------------------------------------------------------ phases


def _check_phases(competition: Node, now: datetime | None, findings: Findings) -> list[PhaseNode]:
    nodes = elements(competition, "phases")
    check_names(nodes, "the phase", findings)
    phases = []
    for node in nodes:
        start, end = _moment(node, "start"), _moment(node, "end")
        if start and end and end <= start:
            findings.error(node.entries["end"], f"the phase ends before it starts: {in_utc(end)}, {in_utc(start)}")
        _check_limits(node, findings)
        ends = "end" in node.entries and node.entries["end"].value is not None
        phases.append(PhaseNode(node, text_of(node, "name") or "", start, end, ends))
    if phases and now is not None and all(phase.end and phase.end <= now for phase in phases):
        findings.warning(competition.entries["phases"], "every phase has ended, so nobody can submit")
    return phases


def _moment(node: Node, key: str) -> datetime | None:
    try:
        return parse_moment(text_of(node, key))
    except ValueError:
        return None


def _check_limits(phase: Node, findings: Findings) -> None:
    """Check the limits of the phase, and of its tasks merged over them."""
    tasks = phase.entries.get("tasks")
    outer = phase.entries["limits"].entries if "limits" in phase.entries else {}
    for own in (phase, *(tasks.entries.values() if tasks else ())):
        if "limits" not in own.entries:
            continue
        limits = {**outer, **own.entries["limits"].entries}
        numbers = [
            (name, node, node.value)
            for name in ("per_day", "per_week", "per_month", "total")
            if (node := limits.get(name)) and isinstance(node.value, int)
        ]
        for (name, node, number), (longer, _, more) in pairwise(numbers):
            if number > more:
                findings.error(node, f"{name} ({number}) is more than {longer} ({more})")


def warn_of_server_limit(competition: Node, limit_bytes: int, findings: Findings) -> None:
    """Warn about upload limits above the server's, which refuses larger uploads in any case."""
    for phase in elements(competition, "phases"):
        tasks = phase.entries.get("tasks")
        for owner in (phase, *(tasks.entries.values() if tasks else ())):
            limits = owner.entries.get("limits")
            declared = limits.entries.get("upload_bytes") if limits else None
            if declared and isinstance(declared.value, int) and declared.value > limit_bytes:
                findings.warning(
                    declared,
                    f"upload_bytes is {readable_size(declared.value)}, but this server takes no upload above "
                    f"{readable_size(limit_bytes)}: raise EVERGOLD_UPLOAD_LIMIT_BYTES, or declare a lower limit",
                )


def _check_phase_tasks(
    phase: PhaseNode,
    tasks: dict[str, TaskNode],
    now: datetime | None,
    findings: Findings,
    sealed: Collection[tuple[str, str]],
) -> list[PhaseTaskNode]:
    """Check the tasks of a phase and return the known ones."""
    phase_tasks = []
    entries = phase.node.entries.get("tasks")
    for name, node in (entries.entries if entries else {}).items():
        task = tasks.get(name)
        if task is None:
            findings.error(node, f"there is no task '{name}'{did_you_mean(name, tasks)}; the tasks are {listed(tasks)}")
            continue
        phase_tasks.append(PhaseTaskNode(node, phase, task, name, _phase_options(node, task, findings)))
        gold = node.entries.get("gold")
        if not _is_over(phase, now) and (gold is None or gold.value is None) and (phase.name, name) not in sealed:
            findings.warning(
                node, f"'{name}' has no gold in phase '{phase.name}': submissions are refused until gold is uploaded"
            )
    return phase_tasks


def _is_over(phase: PhaseNode, now: datetime | None) -> bool:
    return phase.end is not None and now is not None and phase.end <= now


def _phase_options(node: Node, task: TaskNode, findings: Findings) -> Options | None:
    if task.type is None or task.options is None or "options" not in node.entries:
        return task.options
    declared = task.node.entries.get("options")
    return _check_options(node, task.type, declared.plain() if declared else {}, findings)


def _warn_of_overlaps(phase_tasks: Sequence[PhaseTaskNode], findings: Findings) -> None:
    """Warn about phases that are open at once with the same items: a team could use the limits of both."""
    for one, other in combinations(phase_tasks, 2):
        if one.name != other.name or one.phase is other.phase or not _overlap(one.phase, other.phase):
            continue
        for key in ("gold", "items"):
            if (same := text_of(one.node, key)) and same == text_of(other.node, key):
                message = f"the phases '{one.phase.name}' and '{other.phase.name}' are open at the same time with the"
                findings.warning(other.node, f"{message} same {key} of '{one.name}': teams have the limits of both")
                break


def _warn_of_public_gold(phase_tasks: Sequence[PhaseTaskNode], now: datetime | None, findings: Findings) -> None:
    """Warn about gold declared public during a contest, or hidden in another phase at the same time."""
    for one in phase_tasks:
        declared = one.node.entries.get("gold_is_public")
        if declared is None or declared.value is not True or _is_over(one.phase, now):
            continue
        if one.phase.ends and _has_total(one):
            findings.warning(
                declared,
                f"teams of '{one.phase.name}' see which items they got right while the phase is open: is its gold "
                "really public?",
            )
        hidden = next((other for other in phase_tasks if _hides_gold_of(other, one, now)), None)
        if hidden is not None:
            findings.warning(
                declared,
                f"the phase '{hidden.phase.name}' uses this gold for '{one.name}' as well, and does not declare it "
                "public",
            )


def _has_total(phase_task: PhaseTaskNode) -> bool:
    """Return True if the total number of submissions per team is limited."""
    limits = [
        node.entries["limits"].entries for node in (phase_task.phase.node, phase_task.node) if "limits" in node.entries
    ]
    return any("total" in one and one["total"].value is not None for one in limits)


def _hides_gold_of(other: PhaseTaskNode, one: PhaseTaskNode, now: datetime | None) -> bool:
    """Return True if another phase, open at the same time, has the same gold (or items) without declaring it public."""
    declared = other.node.entries.get("gold_is_public")
    if other.name != one.name or (declared and declared.value is True) or _is_over(other.phase, now):
        return False
    pairs = [(text_of(one.node, key), text_of(other.node, key)) for key in ("gold", "items")]
    same = any(mine == theirs and mine not in (None, "sealed") for mine, theirs in pairs)
    return same and _overlap(one.phase, other.phase)


def _overlap(one: PhaseNode, other: PhaseNode) -> bool:
    if one.start is None or other.start is None or any(p.ends and p.end is None for p in (one, other)):
        return False
    return (one.end is None or other.start < one.end) and (other.end is None or one.start < other.end)


# ------------------------------------------------------------------------------------------------------------ boards


def _check_boards(
    nodes: list[Node], tasks: dict[str, TaskNode], phase_tasks: Sequence[PhaseTaskNode], findings: Findings
) -> list[Board]:
    check_names(nodes, "the board", findings)
    boards = []
    for node in nodes:
        name = text_of(node, "task")
        task = tasks.get(name or "")
        if task is not None:
            board = Board(node, task, [one for one in phase_tasks if one.name == name])
            boards.append(board)
            if not board.phase_tasks:
                findings.warning(node, f"no phase has the task '{name}', so the board is not shown anywhere")
            _check_columns(board, findings)
        elif name is not None:
            hint = f"{did_you_mean(name, tasks)}; the tasks are {listed(tasks)}"
            findings.error(node.entries["task"], f"there is no task '{name}'{hint}")
    return boards


def _check_columns(board: Board, findings: Findings) -> None:
    """Check that each column exists in at least one phase, and the ranking column in every phase."""
    columns = elements(board.node, "columns")
    offered = offered_columns(board)
    seen: dict[tuple[str, str], Node] = {}
    for column in columns:
        score = score_of(column)
        if score is None:
            continue
        if before := seen.get(score):
            findings.error(column, f"this column is declared twice; first on line {before.line}")
        seen.setdefault(score, column)
        if board.task.type and offered and (fault := score_fault(*score, board.task.type, offered)):
            findings.error(column, fault)
    _check_rank(board, seen, findings)


def _check_rank(board: Board, columns: dict[tuple[str, str], Node], findings: Findings) -> None:
    rank_by = board.node.entries.get("rank_by")
    rank = score_of(rank_by) if rank_by else next(iter(columns), None)
    node = rank_by or (columns[rank] if rank else None)
    if rank is None or node is None:
        return
    if rank not in columns:
        names = listed(f"{metric} {split}" for metric, split in columns)
        findings.error(node, f"rank_by must be one of the board's columns: {names}")
        return
    for phase_task in board.phase_tasks:
        if board.task.type and phase_task.options is not None:
            fault = score_fault(*rank, board.task.type, board.task.type.columns(phase_task.options))
            if fault and not score_fault(*rank, board.task.type, offered_columns(board)):
                findings.error(node, f"the board cannot rank in the phase '{phase_task.phase.name}': {fault}")


def score_of(column: Node) -> tuple[str, str] | None:
    """Return (metric, split); None if either is missing."""
    metric, split = text_of(column, "metric"), text_of(column, "split")
    return (metric, split) if metric is not None and split is not None else None


def offered_columns(board: Board) -> list[Column]:
    """Return all scores that the board's task has in any phase; empty if the options are invalid."""
    options = [one.options for one in board.phase_tasks] or [board.task.options]
    if board.task.type is None:
        return []
    columns = board.task.type.columns
    return list(dict.fromkeys(column for one in options if one is not None for column in columns(one)))


# -------------------------------------------------------------------------------------------------------- private parts


def _check_private_parts(phase_tasks: Iterable[PhaseTaskNode], findings: Findings) -> None:
    """Report contradictions at their lines; times are checked together with visibility."""
    for one in phase_tasks:
        part = one.node.entries.get("private_part")
        if part is None or part.value is None:
            continue
        if one.task.type is not None and one.task.type.part is None:
            findings.error(
                part, f"'{one.task.type.name}' cannot score a part of its items, so it cannot have a private part"
            )
        public = one.node.entries.get("gold_is_public")
        if public is not None and public.value is True:
            findings.error(
                part, "public gold cannot have a private part: set 'gold_is_public' or 'private_part', not both"
            )
        entry = one.node.entries.get("entry") or one.phase.node.entries.get("entry")
        if entry is not None and entry.value == "ladder":
            findings.error(
                part, "a Ladder shows only a team's record, and a private part would show more: choose one of them"
            )


# ------------------------------------------------------------------------------------------------------------ baselines


def _check_number_of_baselines(phases: Iterable[PhaseNode], findings: Findings) -> None:
    """Report the first baseline of a phase beyond the limit."""
    for phase in phases:
        tasks = phase.node.entries.get("tasks")
        hidden = [one for one in tasks.entries.values() if not _has_public_gold(one)] if tasks else []
        declared = [baseline for one in hidden for baseline in _baselines(one)]
        if len(declared) > MOST_BASELINES:
            findings.error(
                declared[MOST_BASELINES],
                f"the phase '{phase.name}' has {len(declared)} baselines on hidden gold, at most {MOST_BASELINES} "
                "are scored: each score reveals something about the gold. Leave some out, or set gold_is_public if "
                "it is public",
            )


def _has_public_gold(task: Node) -> bool:
    declared = task.entries.get("gold_is_public")
    return declared is not None and declared.value is True


def _baselines(task: Node) -> list[Node]:
    inside = task.entries.get("baselines")
    return list(inside.elements) if inside else []


# ------------------------------------------------------------------------------------------------------------- rankings


def _check_rankings(competition: Node, tasks_by_phase: Mapping[str, Sequence[str]], findings: Findings) -> None:
    """Check rankings. tasks_by_phase: task names of each phase; values of the wrong type are reported elsewhere."""
    rankings, boards = competition.entries.get("rankings"), _boards(competition)
    first: dict[str, Node] = {}
    for ranking in rankings.elements if rankings else ():
        name = text_of(ranking, "name")
        before = first.setdefault(name, ranking) if name else ranking
        if before is not ranking:
            findings.error(ranking, f"the ranking '{name}' is declared twice; first on line {before.line}")
        _check_missing(ranking, findings)
        known = [one for one in _known_boards(ranking, boards, findings)]
        tasks = {text_of(boards[one], "task") or "" for one in known}
        if known and not any(tasks <= set(in_phase) for in_phase in tasks_by_phase.values()):
            findings.error(
                ranking, f"no phase has all of {listed(sorted(tasks))}, so this ranking is not shown anywhere"
            )
        if text_of(ranking, "by") == RankingBy.MEAN_SCORE:
            _check_directions(ranking, competition, [boards[one] for one in known], findings)


def _boards(competition: Node) -> dict[str, Node]:
    declared = competition.entries.get("boards")
    return {name: board for board in (declared.elements if declared else ()) if (name := text_of(board, "name"))}


def _check_missing(ranking: Node, findings: Findings) -> None:
    if text_of(ranking, "missing") == MissingEntry.ZERO and text_of(ranking, "by") != RankingBy.MEAN_SCORE:
        findings.error(ranking.entries["missing"], "there is no rank zero: use 'zero' only with 'by: mean_score'")


def _known_boards(ranking: Node, boards: Mapping[str, Node], findings: Findings) -> list[str]:
    parts, found = ranking.entries.get("boards"), list[str]()
    for part in parts.elements if parts else ():
        name = text_of(part, "board")
        if name is None:
            continue
        if name not in boards:
            there = f"there are {listed(boards)}"
            findings.error(part, f"there is no board '{name}'{did_you_mean(name, boards)}; {there}")
        elif name in found:
            findings.error(part, f"the board '{name}' is in this ranking twice")
        else:
            found.append(name)
    return found


def _check_directions(ranking: Node, competition: Node, boards: Sequence[Node], findings: Findings) -> None:
    """Report scores for which lower is better, because their mean with others has no meaning."""
    tasks = competition.entries.get("tasks")
    declared = {text_of(one, "name"): one for one in (tasks.elements if tasks else ())}
    for board in boards:
        task, name = declared.get(text_of(board, "task")), _ranking_metric(board)
        metric = _metrics_of(task).get(name) if task is not None else None
        if metric is not None and not metric.higher_is_better:
            board_name = text_of(board, "name")
            findings.error(ranking, f"a lower '{name}' is better, and it ranks the board '{board_name}': use mean_rank")


def _metrics_of(task: Node) -> Mapping[str, Metric]:
    """Return the metrics of a declared task; empty if it is invalid, which is reported elsewhere."""
    type_, declared = TASKS.get(text_of(task, "type") or ""), task.entries.get("options")
    if type_ is None or type_.metrics_by is None:
        return {} if type_ is None else type_.metrics
    try:
        return type_.metrics_of(read_options(type_, declared.plain() if declared and declared.entries else {}))
    except InvalidOptions:
        return {}


def _ranking_metric(board: Node) -> str:
    columns = board.entries.get("columns")
    column = board.entries.get("rank_by") or (columns.elements[0] if columns and columns.elements else None)
    return (text_of(column, "metric") if column else None) or ""
