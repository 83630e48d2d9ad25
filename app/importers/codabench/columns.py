"""Columns of leaderboards as metrics and boards: one metric per key; hidden columns are declared but not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.importers.bundles.notes import Fate, Keys, Notes
from app.importers.bundles.plan import Board, Metric, metric_name, name_of, one_line


@dataclass(frozen=True, slots=True)
class _Listed:
    """A board as read. order: names of its metrics; hidden: hidden ones among them; key: path and line of its key."""

    name: str
    title: str
    order: tuple[str, ...]
    hidden: frozenset[str]
    key: tuple[str, int]


@dataclass(slots=True)
class Columns:
    """Metrics and boards of a bundle, before its tasks are read.

    - by_path: metric by the path of its column; titles: of columns, by board and metric.
    """

    by_path: dict[str, str] = field(default_factory=dict)
    is_hidden: dict[str, bool] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    boards: list[_Listed] = field(default_factory=list)
    _metrics: dict[str, Metric] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics; those computed from others come last."""
        return tuple(sorted(self._metrics.values(), key=lambda one: bool(one.rule)))

    def add(self, keys: Keys, key: str, shape: Metric) -> str:
        """Declare the column's metric, unless one has the same key, and return its name."""
        hidden = keys.flag("hidden", "a hidden column: its metric is declared, and not shown", False)
        known = next((one.name for one in self._metrics.values() if one.key == key and one.rule == shape.rule), None)
        name = known or metric_name(key, self._metrics)
        if known is None:
            self._metrics[name] = replace(shape, name=name, key=key)
        self.by_path[keys.path] = name
        self.is_hidden[name] = hidden
        return name

    def add_board(self, keys: Keys, name: str, title: str, order: Sequence[str]) -> None:
        """Add a board of these metrics."""
        hidden = frozenset(one for one in order if self.is_hidden[one])
        self.boards.append(
            _Listed(name, title, tuple(dict.fromkeys(order)), hidden, (keys.at("columns"), keys.node.line))
        )

    def metric(self, name: str) -> Metric:
        """Return one metric."""
        return self._metrics[name]


def better_of(keys: Keys, key: str) -> str:
    """Return which values are better, `higher` or `lower`, according to the sort direction."""
    written = keys.text(key, "`better` of a metric").strip().lower()
    if written in ("", "desc", "descending"):
        return "higher"
    if written in ("asc", "ascending"):
        return "lower"
    keys.note(key, Fate.OPEN, f"'{written[:40]}' is neither asc nor desc: higher is taken to be better")
    return "higher"


def leave_out(keys: Keys, *others: str) -> None:
    """Note of a column's remaining keys that they have no counterpart, because the column is left out."""
    keys.ignore(dict.fromkeys(("hidden", *others), "of a column that is left out"))


def note_unranked(columns: Columns, notes: Notes) -> None:
    """Add a problem for each board without visible columns, and a note if the column that ranks a board is hidden."""
    for board in columns.boards:
        if board.order and not set(board.order) - board.hidden:
            notes.refuse("all-hidden", f"all columns of the board '{board.title}' are hidden: nothing would be shown")
        elif board.order and board.order[0] in board.hidden:
            words = (
                f"the hidden column `{board.order[0]}` ranks the board on Codabench; here the first visible column "
                "ranks it"
            )
            notes.add(Fate.OPEN, *board.key, words)


def visible_boards(columns: Columns, task: str, title: str, *, is_only: bool) -> tuple[Board, ...]:
    """Return the boards of a task; with several tasks, names and titles include the task's."""
    boards: list[Board] = []
    for listed in columns.boards:
        shown: Mapping[str, str] = {
            name: columns.metric(name).title for name in listed.order if name not in listed.hidden
        }
        if not shown:
            continue
        name = name_of(listed.name if is_only else f"{task[:30].strip('-')}-{listed.name}", otherwise="board")
        name = name_of(name, [one.name for one in boards], "board")
        boards.append(Board(name, listed.title if is_only else one_line(f"{listed.title}: {title}", 200, title), shown))
    return tuple(boards)
