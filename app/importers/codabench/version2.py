"""Bundles of Codabench's version 2: tasks, phases, a board for all of them, fact sheet, solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.importers.bundles.notes import Fate, Keys, text_of
from app.importers.bundles.plan import (
    Given,
    Metric,
    Page,
    Part,
    Phase,
    Plan,
    Sample,
    Task,
    name_of,
    one_line,
)
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

#: submission_rule as an entry rule, with what differs.
_RULES: Mapping[str, tuple[str, str]] = {
    "add": ("chosen", "teams choose one; for those that do not, the last counts"),
    "add_and_delete": ("chosen", "teams choose one, and can choose another; for those that do not, the last counts"),
    "add_and_delete_multiple": ("all", "all submissions are shown on the board; on Codabench teams choose several"),
    "force_last": ("last", "the last submission of a team"),
    "force_latest_multiple": ("all", "all submissions are shown on the board"),
    "force_best": ("best", "the best submission of a team"),
}
_COMPUTATIONS = {"sum": "sum_of", "avg": "mean_of", "min": "min_of", "max": "max_of"}
_QUESTIONS_MOST, _CHOICE_CHARACTERS, _QUESTION_CHARACTERS = 20, 80, 60


@dataclass(frozen=True, slots=True)
class _Task:
    """A task as read: its declaration, its data, and whether uploads would be code."""

    task: Task
    gold: Path | None
    runs_code: bool
    offered: tuple[Given, ...]


def read_version2(reading: Reading, *, takes_results: bool) -> Plan:
    """Return the plan of the competition; problems, questions and notes are collected in `reading`.

    takes_results: whether tasks that run code of teams accept results instead of being closed.
    """
    root = reading.root
    title = one_line(root.text("title", "title"), 200, "")
    if not title:
        reading.notes.refuse("no-title", "there is no title", root.node)
    image = root.text("docker_image", "the environment of the scoring programs")
    boards = _boards(reading)
    tasks = _tasks(reading, boards, image, takes_results)
    terms = reading.page(root, "terms", "Terms", "`registration.terms`: everybody accepts them first")
    _note_settings(root)
    approves = root.flag("registration_auto_approve", "`registration.mode`", False)
    plan = Plan(
        name=name_of(title, otherwise="competition"),
        title=title,
        summary=one_line(root.text("description", DESCRIPTION), 500, ""),
        pages=_pages(reading),
        terms=reading.terms(terms, root, "terms"),
        mode="confirmed" if approves else "approval",
        contact=one_line(root.text("contact_email", "`contact`"), 320, ""),
        questions=_questions(reading),
        tasks=tuple(one.task for one in tasks.values()),
        phases=_phases(reading, tasks, _entry(reading), _samples(reading, tasks)),
        image=logo_of(reading),
    )
    if not plan.tasks:
        reading.notes.refuse(
            "no-task", "no task has a scoring program in the bundle: nothing could be scored", root.node
        )
    return plan


def _note_settings(root: Keys) -> None:
    root.ignore(IGNORED)
    root.take("version", "the version of the bundle")


def _pages(reading: Reading) -> tuple[Page, ...]:
    root = reading.root
    pages = long_description(root)
    if reward := root.text("reward", "a paragraph of `description`"):
        pages.append(Page("Reward", reward))
    for keys in root.items("pages"):
        title = one_line(keys.text("title", "a heading in `description`"), 200, "Page")
        page = reading.page(keys, "file", title, "a section of `description`, or a download where that is full")
        pages += [page] if page else []
    return tuple(pages)


# --------------------------------------------------------------------------------------------------------------- boards


def _boards(reading: Reading) -> Columns:
    root, notes = reading.root, reading.notes
    listed = root.items("leaderboards") or root.items("leaderboard")
    if not listed:
        notes.refuse("no-board", "there are no leaderboards: nothing would be shown", root.node)
    columns = Columns()
    for place, keys in enumerate(listed):
        title = one_line(keys.text("title", "title of a board"), 200, "Results")
        name = one_line(keys.text("key", "name of the board in addresses"), 60, title)
        if place:
            keys.note("title", Fate.ASSUMED, "another board: there only the first one is used, here all are")
        found = sorted(keys.items("columns"), key=lambda one: one.whole("index", "order of columns", 0) or 0)
        if not found:
            notes.refuse("no-column", f"{keys.path} has no columns", keys.node)
        indexes = {one.whole("index", "order of columns", place): one for place, one in enumerate(found)}
        for one in sorted(found, key=lambda one: one.has("computation")):
            if one.has("computation"):
                _computed(one, columns, indexes)
            else:
                _column(one, columns)
        order = [columns.by_path[one.path] for one in found if one.path in columns.by_path]
        columns.add_board(keys, name, title, order)
    return columns


def _column(keys: Keys, columns: Columns) -> None:
    key = keys.text("key", "`key` of a metric: what the program writes")
    if not key:
        keys.notes.refuse("no-key", f"{keys.path} has no key", keys.node)
        return
    columns.add(keys, key, _shape(keys, key))


def _shape(keys: Keys, key: str) -> Metric:
    title = one_line(keys.text("title", "title of a column"), 60, key)
    decimals = keys.whole("precision", "`decimals`", 2)
    better = better_of(keys, "sorting")
    return Metric("", key, title, better, min(max(decimals if decimals is not None else 2, 0), 10))


def _computed(keys: Keys, columns: Columns, indexes: Mapping[int | None, Keys]) -> None:
    """Declare a column computed from others; add a note if that is impossible."""
    kind = keys.text("computation", "a metric made of others").strip().lower()
    key = keys.text("key", "name of a metric made of others")
    shape = _shape(keys, key or "computed")
    listed = keys.take("computation_indexes", "the metrics that it combines")
    wanted = [text_of(one).strip() for one in listed.elements] if listed is not None else []
    if listed is not None and not listed.elements:
        wanted = [one.strip() for one in text_of(listed).split(",") if one.strip()]
    parts = [
        columns.by_path[indexes[int(one)].path]
        for one in wanted
        if one.isdigit() and int(one) in indexes and indexes[int(one)].path in columns.by_path
    ]
    rule = _COMPUTATIONS.get(kind)
    if rule is None or not parts or len(parts) != len(wanted):
        why = (
            "an average of ranks is not a metric; declare `rankings` over boards instead"
            if "rank" in kind
            else (f"'{kind[:40]}' of {', '.join(wanted) or 'no columns'} cannot be computed")
        )
        keys.note("computation", Fate.OPEN, f"the column is left out: {why}")
        leave_out(keys)
        return
    columns.add(keys, key or shape.title, replace(shape, rule=rule, made_of=tuple(parts)))


# ---------------------------------------------------------------------------------------------------------------- tasks


def _tasks(reading: Reading, boards: Columns, image: str, takes_results: bool) -> dict[str, _Task]:
    root, notes = reading.root, reading.notes
    listed = root.items("tasks")
    if not listed:
        notes.refuse("no-task", "there are no tasks", root.node)
    details = root.flag("enable_detailed_results", "`shown.details`: teams see the program's page, cleaned", False)
    panel = root.flag("show_detailed_results_in_submission_panel", "`shown.details`", True)
    offers_programs = root.flag("make_programs_available", "downloads of the scoring program", False)
    offers_input = root.flag("make_input_data_available", "downloads of the input data", False)
    note_unranked(boards, notes)
    tasks: dict[str, _Task] = {}
    for keys in listed:
        index = keys.text("index", "number inside the bundle; Evergold uses names instead")
        if not index:
            notes.refuse("no-index", f"{keys.path} has no index", keys.node)
        elif index in tasks:
            notes.refuse(
                "index-twice", f"{keys.path}: another task has the index {index[:20]}", keys.node.entries["index"]
            )
        if keys.has("key"):
            keys.note(
                "key", Fate.OPEN, "a task on the original server, whose files are not in the bundle: it is left out"
            )
            continue
        name = one_line(keys.text("name", "title of a task"), 200, f"Task {len(tasks) + 1}")
        used = [one.task.name for one in tasks.values()]
        found = reading.file(keys, "scoring_program", "`program`, a folder in `programs/`")
        gold = gold_of(reading, keys)
        data = reading.file(
            keys, "input_data", "not needed for scoring results" + ("; a download" if offers_input else "")
        )
        runs_code = _runs_code(keys, takes_results)
        if found is None:
            if not keys.has("scoring_program"):
                keys.note("scoring_program", Fate.OPEN, "no scoring program: the task is left out")
            continue
        program = program_of(reading, keys, found, image)
        offered = [Given("input_data.zip", "Input data", data)] if offers_input and data is not None else []
        offered += [Given("scoring_program.zip", "Scoring program", found)] if offers_programs else []
        description = keys.text("description", "`description` of a task")
        if runs_code and not takes_results:
            description = f"{description}\n\n{RUNS_CODE}.".strip()
        task_name = name_of(name, used)
        tasks[index] = _Task(
            Task(
                name=task_name,
                title=name,
                program=program,
                metrics=boards.metrics,
                boards=visible_boards(boards, task_name, name, is_only=len(listed) == 1),
                description=description,
                details=details and panel,
            ),
            gold,
            runs_code and not takes_results,
            tuple(offered),
        )
    return tasks


def _runs_code(keys: Keys, takes_results: bool) -> bool:
    keys.flag("ingestion_only_during_scoring", "nothing: no program runs code of teams", False, Fate.NONE)
    if not keys.has("ingestion_program"):
        if "ingestion_program" in keys.node.entries:
            keys.take("ingestion_program", "")
        return False
    if takes_results:
        keys.note("ingestion_program", Fate.ASSUMED, "left out as you chose: this task takes results")
    else:
        keys.note("ingestion_program", Fate.OPEN, f"{RUNS_CODE}; {OPENED_BY}")
    return True


# --------------------------------------------------------------------------------------------------------------- phases


def _entry(reading: Reading) -> str:
    boards = reading.root.items("leaderboards") or reading.root.items("leaderboard")
    if not boards:
        return "chosen"
    written = boards[0].text("submission_rule", "`entry` of the phases").strip()
    entry, words = _RULES.get(written.lower().replace(" ", "_") or "add", ("chosen", ""))
    if written and not words:
        boards[0].note("submission_rule", Fate.OPEN, f"'{written[:40]}' is not known: `entry: chosen` is used instead")
    else:
        boards[0].note("submission_rule", Fate.BECAME, f"`entry: {entry}`: {words}")
    for other in boards[1:]:
        other.text("submission_rule", "phases have one rule, that of the first board")
    return entry


def _phases(
    reading: Reading, tasks: Mapping[str, _Task], entry: str, samples: Mapping[str, tuple[Sample, ...]]
) -> tuple[Phase, ...]:
    root = reading.root
    listed = sorted(root.items("phases"), key=lambda one: one.whole("index", "order of phases", 0) or 0)
    if not listed:
        reading.notes.refuse("no-phase", "there are no phases", root.node)
    phases: list[Phase] = []
    for place, keys in enumerate(listed):
        title = one_line(keys.text("name", "title of a phase"), 200, f"Phase {place + 1}")
        start = reading.moment(keys, "start", "`start`")
        end = reading.moment(keys, "end", "`end`")
        if not keys.has("start"):
            reading.notes.refuse("no-start", f"{keys.path} has no start", keys.node)
        if start and end and end <= start:
            reading.notes.refuse("ends-first", f"{keys.path} ends before it starts", keys.node.entries["end"])
        migrates = keys.flag("auto_migrate_to_this_phase", "`carry_over`", False)
        if migrates and phases:
            words = "`carry_over`: entries of the previous phase are also shown; nothing is uploaded or scored again"
            keys.note("auto_migrate_to_this_phase", Fate.ASSUMED, words)
        limit = keys.whole("execution_time_limit", "`limits.seconds` of a run", 600) or 600
        parts = _parts(reading, keys, tasks, samples, limit)
        if not parts:
            keys.note("name", Fate.OPEN, "the phase is left out: none of its tasks can be scored")
            continue
        if start is None:
            continue
        phases.append(
            Phase(
                name=name_of(title, [one.name for one in phases], "phase"),
                title=title,
                description=keys.text("description", "`description` of a phase"),
                start=start,
                end=end,
                entry=entry,
                limits=limits_of(keys, "max_submissions_per_day", "max_submissions"),
                visibility=visibility_of(keys, has_end=end is not None),
                carry_over=phases[-1].name if migrates and phases else "",
                parts=parts,
            )
        )
    return tuple(phases)


def _parts(
    reading: Reading,
    keys: Keys,
    tasks: Mapping[str, _Task],
    samples: Mapping[str, tuple[Sample, ...]],
    seconds: int,
) -> tuple[Part, ...]:
    listed = keys.take("tasks", "`tasks` of a phase")
    if listed is None or not listed.elements:
        reading.notes.refuse("no-task", f"{keys.path} has no list of tasks", keys.node)
        return ()
    known = {text_of(one.node.entries["index"]) for one in reading.root.items("tasks") if one.has("index")}
    given = given_files(reading, keys)
    parts: list[Part] = []
    for node in listed.elements:
        index = text_of(node).strip()
        if index not in known:
            reading.notes.refuse("no-such-task", f"{keys.at('tasks')}: no task has the index '{index[:20]}'", node)
        if index not in tasks or any(one.task == tasks[index].task.name for one in parts):
            continue
        one = tasks[index]
        parts.append(
            Part(
                one.task.name,
                one.gold,
                one.runs_code,
                seconds,
                downloads=(*(given if not parts else ()), *one.offered),
                samples=() if one.runs_code else samples.get(index, ()),
            )
        )
    return tuple(parts)


def _samples(reading: Reading, tasks: Mapping[str, _Task]) -> dict[str, tuple[Sample, ...]]:
    """Return the solutions that are results, by index of their task."""
    found: dict[str, tuple[Sample, ...]] = {}
    for number, keys in enumerate(reading.root.items("solutions"), 1):
        keys.text("index", "its place in the bundle")
        name = one_line(keys.text("name", "name of a baseline"), 60, f"Solution {number}")
        keys.text("description", "nothing: a baseline has a name")
        if keys.has("key"):
            keys.note(
                "key",
                Fate.OPEN,
                "a data set on the original server that is not in the bundle: download it there and add it",
            )
        place = reading.file(keys, "path", "a baseline")
        listed = keys.take("tasks", "tasks that have this baseline")
        if place is None or listed is None:
            continue
        if reading.is_code(place):
            keys.note("path", Fate.NONE, "this is code: baselines are results")
            continue
        for node in listed.elements:
            index = text_of(node).strip()
            found[index] = (*found.get(index, ()), Sample(name, place))
    return found


def _questions(reading: Reading) -> tuple[Mapping[str, Any], ...]:
    """Return the questions of the fact sheet as questions of method cards."""
    questions: list[dict[str, Any]] = []
    for place, (key, keys) in enumerate(reading.root.named("fact_sheet")):
        keys.text("key", "name of a question on method cards")
        title = one_line(keys.text("title", "title of a question"), 1_000, key)
        kind = keys.text("type", "kind of an answer").strip().lower() or "text"
        listed = keys.take("selection", "choices")
        choices = [text_of(one).strip() for one in listed.elements] if listed is not None else []
        choices = [one_line(one, _CHOICE_CHARACTERS, "") for one in dict.fromkeys(choices) if one]
        field: dict[str, Any] = {
            "name": name_of(key, [one["name"] for one in questions], "question"),
            "title": one_line(title, _QUESTION_CHARACTERS, key),
        }
        if len(title) > _QUESTION_CHARACTERS:
            field["help"] = title[:300]
        if kind == "checkbox" or (kind == "select" and {one.lower() for one in choices} == {"true", "false"}):
            field["kind"] = "yes_no"
        elif kind == "select" and choices:
            field |= {"kind": "choice", "choices": choices[:50]}
        elif kind not in ("text", "select"):
            keys.note("type", Fate.OPEN, f"'{kind[:40]}' is not known: the question takes a text")
        if keys.flag("is_required", "`required`", False):
            field["required"] = True
        if keys.flag("is_on_leaderboard", "`on_board`", False):
            field["on_board"] = True
        if place >= _QUESTIONS_MOST:
            keys.note("title", Fate.OPEN, f"method cards have at most {_QUESTIONS_MOST} questions: left out")
        else:
            questions.append(field)
    return tuple(questions)
