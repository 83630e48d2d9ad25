"""Bundles of CodaLab's versions 1, 1.5 and 1.8: phases have their own data, boards are built from YAML anchors.

A phase has only a start there: it ends at the next *later* start. Phases that start together are parallel tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from app.importers.bundles.notes import Fate, Keys, text_of
from app.importers.bundles.plan import Metric, Page, Part, Phase, Plan, Program, Task, name_of, one_line
from app.importers.bundles.reading import OPENED_BY, RUNS_CODE, Reading
from app.importers.codabench.columns import Columns, better_of, leave_out, note_unranked, visible_boards
from app.importers.codabench.shared import (
    DESCRIPTION,
    IGNORED,
    given_files,
    gold_of,
    limits_of,
    logo_of,
    long_description,
    program_of,
    visibility_of,
)

_OPERATIONS = {
    "avg": "mean_of",
    "average": "mean_of",
    "mean": "mean_of",
    "sum": "sum_of",
    "min": "min_of",
    "max": "max_of",
}


@dataclass(frozen=True, slots=True)
class _ReadPhase:
    """A phase as read. program: None if it cannot be scored."""

    keys: Keys
    title: str
    start: datetime | None
    program: Program | None
    gold: Path | None
    is_closed: bool


def read_version1(reading: Reading, *, takes_results: bool) -> Plan:
    """Return the plan of the competition; problems, questions and notes are collected in `reading`.

    takes_results: whether phases that run code of teams accept results instead of being closed.
    """
    root, notes = reading.root, reading.notes
    title = one_line(root.text("title", "title"), 200, "")
    if not title:
        notes.refuse("no-title", "there is no title", root.node)
    image = root.text("competition_docker_image", "the environment of the scoring programs")
    columns = _columns(reading)
    note_unranked(columns, notes)
    _note_settings(root)
    read = [_read_phase(reading, keys, image, takes_results) for keys in _sorted_phases(reading)]
    pages, terms = _pages(reading)
    asks = root.flag("has_registration", "`registration.mode`: with it organisers approve", True)
    plan = Plan(
        name=name_of(title, otherwise="competition"),
        title=title,
        summary=one_line(root.text("description", DESCRIPTION), 500, ""),
        pages=pages,
        terms=terms,
        mode="approval" if asks else "confirmed",
        contact="",
        questions=(),
        tasks=_tasks(reading, read, columns),
        phases=_phases(reading, read),
        image=logo_of(reading),
    )
    if not plan.tasks:
        notes.refuse("no-task", "no phase has a scoring program in the bundle: nothing could be scored", root.node)
    return plan


def _note_settings(root: Keys) -> None:
    root.ignore(IGNORED)
    root.take("version", "the version of the bundle")
    root.take("start_date", "nothing: phases have their own dates", Fate.NONE)
    root.flag("show_detailed_results_in_submission_panel", "`shown.details`", True)
    if not root.flag("allow_teams", "nothing: teams of one or more are the rule here", True, Fate.NONE):
        root.note("allow_teams", Fate.ASSUMED, "false: declare `teams: {members_max: 1}` where people compete alone")


def _pages(reading: Reading) -> tuple[tuple[Page, ...], str]:
    root, pages, terms = reading.root, long_description(reading.root), ""
    html = root.node.entries.get("html")
    if html is None or not html.entries:
        reading.notes.refuse("no-pages", "there is no `html` with the pages", root.node)
        return (), ""
    keys = Keys(html, "html", reading.notes)
    for name in html.entries:
        if name.strip().lower() == "terms":
            found = reading.page(keys, name, "Terms", "`registration.terms`: everybody accepts them first")
            terms = reading.terms(found, keys, name)
            continue
        heading = one_line(name.replace("_", " ").strip().capitalize(), 200, "Page")
        page = reading.page(keys, name, heading, "a section of `description`, or a download where that is full")
        pages += [page] if page else []
    return tuple(pages), terms


# --------------------------------------------------------------------------------------------------------------- boards


def _columns(reading: Reading) -> Columns:
    root, notes, columns = reading.root, reading.notes, Columns()
    found = root.node.entries.get("leaderboard")
    if found is None or not found.entries:
        notes.refuse("no-board", "there is no `leaderboard` with columns", root.node)
        return columns
    keys = Keys(found, "leaderboard", notes)
    boards = sorted(keys.named("leaderboards"), key=lambda one: one[1].whole("rank", "order of boards", 1) or 1)
    listed = sorted(keys.named("columns"), key=lambda one: one[1].whole("rank", "order of columns", 1) or 1)
    if not boards or not listed:
        notes.refuse("no-board", "`leaderboard` has `leaderboards` and `columns`", found)
    for name, column in sorted(listed, key=lambda one: _is_computed(one[1])):
        if _is_computed(column):
            _computed(column, name, columns)
        else:
            columns.add(column, name, _shape(column, name))
    for place, (name, board) in enumerate(boards):
        label = one_line(board.text("label", "title of a board"), 200, name)
        if place:
            board.note("label", Fate.ASSUMED, "another board: Codabench drops it, here all are shown")
        order = [
            columns.by_path[column.path]
            for _, column in listed
            if column.path in columns.by_path and _board_of(column, boards) == board.path
        ]
        if not order:
            board.note("label", Fate.NONE, "the board has no columns and is left out")
        columns.add_board(board, name, label, order)
    return columns


def _board_of(column: Keys, boards: Sequence[tuple[str, Keys]]) -> str:
    """Return the path of the board with this column, which is named by an alias, its label, or its key."""
    found = column.take("leaderboard", "the board of a column")
    if found is None:
        return boards[0][1].path
    label = found.entries.get("label")
    wanted = (text_of(label) if label is not None else text_of(found)).strip().lower()
    for name, board in boards:
        own = board.node.entries.get("label")
        if wanted in (name.strip().lower(), text_of(own).strip().lower() if own is not None else ""):
            return board.path
    column.note("leaderboard", Fate.OPEN, f"no board is called '{wanted[:40]}': the column is on none")
    return ""


def _is_computed(column: Keys) -> bool:
    return column.has("computed")


def _shape(keys: Keys, key: str) -> Metric:
    title = one_line(keys.text("label", "title of a column"), 60, key)
    decimals = keys.whole("numeric_format", "`decimals`", 2)
    return Metric("", key, title, better_of(keys, "sort"), min(max(decimals if decimals is not None else 2, 0), 10))


def _computed(column: Keys, name: str, columns: Columns) -> None:
    shape = _shape(column, name)
    inside = Keys(column.node.entries["computed"], column.at("computed"), column.notes)
    operation = inside.text("operation", "a metric made of others").strip().lower()
    fields = inside.take("fields", "the metrics that it combines")
    wanted = [] if fields is None else [text_of(one).strip() for one in fields.elements]
    if fields is not None and not fields.elements:
        wanted = [one.strip() for one in text_of(fields).split(",") if one.strip()]
    parent = column.path.rpartition(f".{name}")[0]
    made_of = [columns.by_path[f"{parent}.{one}"] for one in wanted if f"{parent}.{one}" in columns.by_path]
    rule = _OPERATIONS.get(operation)
    if rule is None or not made_of or len(made_of) != len(wanted):
        what = f"'{operation[:40]}' of {', '.join(wanted)[:80] or 'no columns'}"
        inside.note("operation", Fate.OPEN, f"the column is left out: {what} cannot be computed")
        leave_out(column, "leaderboard")
        return
    column.note("computed", Fate.BECAME, f"`{rule}` of a metric; Codabench drops it")
    columns.add(column, name, replace(shape, rule=rule, made_of=tuple(made_of)))


# --------------------------------------------------------------------------------------------------------------- phases


def _sorted_phases(reading: Reading) -> list[Keys]:
    root = reading.root
    found = root.node.entries.get("phases")
    listed = root.items("phases") if found is not None and isinstance(found.value, list) else []
    listed = listed or [keys for _, keys in root.named("phases")]
    if not listed:
        reading.notes.refuse("no-phase", "there are no phases", root.node)
    return sorted(listed, key=lambda one: one.whole("phasenumber", "order of phases", 0) or 0)


def _read_phase(reading: Reading, keys: Keys, image: str, takes_results: bool) -> _ReadPhase:
    title = one_line(keys.text("label", "title of a phase"), 200, f"Phase {keys.path.rpartition('.')[2]}")
    start = reading.moment(keys, "start_date", "`start`")
    if not keys.has("start_date"):
        reading.notes.refuse("no-start", f"{keys.path} has no start_date", keys.node)
    found = reading.file(keys, "scoring_program", "`program`, a folder in `programs/`")
    gold = gold_of(reading, keys)
    if keys.has("input_data"):
        reading.file(keys, "input_data", "not needed for scoring results")
    if found is None and not keys.has("scoring_program"):
        keys.note("scoring_program", Fate.OPEN, "no scoring program: the phase is left out")
    program = None
    if found is not None:
        program = program_of(reading, keys, found, image)
    return _ReadPhase(keys, title, start, program, gold, _is_closed(keys, takes_results))


def _is_closed(keys: Keys, takes_results: bool) -> bool:
    """Return whether uploads are refused because they would be code."""
    keys.flag("ingestion_program_only_during_scoring", "nothing: no program runs code of teams", False, Fate.NONE)
    scores_only = keys.flag("is_scoring_only", "uploads are results", False)
    if not keys.has("ingestion_program"):
        if "ingestion_program" in keys.node.entries:
            keys.take("ingestion_program", "")
        return False
    if takes_results or scores_only:
        keys.note("ingestion_program", Fate.ASSUMED, "left out: this phase takes results")
        return False
    keys.note("ingestion_program", Fate.OPEN, f"{RUNS_CODE}; {OPENED_BY}")
    return True


def _tasks(reading: Reading, read: Sequence[_ReadPhase], columns: Columns) -> tuple[Task, ...]:
    """Return a task for each scoring program; its time limit is the longest of its phases."""
    root, tasks = reading.root, list[Task]()
    details = root.flag("enable_detailed_results", "`shown.details`: teams see the program's page, cleaned", False)
    programs = _programs(read)
    for program in programs:
        phases = [one for one in read if one.program is program]
        title = root.text("title", "title") if len(programs) == 1 else ", ".join(one.title for one in phases)
        title = one_line(title, 200, "Task")
        closed = all(one.is_closed for one in phases)
        tasks.append(
            Task(
                name=_task_name(program, programs),
                title=title,
                program=program,
                metrics=columns.metrics,
                boards=visible_boards(columns, _task_name(program, programs), title, is_only=len(programs) == 1),
                description=f"{RUNS_CODE}." if closed else "",
                details=details,
            )
        )
    return tuple(tasks)


def _programs(read: Sequence[_ReadPhase]) -> list[Program]:
    return list({one.program.place: one.program for one in read if one.program is not None}.values())


def _task_name(program: Program, programs: Sequence[Program]) -> str:
    return "main" if len(programs) == 1 else program.place.rpartition("/")[2]


def _phases(reading: Reading, read: Sequence[_ReadPhase]) -> tuple[Phase, ...]:
    last = _last_end(reading)
    starts = sorted({one.start for one in read if one.start is not None})
    phases: list[Phase] = []
    entry = _entry(reading)
    is_anonymous = reading.root.flag("anonymous_leaderboard", "`visibility.names_from: close`, if true", False)
    for one in read:
        keys, start = one.keys, one.start
        migrates = keys.flag("auto_migration", "`carry_over`", False)
        _note_parallel(keys)
        given = given_files(reading, keys)
        best = keys.flag("force_best_submission_to_leaderboard", "`entry: best`", False)
        limits = limits_of(keys, "max_submissions_per_day", "max_submissions")
        limit = keys.whole("execution_time_limit", "`limits.seconds` of a run", 600) or 600
        description = keys.text("description", "`description` of a phase")
        if start is None or one.program is None:
            continue
        never_ends = keys.flag("phase_never_ends", "no `end`", False)
        end = None if never_ends else next((moment for moment in starts if moment > start), last)
        if end is not None and end <= start:
            words = f"the competition's end comes before the begin of {keys.path}"
            reading.notes.refuse("ends-first", words, keys.node.entries["start_date"])
        if not never_ends:
            _note_end(keys, start, end, read)
        before = phases[-1] if migrates and phases else None
        visibility = visibility_of(keys, has_end=end is not None)
        if is_anonymous and end is not None:
            visibility["names_from"] = "close"
        phases.append(
            Phase(
                name=name_of(one.title, [phase.name for phase in phases], "phase"),
                title=one.title,
                description=description,
                start=start,
                end=end,
                entry="best" if best else entry,
                limits=limits,
                visibility=visibility,
                carry_over=before.name if before else "",
                parts=(
                    Part(
                        _task_name(one.program, _programs(read)),
                        one.gold,
                        one.is_closed,
                        limit,
                        downloads=given,
                    ),
                ),
            )
        )
    return tuple(phases)


def _last_end(reading: Reading) -> datetime | None:
    return reading.moment(reading.root, "end_date", "`end` of the phases that nothing follows")


def _note_end(keys: Keys, start: datetime, end: datetime | None, read: Sequence[_ReadPhase]) -> None:
    together = [one.title for one in read if one.start == start and one.keys.path != keys.path]
    if together:
        words = f"begins together with {', '.join(together)[:200]}: these phases are parallel"
        keys.note("start_date", Fate.ASSUMED, words)
    if end is None:
        keys.note("start_date", Fate.ASSUMED, "nothing follows: the phase has no end")


def _note_parallel(keys: Keys) -> None:
    if keys.flag("is_parallel_parent", "phases run side by side", False):
        words = "a parent of parallel phases: each of these has a board; no score is made of them together"
        keys.note("is_parallel_parent", Fate.ASSUMED, words)
    if keys.has("parent_phasenumber"):
        keys.take("parent_phasenumber", "phases run at the same time, each with its own board")
    if keys.flag("auto_migration", "`carry_over`", False):
        words = "`carry_over`: entries of the previous phase are also shown; nothing is uploaded or scored again"
        keys.note("auto_migration", Fate.ASSUMED, words)
    for key in ("color", "datasets"):
        if key in keys.node.entries:
            keys.note(key, Fate.NONE if key == "color" else Fate.OPEN, IGNORED[key])


def _entry(reading: Reading) -> str:
    root = reading.root
    forced = root.flag("force_submission_to_leaderboard", "`entry: last`", False)
    fixed = root.flag("disallow_leaderboard_modifying", "`entry`: teams do not choose", False)
    if forced or fixed:
        return "last"
    root.note("leaderboard", Fate.ASSUMED, "`entry: chosen`: teams choose one; for those that do not, the last counts")
    return "chosen"
