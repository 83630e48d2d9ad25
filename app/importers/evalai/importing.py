"""Converts a challenge of EvalAI to a competition's folder, with IMPORT.md next to the declaration.

A phase split in EvalAI (a phase, a leaderboard, a split of the data) becomes a board; phases with the same splits share
a task, so that each board has a score in each of its phases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.importers.bundles.archive import opened
from app.importers.bundles.environments import EVALAI
from app.importers.bundles.imported import Imported, Target, write_import
from app.importers.bundles.moments import Assumed
from app.importers.bundles.notes import Fate, Keys, text_of
from app.importers.bundles.plan import (
    Board,
    Metric,
    Page,
    Part,
    Phase,
    Plan,
    Program,
    Task,
    metric_name,
    name_of,
    one_line,
)
from app.importers.bundles.reading import Reading
from app.importers.codabench.shared import logo_of

MAIN_FILES = ("challenge_config.yaml", "challenge_config.yml")
_PAGES = {
    "evaluation_details": "Evaluation",
    "submission_guidelines": "Submission guidelines",
}
_IGNORED: Mapping[str, str] = {
    "remote_evaluation": "workers of this server score; challenges that are scored elsewhere cannot be moved",
    "is_docker_based": "Evergold takes files, never containers of teams",
    "tags": "competitions have no tags",
    "published": "a competition is published by its organisers",
    "domain": "competitions have no domains",
    "is_static_dataset_code_upload": "Evergold takes files, never code of teams",
    "challenge_id": "an ID on the original server",
    "aws_region": "workers of this server score",
    "queue": "workers of this server score",
}
_PHASE_IGNORED: Mapping[str, str] = {
    "is_public": "phases are as visible as their competition: publish it when the phase may be seen",
    "is_submission_public": "submissions stay private to their teams; boards are public",
    "allowed_email_ids": "a list of people holds for the whole competition: `registration.allowed`",
    "is_partial_submission_evaluation_enabled": "a submission is scored whole",
    "disable_logs": "logs are for organisers, unless `shown` says otherwise",
    "default_submission_meta_attributes": "every submission has a method card",
    "is_submission_public_by_default": "submissions stay private to their teams",
    "max_concurrent_submissions_allowed": "submissions wait in turn, without such a limit",
    "environment_image": "no code of teams is run",
    "annotations_uploaded_using_cli": "gold is uploaded with `evergold gold put`",
}
_SUFFIX = re.compile(r"\.?([a-z0-9]{1,12}(?:\.[a-z0-9]{1,12})?)", re.IGNORECASE)
_HIDDEN, _OWN, _PUBLIC = 1, 2, 3


@dataclass(frozen=True, slots=True)
class _Leaderboard:
    """A leaderboard. labels: in order; ascending: those for which lower is better; rank_by: the one that ranks."""

    title: str
    labels: tuple[str, ...]
    ascending: frozenset[str]
    rank_by: str
    path: str


@dataclass(frozen=True, slots=True)
class _Split:
    """A phase split. board, data: ids of the leaderboard and of the split of the data; visibility: who sees it."""

    keys: Keys
    phase: str
    board: str
    data: str
    visibility: int
    decimals: int
    is_descending: bool


def import_evalai(challenge: Path, target: Target, assumed: Assumed) -> Imported:
    """Write the competition and its gold, and return the import.

    Raises InvalidBundle with all problems, Unanswered with all questions, OSError.
    """
    with opened(challenge, MAIN_FILES, target.size_bytes) as found:
        # EvalAI's own documentation has dates in UTC.
        reading = Reading(found, Assumed(assumed.zone or UTC, assumed.order))
        plan = _plan(reading)
        reading.finish()
        return write_import(reading, plan, target, challenge, "a challenge of EvalAI")


def score_key(split: str, label: str) -> str:
    """Return the key of a label of a split in the result that workers get from an EvalAI package."""
    return f"{split}/{label}"


def _plan(reading: Reading) -> Plan:
    root, notes = reading.root, reading.notes
    title = one_line(root.text("title", "title"), 200, "")
    if not title:
        notes.refuse("no-title", "there is no title", root.node)
    root.ignore(_IGNORED)
    for key in ("start_date", "end_date"):
        if root.has(key):
            reading.moment(root, key, "nothing: phases have their own dates")
    boards, data = _leaderboards(reading), _data_splits(reading)
    splits = _splits(reading, boards, data)
    program = _program(reading)
    phases = root.items("challenge_phases")
    if not phases:
        notes.refuse("no-phase", "there are no challenge_phases", root.node)
    groups = _groups(phases, splits)
    tasks = [] if program is None else _tasks(groups, phases, program, (boards, data, splits))
    terms = reading.page(root, "terms_and_conditions", "Terms", "`registration.terms`: everybody accepts them first")
    return Plan(
        name=name_of(title, otherwise="challenge"),
        title=title,
        summary=one_line(root.text("short_description", "`summary`"), 500, ""),
        pages=_pages(reading),
        terms=reading.terms(terms, root, "terms_and_conditions"),
        mode="confirmed",
        contact="",
        questions=_questions(phases),
        tasks=tuple(tasks),
        phases=_phases(reading, phases, groups, splits),
        image=logo_of(reading),
    )


def _program(reading: Reading) -> Program | None:
    root = reading.root
    found = reading.file(root, "evaluation_script", "`program`, a folder in `programs/`")
    if found is None:
        reading.notes.refuse("no-program", "there is no evaluation_script: nothing could be scored", root.node)
        return None
    key = ("evaluation_script", root.line("evaluation_script"))
    return reading.program(found, key, EVALAI, "evalai")


def _pages(reading: Reading) -> tuple[Page, ...]:
    root = reading.root
    pages = [reading.page(root, "description", "", "the begin of `description`")]
    pages += [
        reading.page(root, key, title, "a section of `description`, or a download where that is full")
        for key, title in _PAGES.items()
    ]
    return tuple(page for page in pages if page is not None)


# --------------------------------------------------------------------------------------------------------------- boards


def _leaderboards(reading: Reading) -> dict[str, _Leaderboard]:
    found: dict[str, _Leaderboard] = {}
    for keys in reading.root.items("leaderboard"):
        number = keys.text("id", "number inside the file; Evergold uses names instead")
        node = keys.node.entries.get("schema")
        if node is None or not node.entries:
            reading.notes.refuse("no-schema", f"{keys.path} has no schema with labels", keys.node)
            continue
        schema = Keys(node, keys.at("schema"), reading.notes)
        listed = schema.take("labels", "metrics of each split")
        labels = tuple(dict.fromkeys(text_of(one).strip() for one in (listed.elements if listed is not None else ())))
        labels = tuple(label for label in labels if label)
        if not labels:
            reading.notes.refuse("no-schema", f"{schema.path} has no labels", node)
        ascending, rank_by = set(), schema.text("default_order_by", "`rank_by`").strip()
        for label, meta in schema.named("metadata"):
            if meta.flag("sort_ascending", "`better`", False):
                ascending.add(label)
            meta.text("description", "nothing: metrics have titles")
        if rank_by and rank_by not in labels:
            schema.note(
                "default_order_by", Fate.OPEN, f"'{rank_by[:40]}' is not one of the labels: the first one ranks"
            )
            rank_by = ""
        found[number] = _Leaderboard("", labels, frozenset(ascending), rank_by, keys.path)
    if not found:
        reading.notes.refuse("no-board", "there is no leaderboard", reading.root.node)
    return found


def _data_splits(reading: Reading) -> dict[str, tuple[str, str]]:
    """Return name and codename of each split of the data, by id."""
    found = {}
    for keys in reading.root.items("dataset_splits"):
        number = keys.text("id", "number inside the file; Evergold uses names instead")
        codename = keys.text("codename", "key under which the program reports the split")
        found[number] = (one_line(keys.text("name", "title of a split"), 60, codename), codename or number)
    return found


def _splits(reading: Reading, boards: Mapping[str, _Leaderboard], data: Mapping[str, tuple[str, str]]) -> list[_Split]:
    phases = {
        text_of(one.node.entries["id"]).strip() for one in reading.root.items("challenge_phases") if one.has("id")
    }
    found = []
    for keys in reading.root.items("challenge_phase_splits"):
        phase = keys.text("challenge_phase_id", "the phase of a board").strip()
        board = keys.text("leaderboard_id", "the columns of a board").strip()
        split = keys.text("dataset_split_id", "the split that a board shows").strip()
        for key, number, known in (
            ("challenge_phase_id", phase, phases),
            ("leaderboard_id", board, boards),
            ("dataset_split_id", split, data),
        ):
            if number not in known:
                node = keys.node.entries.get(key, keys.node)
                reading.notes.refuse("no-such-id", f"{keys.at(key)}: there is no '{number[:20]}'", node)
        visibility = keys.whole("visibility", "`visibility` of the phase", _PUBLIC)
        decimals = keys.whole("leaderboard_decimal_precision", "`decimals`", 2)
        descending = keys.flag("is_leaderboard_order_descending", "`better` of the score that ranks", True)
        keys.flag("show_leaderboard_by_latest_submission", "`entry: last`", False)
        keys.flag("show_execution_time", "nothing: boards show scores", False, Fate.NONE)
        found.append(
            _Split(keys, phase, board, split, visibility or _PUBLIC, min(max(decimals or 0, 0), 10), descending)
        )
    if not found:
        reading.notes.refuse("no-split", "there are no challenge_phase_splits: no board would exist", reading.root.node)
    return found


# ---------------------------------------------------------------------------------------------------------------- tasks

#: Phases by leaderboards and splits; phases with the same ones share a task.
_Groups = dict[tuple[tuple[str, str], ...], list[str]]


def _groups(phases: Sequence[Keys], splits: Sequence[_Split]) -> _Groups:
    groups: _Groups = {}
    for keys in phases:
        number = keys.text("id", "number inside the file; Evergold uses names instead").strip()
        own = tuple(sorted({(one.board, one.data) for one in splits if one.phase == number}))
        groups.setdefault(own, []).append(number)
    return groups


def _task_name(groups: _Groups, number: str) -> str:
    place = next(place for place, phases in enumerate(groups.values(), 1) if number in phases)
    return "main" if len(groups) == 1 else f"task-{place}"


def _tasks(
    groups: _Groups,
    phases: Sequence[Keys],
    program: Program,
    read: tuple[Mapping[str, _Leaderboard], Mapping[str, tuple[str, str]], Sequence[_Split]],
) -> list[Task]:
    boards, data, splits = read
    tasks = []
    for pairs, numbers in groups.items():
        members = [one for one in phases if text_of(one.node.entries["id"]).strip() in numbers]
        titles = [one_line(text_of(one.node.entries["name"]), 200, "Phase") for one in members if one.has("name")]
        metrics: dict[str, Metric] = {}
        shown: list[Board] = []
        name = _task_name(groups, numbers[0])
        for number, split in pairs:
            if number not in boards or split not in data:
                continue
            own = next(one for one in splits if (one.board, one.data) == (number, split) and one.phase in numbers)
            prefix, taken = name if len(groups) > 1 else "", [one.name for one in shown]
            shown.append(_board(boards[number], data[split], own, metrics, (prefix, taken)))
        if shown:
            title = titles[0] if len(titles) == 1 else one_line(", ".join(titles), 200, "Task")
            rules = _file_rules(members)
            tasks.append(Task(name, title, program, tuple(metrics.values()), tuple(shown), files=rules))
    return tasks


def _board(
    board: _Leaderboard,
    data: tuple[str, str],
    split: _Split,
    metrics: dict[str, Metric],
    naming: tuple[str, Sequence[str]],
) -> Board:
    """Return the board of a phase split, and add its metrics to those of the task.

    naming: the prefix for names of this task's boards, and the names used so far.
    """
    (title, codename), (prefix, taken) = data, naming
    columns = {}
    rank_by = board.rank_by or board.labels[0]
    for label in board.labels:
        is_small = label in board.ascending or (label == rank_by and not split.is_descending)
        key = score_key(codename, label)
        known = next((one.name for one in metrics.values() if one.key == key), None)
        name = known or metric_name(key, metrics)
        better = "lower" if is_small else "higher"
        metrics.setdefault(name, Metric(name, key, one_line(label, 60, key), better, split.decimals))
        columns[name] = one_line(label, 60, key)
    ranks = next(one.name for one in metrics.values() if one.key == score_key(codename, rank_by))
    named = name_of(f"{prefix}-{codename}" if prefix else codename, taken, "board")
    return Board(named, one_line(title, 200, codename), columns, ranks)


def _file_rules(phases: Sequence[Keys]) -> Mapping[str, Any]:
    """Return the file patterns that all phases of a task accept, in the format of options."""
    suffixes: list[str] = []
    for keys in phases:
        written = keys.text("allowed_submission_file_types", "`files.allowed`")
        suffixes += [match[1].lower() for match in _SUFFIX.finditer(written.replace(",", " "))]
    plain = list(dict.fromkeys(one for one in suffixes if one not in ("zip", "tar.gz", "tar", "gz")))
    return {"allowed": [f"*.{one}" for one in plain]} if plain and "zip" not in suffixes else {}


# --------------------------------------------------------------------------------------------------------------- phases


def _phases(reading: Reading, listed: Sequence[Keys], groups: _Groups, splits: Sequence[_Split]) -> tuple[Phase, ...]:
    phases: list[Phase] = []
    for place, keys in enumerate(listed):
        number = keys.text("id", "number inside the file; Evergold uses names instead").strip()
        title = one_line(keys.text("name", "title of a phase"), 200, f"Phase {place + 1}")
        page = reading.page(keys, "description", "", "`description` of a phase")
        start, end = (
            reading.moment(keys, key, f"`{new}`") for key, new in (("start_date", "start"), ("end_date", "end"))
        )
        if not keys.has("start_date"):
            reading.notes.refuse("no-start", f"{keys.path} has no start_date", keys.node)
        if start and end and end <= start:
            reading.notes.refuse("ends-first", f"{keys.path} ends before it starts", keys.node.entries["end_date"])
        codename = keys.text("codename", "`options.phase`: what the program gets as phase_codename")
        gold = reading.file(keys, "test_annotation_file", "gold, apart from the competition's folder")
        if not keys.has("test_annotation_file"):
            keys.note(
                "test_annotation_file", Fate.OPEN, "the file has no gold: uploads are refused until gold is uploaded"
            )
        _note_settings(keys)
        own = [one for one in splits if one.phase == number]
        entry, visibility = _entry(keys, own), _visibility(keys, own, end)
        limits = _limits(keys)
        if start is None or not own:
            if not own:
                keys.note("id", Fate.OPEN, "the phase is left out: no challenge_phase_split shows it")
            continue
        part = Part(_task_name(groups, number), gold, options={"phase": codename} if codename else {})
        name = name_of(codename or title, [one.name for one in phases], "phase")
        text = page.text if page is not None else ""
        phases.append(Phase(name, title, text, start, end, entry, limits, visibility, "", (part,)))
    return tuple(phases)


def _note_settings(keys: Keys) -> None:
    for key, words in _PHASE_IGNORED.items():
        if keys.has(key):
            fate = Fate.OPEN if key == "allowed_email_ids" and keys.node.entries[key].elements else Fate.NONE
            keys.note(key, fate, words)
        elif key in keys.node.entries:
            keys.take(key, "")


def _entry(keys: Keys, splits: Sequence[_Split]) -> str:
    selects = keys.flag("is_restricted_to_select_one_submission", "`entry: chosen`", False)
    latest = any(one.keys.flag("show_leaderboard_by_latest_submission", "`entry: last`", False) for one in splits)
    return "chosen" if selects else "last" if latest else "best"


def _visibility(keys: Keys, splits: Sequence[_Split], end: datetime | None) -> dict[str, Any]:
    """Return the visibility of a phase, which is that of its strictest split."""
    is_public = keys.flag("leaderboard_public", "`visibility.board`", True)
    levels = {one.visibility for one in splits}
    strictest = min(levels, default=_PUBLIC)
    if len(levels) > 1:
        for one in splits:
            words = "a phase has one visibility for all its boards: the strictest of its splits holds"
            one.keys.note("visibility", Fate.OPEN if one.visibility != strictest else Fate.BECAME, words)
    if strictest == _HIDDEN:
        return {"board": "hidden", "own_scores": "after_close" if end is not None else "never"}
    return {"board": "hidden"} if strictest == _OWN or not is_public else {}


def _limits(keys: Keys) -> dict[str, int]:
    """Return the limits of a phase, each at most as large as the next one."""
    found = {
        "per_day": keys.whole("max_submissions_per_day", "`limits.per_day`", None),
        "per_month": keys.whole("max_submissions_per_month", "`limits.per_month`", None),
        "total": keys.whole("max_submissions", "`limits.total`", None),
    }
    limits = {name: value for name, value in found.items() if value is not None and 0 < value < 2**31}
    most = 2**31 - 1
    for name in ("total", "per_month", "per_day"):
        if name in limits and limits[name] > most:
            keys.note(f"max_submissions_{name}", Fate.ASSUMED, f"more than a wider limit: {most}")
            limits[name] = most
        most = min(most, limits.get(name, most))
    return limits


def _questions(phases: Sequence[Keys]) -> tuple[Mapping[str, Any], ...]:
    """Return the attributes of submissions in any phase as questions of method cards."""
    questions: dict[str, dict[str, Any]] = {}
    for phase in phases:
        for keys in phase.items("submission_meta_attributes"):
            name = one_line(keys.text("name", "a question on method cards"), 60, "Question")
            help_text = one_line(keys.text("description", "`help` of a question"), 300, "")
            kind = keys.text("type", "kind of an answer").strip().lower()
            listed = keys.take("options", "choices")
            choices = [one_line(text_of(one), 80, "-") for one in (listed.elements if listed is not None else ())]
            required = keys.flag("required", "`required`", False)
            field: dict[str, Any] = {"name": name_of(name, (), "question"), "title": name}
            if kind == "boolean":
                field["kind"] = "yes_no"
            elif kind == "radio" and choices:
                field |= {"kind": "choice", "choices": list(dict.fromkeys(choices))[:50]}
            elif kind == "checkbox":
                words = f"several of {', '.join(choices)[:100]}: the question takes a text"
                keys.note("type", Fate.ASSUMED, words)
            if required:
                field["required"] = True
            if help_text:
                field["help"] = help_text
            questions.setdefault(field["name"], field)
    return tuple(questions.values())[:20]
