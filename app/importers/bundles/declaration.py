"""Writes a planned competition: competition.yaml, programs, downloads, baselines and, separately, gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from app.competitions.confirmation import CONFIRM_SCORES
from app.importers.bundles.archive import InvalidBundle, copy_folder, keep_packed
from app.importers.bundles.environments import Guess, guess_environment
from app.importers.bundles.moments import shown_moment
from app.importers.bundles.notes import Fate, Notes
from app.importers.bundles.pages import lowered, without_heading
from app.importers.bundles.plan import Board, Given, Metric, Page, Part, Phase, Plan, Sample, Task, one_line
from app.importers.writing import Inline, refuse_existing, write_text, yaml_text
from evergold.scoring.archives import begins_as_zip
from evergold.scoring.errors import Problems

#: The name of the only split of a scoring program.
SPLIT = "all"
#: Maximum length of a competition's description, below the limit of a text: terms and pages are edited later.
_TEXT_CHARACTERS = 45_000
_SUMMARY_CHARACTERS = 500
_MOST_REASONS = 20
MAIN_FILE, NOTES_FILE = "competition.yaml", "IMPORT.md"


@dataclass(slots=True)
class Written:
    """Files that were written.

    - document: the declaration; paths: all files; gold: files below the gold folder that open a task, by (phase, task).
    - guesses: environments by the path of the program.
    """

    folder: Path
    document: dict[str, Any] = field(default_factory=dict)
    paths: list[Path] = field(default_factory=list)
    gold: dict[tuple[str, str], Path] = field(default_factory=dict)
    guesses: dict[str, Guess] = field(default_factory=dict)


def write_plan(plan: Plan, folder: Path, gold: Path, comment: str) -> Written:
    """Write everything below `folder`, and gold below `gold`, where it is to be sealed: programs only open sealed gold.

    Returns the written files. Raises InvalidBundle if there already is a competition, InvalidFile, OSError.
    """
    problems = Problems()
    refuse_existing(folder, problems)
    problems.raise_if_any(InvalidBundle)
    written = Written(folder)
    plan = _with_shared_options(plan)
    offered = _late_pages(plan.pages)
    tasks = [_task(one, written) for one in plan.tasks]
    declared: dict[str, Any] = {"name": plan.name, "title": plan.title}
    if plan.summary:
        declared["summary"] = plan.summary
    if text := _description(plan, written):
        declared["description"] = text
    if plan.contact:
        declared["contact"] = plan.contact
    declared["registration"] = {"mode": plan.mode, **({"terms": plan.terms} if plan.terms else {})}
    if plan.questions:
        declared["method_card"] = {"fields": [Inline(one) for one in plan.questions]}
    declared["tasks"] = tasks
    declared["boards"] = [_board(task, board) for task in plan.tasks for board in task.boards]
    declared["phases"] = [
        _phase(plan, phase, offered if place == 0 else (), written, gold) for place, phase in enumerate(plan.phases)
    ]
    if reasons := _to_confirm(written, declared["phases"]):
        declared[CONFIRM_SCORES] = reasons
    written.document = declared
    document = {"version": 1, "competitions": [declared]}
    written.paths.insert(0, write_text(folder / MAIN_FILE, yaml_text(document, comment)))
    return written


def _to_confirm(written: Written, phases: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the reasons why an organiser has to compare scores before others see the competition."""
    guessed = [guess.words.replace("`", "'") for guess in written.guesses.values() if guess.is_guess]
    reasons = [f"The environment is a guess: {one_line(words, 300, '')}" for words in dict.fromkeys(guessed)]
    if any(phase_task.get("baselines") for phase in phases for phase_task in phase["tasks"].values()):
        reasons.append("Its baselines had scores on the other system")
    return reasons[-_MOST_REASONS:]


# ---------------------------------------------------------------------------------------------------------------- texts


def _pages_that_fit(pages: Iterable[Page]) -> tuple[list[Page], list[Page]]:
    """Return the pages for which the description has room, and the others."""
    fit: list[Page] = []
    late: list[Page] = []
    left = _TEXT_CHARACTERS
    for page in pages:
        needed = len(page.text) + len(page.title) + 8
        fits = bool(page.text) and needed <= left
        (fit if fits else late).append(page)
        left -= needed if fits else 0
    return fit, late


def _late_pages(pages: Iterable[Page]) -> tuple[Given, ...]:
    given = []
    for number, page in enumerate(_pages_that_fit(pages)[1], 1):
        title = one_line(page.title, 200, "Page")
        if page.text or page.place is None:
            given.append(Given(f"page-{number}.md", title, text=page.text))
        else:
            given.append(Given(f"page-{number}{page.place.suffix.lower()}", title, page.place))
    return tuple(given)


def _description(plan: Plan, written: Written) -> str:
    parts = []
    if plan.image is not None:
        target = written.folder / "images" / f"logo{plan.image.suffix.lower()}"
        written.paths.append(keep_packed(plan.image, target))
        parts.append(f"![Logo of {_escaped(plan.title)}](images/{target.name})")
    for page in _pages_that_fit(plan.pages)[0]:
        text = lowered(without_heading(page.text, page.title))
        parts.append(f"## {page.title}\n\n{text}" if page.title else page.text)
    return "\n\n".join(parts) + "\n" if parts else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


# ------------------------------------------------------------------------------------------------------ tasks, boards


