"""SemEval-2022 Task 2: from a checkout of the official data repository to a competition that is ready to apply.

Tayyar Madabushi et al. 2022; repository H-TayyarMadabushi/SemEval_2022_Task2-idiomaticity. Phases are named after the
data: practice (dev, with its public gold), eval and test (blind: the organiser adds the gold); post-evaluation
continues with the test set without an end, and with the entries of the test phase. Published results are on the test
set, so both phases show them. Parts missing in the checkout are omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.gold.sealing import list_as_public
from app.importers import semeval2022_texts as texts
from app.importers.baselines import BaselineRequest, add_baselines
from app.importers.semeval2022_layout import (
    BASELINES,
    BOARDS,
    DETECTION,
    DEV_GOLD,
    LANGUAGES,
    METRICS,
    NAME,
    PARTS,
    PHASES,
    SAME_DATA,
    SIMILARITY,
    TRAINING,
    BoardPart,
    Part,
)
from app.importers.semeval2022_results import HEADER, HistoricRow, historic_file, read_results
from app.importers.writing import LATER, Inline, copy_file, write_csv, write_text, yaml_text
from evergold.scoring.errors import InvalidFile, Problems
from evergold.scoring.task import AnyTask, read_options
from evergold.scoring.tasks import get_task


def import_semeval2022(source: Path, target: Path, gold: Path) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the dev gold below `gold`; return the paths.

    source: the checkout; gold: the workers' gold folder. Everything is read before anything is written. Raises
    InvalidFile with all problems; also if a competition.yaml already exists, which may have been edited.
    """
    problems = Problems()
    if (target / "competition.yaml").exists():
        message = "this file exists already; move it away to import again"
        problems.add("exists", message, file=str(target / "competition.yaml"))
    parts = _read_parts(source, problems)
    test_languages = {found.part.task: found.languages for found in parts if found.part.phase == "test"}
    historic = read_results(source, test_languages, problems)
    problems.raise_if_any(InvalidFile)
    written = [path for part in parts for path in _write_part(part, source, target, gold)]
    baselines = {}
    for found in parts:
        paths, baselines[found.folder] = add_baselines(_baselines(found, source), target, f"baselines/{found.place}")
        written += paths
    list_as_public(gold, [_gold_name(found.part) for found in parts if found.gold])
    for file, rows in historic.items():
        write_csv(target / file, HEADER, rows)
        written.append(target / file)
    text = yaml_text({"version": 1, "competitions": [_competition(parts, historic, baselines)]}, texts.COMMENT)
    return [write_text(target / "competition.yaml", text), *written]


# ----------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class AvailablePart:
    """A part in this checkout; missing files are None or omitted."""

    part: Part
    type: AnyTask
    items: Any
    languages: tuple[str, ...]
    template: str | None = None
    gold: str | None = None
    training: list[tuple[str, str]] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """The folder of its public files below the competition's folder."""
        return f"public/{self.place}"

    @property
    def place(self) -> str:
        """The subfolder of this phase and task."""
        return f"{self.part.phase}/{self.part.task}"


def _read_parts(source: Path, problems: Problems) -> list[AvailablePart]:
    found = [_read_part(source, part, problems) for part in PARTS if (source / part.items).is_file()]
    if not found:
        names = ", ".join(sorted(part.items for part in PARTS))
        message = f"this is not a checkout of SemEval_2022_Task2-idiomaticity: it has none of {names}"
        problems.add("missing-file", message, file=str(source))
    return [part for part in found if part is not None]


def _read_part(source: Path, part: Part, problems: Problems) -> AvailablePart | None:
    """Return the part with items and gold checked; None, with problems, if they are invalid."""
    type_ = get_task(part.task)
    options = read_options(type_)
    gold = part.gold if part.gold and (source / part.gold).is_file() else None
    items = _checked(lambda: type_.read_items(source / part.items, options), part.items, problems)
    if gold:
        _checked(lambda: type_.read_gold(source / gold, options), gold, problems)
    if items is None:
        return None
    return AvailablePart(
        part,
        type_,
        items,
        languages=tuple(_in_order({language.lower() for language in items.languages})),
        template=part.template if (source / part.template).is_file() else None,
        gold=gold,
        training=[(file, title) for file, title in part.training if (source / file).is_file()],
    )


def _checked(read: Callable[[], Any], file: str, problems: Problems) -> Any:
    """Return the result of `read`; if it fails, add its problems with the name of the file, and return None."""
    try:
        return read()
    except InvalidFile as invalid:
        for problem in invalid.problems:
            problems.add(problem.code, problem.message, file=file, line=problem.line, column=problem.column)
        return None


def _in_order(languages: set[str]) -> list[str]:
    return [name for name in LANGUAGES if name in languages] + sorted(languages.difference(LANGUAGES))


# ----------------------------------------------------------------------------------------------------------- writing


