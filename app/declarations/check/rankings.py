"""Checks of rankings across tasks: unknown boards, boards that share no phase, opposite directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.base.text import did_you_mean, listed
from app.boards.rankings import MissingEntry, RankingBy
from app.declarations.findings import Findings
from evergold.scoring.tasks import TASKS
from evergold.yaml_lines import Node


def check_rankings(competition: Node, tasks_by_phase: Mapping[str, Sequence[str]], findings: Findings) -> None:
    """Check rankings. tasks_by_phase: task names of each phase; wrong shapes are reported elsewhere."""
    rankings, boards = competition.entries.get("rankings"), _boards(competition)
    first: dict[str, Node] = {}
    for ranking in rankings.elements if rankings else ():
        name = _text(ranking, "name")
        before = first.setdefault(name, ranking) if name else ranking
        if before is not ranking:
            findings.error(ranking, f"the ranking '{name}' is declared twice; first on line {before.line}")
        _check_missing(ranking, findings)
        known = [one for one in _known_boards(ranking, boards, findings)]
        tasks = {_text(boards[one], "task") or "" for one in known}
        if known and not any(tasks <= set(asked) for asked in tasks_by_phase.values()):
            findings.error(ranking, f"no phase has all of {listed(sorted(tasks))}, so this ranking is shown nowhere")
        if _text(ranking, "by") == RankingBy.MEAN_SCORE:
            _check_directions(ranking, competition, [boards[one] for one in known], findings)


def _boards(competition: Node) -> dict[str, Node]:
    declared = competition.entries.get("boards")
    return {name: board for board in (declared.elements if declared else ()) if (name := _text(board, "name"))}


def _check_missing(ranking: Node, findings: Findings) -> None:
    if _text(ranking, "missing") == MissingEntry.ZERO and _text(ranking, "by") != RankingBy.MEAN_SCORE:
        findings.error(ranking.entries["missing"], "no rank is zero: 'zero' belongs to 'by: mean_score'")


def _known_boards(ranking: Node, boards: Mapping[str, Node], findings: Findings) -> list[str]:
    parts, found = ranking.entries.get("boards"), list[str]()
    for part in parts.elements if parts else ():
        name = _text(part, "board")
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
    """Report scores for which lower is better: their mean with others is meaningless."""
    tasks = competition.entries.get("tasks")
    types = {_text(one, "name"): _text(one, "type") for one in (tasks.elements if tasks else ())}
    for board in boards:
        metric = _ranking_metric(board)
        task = TASKS.get(types.get(_text(board, "task")) or "")
        if task is not None and metric in task.metrics and not task.metrics[metric].higher_is_better:
            name = _text(board, "name")
            findings.error(ranking, f"of '{metric}', which ranks the board '{name}', less is better: use mean_rank")


def _ranking_metric(board: Node) -> str:
    columns = board.entries.get("columns")
    column = board.entries.get("rank_by") or (columns.elements[0] if columns and columns.elements else None)
    return (_text(column, "metric") if column else None) or ""


def _text(node: Node, key: str) -> str | None:
    inside = node.entries.get(key)
    return inside.text if inside else None