def _with_shared_options(plan: Plan) -> Plan:
    """Return the plan with time limits shared by all phases of a task moved to the task."""
    tasks = []
    seconds: dict[str, int] = {}
    for task in plan.tasks:
        own = [one.seconds or task.seconds for phase in plan.phases for one in phase.parts if one.task == task.name]
        seconds[task.name] = own[0] if own and len(set(own)) == 1 else task.seconds
        tasks.append(replace(task, seconds=seconds[task.name]))
    phases = []
    for phase in plan.phases:
        parts = [replace(one, seconds=None if one.seconds == seconds[one.task] else one.seconds) for one in phase.parts]
        phases.append(replace(phase, parts=tuple(parts)))
    return replace(plan, tasks=tuple(tasks), phases=tuple(phases))


def _task(task: Task, written: Written) -> dict[str, Any]:
    program = task.program
    target = written.folder / program.place
    if program.place not in written.guesses:
        if not target.exists():
            written.paths += copy_folder(program.folder, target)
        written.guesses[program.place] = guess_environment(program.folder, program.image)
    guess = written.guesses[program.place]
    options: dict[str, Any] = {"contract": program.contract}
    if program.command:
        options["command"] = program.command
    options |= guess.options
    options["limits"] = Inline(limits_of(task.seconds))
    if task.files:
        options["files"] = Inline(task.files)
    options["metrics"] = [Inline(metric.declared()) for metric in task.metrics]
    if task.details:
        options["shown"] = Inline(details="teams")
    declared: dict[str, Any] = {"name": task.name, "type": "program", "title": task.title}
    if task.description:
        declared["description"] = task.description
    return {**declared, "program": program.place, "options": options}


def limits_of(seconds: int) -> dict[str, int]:
    """Return the limits of a run as task options, clamped to the allowed values."""
    allowed = min(max(seconds, 1), 86_400)
    return {"seconds": allowed, "processor_seconds": allowed}


def _board(task: Task, board: Board) -> dict[str, Any]:
    metrics: dict[str, Metric] = {one.name: one for one in task.metrics}
    declared: dict[str, Any] = {"name": board.name, "title": board.title}
    if board.description:
        declared["description"] = board.description
    declared["task"] = task.name
    if board.rank_by and board.rank_by != next(iter(board.columns)):
        declared["rank_by"] = Inline(metric=board.rank_by, split=SPLIT)
    declared["columns"] = [
        Inline(metric=name, split=SPLIT, title=title, decimals=metrics[name].decimals)
        for name, title in board.columns.items()
    ]
    return declared


# -------------------------------------------------------------------------------------------------------------- phases


def _phase(plan: Plan, phase: Phase, offered: Iterable[Given], written: Written, gold: Path) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": phase.name, "title": phase.title}
    if phase.description:
        declared["description"] = phase.description
    declared["start"] = shown_moment(phase.start)
    if phase.end is not None:
        declared["end"] = shown_moment(phase.end)
    declared["entry"] = phase.entry
    declared["limits"] = Inline(phase.limits)
    # There, all columns of a board are shown while the phase runs.
    declared["visibility"] = Inline({"slices": "columns", **phase.visibility})
    if phase.carry_over:
        declared["carry_over"] = phase.carry_over
    declared["tasks"] = {
        part.task: _part(plan, phase, part, tuple(offered) if place == 0 else (), written, gold)
        for place, part in enumerate(phase.parts)
    }
    return declared


def _part(
    plan: Plan, phase: Phase, part: Part, offered: tuple[Given, ...], written: Written, gold: Path
) -> dict[str, Any]:
    declared: dict[str, Any] = {}
    if part.gold is not None:
        # A single file keeps its name: programs may look for it, or read something from it.
        name = f"{part.task}.zip" if part.gold.is_dir() or begins_as_zip(part.gold) else part.gold.name
        kept = keep_packed(part.gold, gold / plan.name / phase.name / part.task / name)
        if not part.is_closed:
            written.gold[phase.name, part.task] = kept
    options = dict(part.options)
    if part.seconds is not None:
        options["limits"] = Inline(limits_of(part.seconds))
    if options:
        declared["options"] = options
    place = f"downloads/{phase.name}/{part.task}"
    if downloads := [_download(one, place, written) for one in (*part.downloads, *offered)]:
        declared["downloads"] = downloads
    if samples := [_baseline(one, f"baselines/{part.task}", written) for one in part.samples]:
        declared["baselines"] = samples
    return declared


def _download(given: Given, place: str, written: Written) -> dict[str, Any]:
    target = written.folder / place / given.name
    if given.place is None:
        written.paths.append(write_text(target, given.text))
    else:
        written.paths.append(keep_packed(given.place, target))
    return Inline(file=f"{place}/{given.name}", title=given.title)


def _baseline(sample: Sample, place: str, written: Written) -> dict[str, Any]:
    target = written.folder / place / f"{PurePosixPath(sample.name.replace(' ', '-').lower()).name}.zip"
    if target not in written.paths:
        written.paths.append(keep_packed(sample.place, target))
    return Inline(name=sample.name, file=target.relative_to(written.folder).as_posix())


def note_environments(plan: Plan, written: Written, notes: Notes, keys: Mapping[str, tuple[str, int]]) -> None:
    """Add a note on the environment of each program. keys: path and line of its key, by the path of the program."""
    for place, guess in written.guesses.items():
        missing = f". The program imports packages that this lacks: {', '.join(guess.missing)}" if guess.missing else ""
        compare = ". Compare a score with one of the other system before you publish" if guess.is_guess else ""
        fate = Fate.OPEN if guess.is_guess or guess.missing else Fate.BECAME
        notes.add(fate, *keys[place], f"environment of `{place}`: {guess.words}{missing}{compare}.")