def _write_part(found: AvailablePart, source: Path, target: Path, gold: Path) -> Iterable[Path]:
    part, folder = found.part, target / found.folder
    yield copy_file(source / part.items, folder / Path(part.items).name)
    if found.template:
        yield copy_file(source / found.template, folder / Path(found.template).name)
    else:
        text = found.type.template(found.items, read_options(found.type)) or ""
        yield write_text(folder / Path(part.template).name, text)
    if found.gold:
        yield copy_file(source / found.gold, folder / Path(found.gold).name)
        yield copy_file(source / found.gold, gold / _gold_name(part))
    for file, _ in found.training:
        yield copy_file(source / file, folder / Path(file).name)


def _baselines(found: AvailablePart, source: Path) -> BaselineRequest:
    """Return the baselines; trained ones use public labelled data, except the dev set for predicting the dev set."""
    part = found.part
    public = (*TRAINING, *(() if found.gold else DEV_GOLD))
    return BaselineRequest(
        part.task,
        BASELINES[part.task],
        {"languages": list(found.languages)},
        source / part.items,
        [source / name for name in public if part.task == DETECTION and (source / name).is_file()],
        source / found.gold if found.gold else None,
        [
            (METRICS[part.task], f"{board.setting}/{next(iter(board.scores.values()))}")
            for board in BOARDS
            if board.task == part.task
        ],
    )


def _gold_name(part: Part) -> str:
    return f"{NAME}/{part.split}/{part.task}.csv"


def _competition(
    parts: Sequence[AvailablePart],
    historic: dict[str, list[HistoricRow]],
    baselines: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return the competition as declared in phases.yaml. baselines: by the folder of a part."""
    languages = {task: _all_languages(parts, task) for task in (DETECTION, SIMILARITY)}
    titles = {
        DETECTION: ("Subtask A: idiomaticity detection", texts.DETECTION),
        SIMILARITY: ("Subtask B: sentence similarity", texts.SIMILARITY),
    }
    tasks = [task for task in titles if languages[task]]
    return {
        "name": NAME,
        "title": texts.TITLE,
        "summary": texts.SUMMARY,
        "description": texts.DESCRIPTION,
        "website": texts.WEBSITE,
        "tasks": [
            {
                "name": task,
                "type": task,
                "title": titles[task][0],
                "description": titles[task][1],
                "options": Inline(languages=languages[task]),
            }
            for task in tasks
        ],
        "boards": [_board(board, languages[board.task], historic) for board in BOARDS if board.task in tasks],
        "phases": [
            _phase(name, [found for found in parts if found.part.phase == data], languages, baselines)
            for name, data in ((name, SAME_DATA.get(name, name)) for name in PHASES)
            if any(found.part.phase == data for found in parts)
        ],
    }


def _all_languages(parts: Sequence[AvailablePart], task: str) -> list[str]:
    return _in_order({language for found in parts if found.part.task == task for language in found.languages})


def _board(board: BoardPart, languages: Sequence[str], historic: dict[str, list[HistoricRow]]) -> dict[str, Any]:
    ending = {DETECTION: "", SIMILARITY: "/all"}[board.task]
    columns = [("All", f"all{ending}")]
    if board.task == SIMILARITY:
        columns += [("Idiom Only", "all/idiom"), ("STS Only", "all/sts")]
    columns += [(language.upper(), f"{language}{ending}") for language in languages]
    metric = METRICS[board.task]
    declared: dict[str, Any] = {
        "name": board.name,
        "title": board.title,
        "task": board.task,
        "columns": [Inline(metric=metric, split=f"{board.setting}/{split}", title=title) for title, split in columns],
    }
    sources = {
        historic_file(
            board.name, is_listed=is_listed, is_ranked=is_ranked
        ): f"{source}{'' if is_ranked else texts.UNRANKED}"
        for is_listed, source in ((False, texts.PAPER), (True, texts.LISTS))
        for is_ranked in (True, False)
    }
    rows = [
        {"phase": phase, "file": file, "source": text}
        for phase in ("test", *(name for name, data in SAME_DATA.items() if data == "test"))
        for file, text in sources.items()
        if file in historic
    ]
    return {**declared, "historic": rows} if rows else declared


def _phase(
    name: str,
    parts: Sequence[AvailablePart],
    languages: dict[str, list[str]],
    baselines: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    title, description = texts.PHASES[name]
    return {
        "name": name,
        "title": title,
        "description": description,
        **PHASES[name],
        "tasks": {
            found.part.task: {**_phase_task(found, languages[found.part.task]), "baselines": baselines[found.folder]}
            for found in parts
        },
    }


def _phase_task(found: AvailablePart, languages: list[str]) -> dict[str, Any]:
    part = found.part
    files = [(part.items, "Items (blind)"), (part.template, "Submission template"), *found.training]
    if found.gold:
        files.append((found.gold, "Gold"))
    downloads = [Inline(file=f"{found.folder}/{Path(file).name}", title=title) for file, title in files]
    declaration: dict[str, Any] = {"gold": _gold_name(part) if found.gold else f"{LATER}{_gold_name(part)}"}
    if found.gold:
        declaration["gold_is_public"] = True
    if list(found.languages) != languages:
        declaration["options"] = Inline(languages=list(found.languages))
    return {**declaration, "items": f"{found.folder}/{Path(part.items).name}", "downloads": downloads}
