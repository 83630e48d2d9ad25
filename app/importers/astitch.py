"""AStitchInLanguageModels: from a checkout of the authors' repository to items, gold, templates and published results.

Tayyar Madabushi et al. 2021; repository H-TayyarMadabushi/AStitchInLanguageModels, folder `Dataset`. Each language is
a separate task, because the paper ranks English and Portuguese separately: coarse-en is `idiom-detection`, fine-en
`meaning-matching`, similarity-en `idiom-similarity`. Ids are assigned here: Task 1 `dev.EN.7` is row 7 of the authors'
file, counted from 0 as in their scripts; Task 2 pairs are numbered in an order that reveals nothing.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.importers import astitch_texts as texts
from app.importers.baselines import BaselineRequest, add_baselines
from app.importers.writing import (
    EVERYTHING,
    Inline,
    read_columns,
    read_published,
    refuse_existing,
    write_csv,
    write_text,
    yaml_text,
)
from evergold.scoring.errors import InvalidFile, Problems
from evergold.scoring.tables.reading import decode_text
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Files:
    """The blind items and the gold of one task in one phase, each with header and rows."""

    items_header: Sequence[str] = ()
    items: Sequence[Sequence[str]] = ()
    gold_header: Sequence[str] = ()
    gold: Sequence[Sequence[str]] = ()


def convert_coarse(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Return the files of Task 1 coarse: a label per sentence; ids count the rows of the authors' file from 0."""
    rows = _coarse_rows(source, language, phase, problems)
    ids = [f"{phase}.{language.upper()}.{row}" for row in range(len(rows))]
    return Files(
        ("ID", "Language", "MWE", "Sentence"),
        [(id_, language.upper(), mwe, sentence) for id_, (_, sentence, mwe) in zip(ids, rows, strict=True)],
        ("ID", "Language", "Label"),
        [(id_, language.upper(), label) for id_, (label, _, _) in zip(ids, rows, strict=True)],
    )


def convert_fine(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Return the files of Task 1 fine-grained: a label per sentence and meaning, with the expression of the coarse
    sentence.
    """
    code = language.upper()
    rows = _rows(source, f"Dataset/Task1/SubTaskB/{code}/ContextExcluded/{phase}.csv", _PAIR_COLUMNS, problems)
    mwes = {sentence: mwe for _, sentence, mwe in _coarse_rows(source, language, phase, Problems())}
    distinct = dict.fromkeys(sentence for _, sentence, _ in rows)
    sentence_ids = {sentence: f"{phase}.{code}.s{number}" for number, sentence in enumerate(distinct)}
    items: list[Sequence[str]] = []
    gold: list[Sequence[str]] = []
    for row, (label, sentence, meaning) in enumerate(rows):
        key = f"{phase}.{code}.{row}", code, sentence_ids[sentence]
        items.append((*key, mwes.get(sentence, ""), sentence, meaning))
        gold.append((*key, label))
    header = ("ID", "Language", "SentenceID")
    return Files((*header, "MWE", "Sentence", "Meaning"), items, (*header, "Label"), gold)


def convert_similarity(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Return the files of Task 2: idiom pairs with target 1 or the system's own similarity of (correct, incorrect); STS
    pairs.

    STS pairs have their published scores as targets.
    """
    folder = "Dataset/Task2/CreateEvaluationData"
    raw_name = f"{folder}/{language.upper()}/WithResults/evalData/{phase}_rawSimData.csv"
    columns = ("sent_idiom", "sent_other", "sim", "idiom", "correct", "incorrect")
    raw = _rows(source, raw_name, columns, problems)
    sts = _sts_rows(source, f"{folder}/EvalSTSData/{language}_{phase}_Eval_STS_Data.csv", problems)
    targets: dict[
        _Pair, tuple[str, str, _Pair | None]
    ] = {}  # pair -> end of DataID, sim, the pair whose sim is the target
    expressions: dict[_Pair, str] = {}
    others: dict[_Pair, None] = {}
    places = {idiom: place for place, idiom in enumerate(dict.fromkeys(row[3] for row in raw), start=1)}
    for number, (left, right, sim, idiom, correct, incorrect) in enumerate(raw, start=1):
        other = (correct, incorrect) if sim == "None" else None
        _note_pair(
            targets, (left, right), (f"{places[idiom]}.{number}", "" if other else sim, other), raw_name, problems
        )
        expressions[left, right] = idiom
        if other:
            others[other] = None
            expressions.setdefault(other, idiom)
    for number, (left, right, sim) in enumerate(sts, start=1):
        _note_pair(targets, (left, right), (f"sts.{number}", sim, None), "EvalSTSData", problems)
    return _similarity_files(targets, others, expressions, language, phase)


def _coarse_rows(source: Path, language: str, phase: str, problems: Problems) -> list[tuple[str, str, str]]:
    """Return (label, sentence, expression) of every row."""
    name = f"Dataset/Task1/SubTaskA/{language.upper()}/ContextExcluded_IdiomIncluded/{phase}.csv"
    return _rows(source, name, _PAIR_COLUMNS, problems)


def _similarity_files(
    targets: Mapping[_Pair, tuple[str, str, _Pair | None]],
    others: Mapping[_Pair, None],
    expressions: Mapping[_Pair, str],
    language: str,
    phase: str,
) -> Files:
    pairs = sorted({**targets, **others}, key=_shuffled)
    ids = {pair: f"{phase}.{language.upper()}.{number}" for number, pair in enumerate(pairs)}
    code = language.upper()
    return Files(
        ("ID", "Language", "MWE", "sentence1", "sentence2"),
        [(ids[pair], code, expressions.get(pair, ""), *pair) for pair in pairs],
        ("ID", "DataID", "Language", "sim", "otherID"),
        [
            (ids[pair], f"{phase}.{code}.{end}", code, sim, ids[other] if other else "")
            for pair, (end, sim, other) in targets.items()
        ],
    )


def _note_pair(
    targets: dict[_Pair, tuple[str, str, _Pair | None]],
    pair: _Pair,
    target: tuple[str, str, _Pair | None],
    name: str,
    problems: Problems,
) -> None:
    if targets.setdefault(pair, target) is not target:
        problems.add("duplicate-pair", f"the pair {target[0]} occurs twice", file=name)


def _shuffled(pair: _Pair) -> bytes:
    """Return a sort key that puts pairs in a reproducible order independent of their targets."""
    return hashlib.sha256("\0".join(pair).encode()).digest()


def _sts_rows(source: Path, name: str, problems: Problems) -> list[tuple[str, str, str]]:
    """Return (sentence1, sentence2, score) of a file without a header."""
    path = source / name
    if not path.is_file():
        problems.add("missing-file", "the file is not in this folder: is it a checkout of the repository?", file=name)
        return []
    text = decode_text(path.read_bytes(), problems, file=name)
    rows: list[tuple[str, str, str]] = []
    for line, row in enumerate(csv.reader(io.StringIO(text or "", newline="")), start=1):
        if len(row) == 3:
            rows.append((row[1], row[2], row[0]))
        elif row:
            problems.add("wrong-field-count", f"{len(row)} fields, expected 3", file=name, line=line)
    return rows


def _rows(source: Path, name: str, columns: Sequence[str], problems: Problems) -> list[Any]:
    """Return the cells of these columns, in this order, row by row; empty if the file has problems."""
    table = read_columns(source, name, columns, problems)
    return list(zip(*(table[column] for column in columns), strict=True)) if table is not None else []


_PAIR_COLUMNS = ("label", "sentence1", "sentence2")


NAME = "astitch"
LANGUAGES = ("en", "pt")
PHASES = ("dev", "test")
PUBLISHED = "published_astitch.csv"
#: Opening day of the Findings of EMNLP 2021, the date of historic rows.
PUBLISHED_ON = "2021-11-07"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A kind of task: its type, its settings by the names in the published tables, and the function that converts its
    files.

    - published: its name in the column `task` of the published figures.
    - metrics: their metric -> ours, and the part of the split after the setting.
    - columns: (metric, part of the split after the setting) of further board columns.
    """

    name: str
    type: str
    title: str
    published: str
    settings: Mapping[str, str]
    metrics: Mapping[str, tuple[str, str]]
    columns: Sequence[tuple[str, str]]
    source: str
    baselines: Sequence[str]
    convert: Callable[[Path, str, str, Problems], Files]


def import_astitch(source: Path, target: Path, gold: Path) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the gold below `gold`; return the written paths.

    source: the checkout; gold: the workers' gold folder. Everything is converted before anything is written. Raises
    InvalidFile with all problems; also if a competition.yaml already exists, which may have been edited.
    """
    problems = Problems()
    refuse_existing(target, problems)
    converted = {
        (phase, part, language): part.convert(source, language, phase, problems)
        for phase in PHASES
        for part in PARTS
        for language in LANGUAGES
    }
    problems.raise_if_any(InvalidFile)
    written: list[Path] = []
    for (phase, part, language), files in converted.items():
        task = f"{part.name}-{language}"
        folder = target / _folder(phase, task)
        written += [
            write_csv(folder / "items.csv", files.items_header, files.items),
            write_csv(gold / _gold_name(phase, task), files.gold_header, files.gold),
            write_text(folder / "template.csv", _template(part, language, folder / "items.csv")),
            *(
                write_csv(
                    target / _historic_name(phase, _board_name(part, language, setting)),
                    HISTORIC_COLUMNS,
                    historic_rows(part, language, phase, setting),
                )
                for setting in part.settings
            ),
        ]
    baselines = {}
    for phase, part, language in converted:
        task = f"{part.name}-{language}"
        request = _baselines(part, language, phase, target, gold)
        paths, baselines[phase, task] = add_baselines(request, target, f"baselines/{phase}/{task}")
        written += paths
    text = yaml_text({"version": 1, "competitions": [declaration(baselines)]}, texts.COMMENT)
    return [write_text(target / "competition.yaml", text), *written]


def _baselines(part: Part, language: str, phase: str, target: Path, gold: Path) -> BaselineRequest:
    """Return the baselines; trained ones use the dev data, and exist only for the test data."""
    task = f"{part.name}-{language}"
    dev = gold / _gold_name("dev", task)
    ranking, rest = next(iter(part.metrics.values()))
    return BaselineRequest(
        part.type,
        part.baselines,
        options_of(part, language),
        target / _folder(phase, task) / "items.csv",
        [dev] if phase == "test" else [],
        gold / _gold_name(phase, task),
        [(ranking, f"{name}/all{rest}") for name in part.settings.values()],
    )


def declaration(baselines: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] | None = None) -> dict[str, Any]:
    """Return the competition as declared in `phases.yaml`. baselines: declarations by phase and task."""
    tasks = [(part, language) for part in PARTS for language in LANGUAGES]
    return {
        "name": NAME,
        "title": "AStitchInLanguageModels",
        "summary": "Idiomaticity in pre-trained language models: detection, meaning, similarity, in two languages.",
        "description": texts.DESCRIPTION,
        "website": "https://github.com/H-TayyarMadabushi/AStitchInLanguageModels",
        "tasks": [_task(part, language) for part, language in tasks],
        "boards": [_board(part, language, setting) for part, language in tasks for setting in part.settings],
        "phases": [_phase(phase, tasks, baselines or {}) for phase in PHASES],
    }


def _task(part: Part, language: str) -> dict[str, Any]:
    title = f"{part.title}, {_LANGUAGE_TITLES[language]}"
    return {
        "name": f"{part.name}-{language}",
        "type": part.type,
        "title": title,
        "description": texts.TASKS[part.name],
        "options": Inline(options_of(part, language)),
    }


def _board(part: Part, language: str, setting: str) -> dict[str, Any]:
    """Return a board ranked by one setting, with its other measures, the other settings, and published results."""
    name = _board_name(part, language, setting)
    ranking = next(iter(part.metrics.values()))
    ours = [(part.settings[setting], *column) for column in (ranking, *part.columns)]
    others = [(name, *ranking) for name in part.settings.values() if name != part.settings[setting]]
    columns = [Inline(metric=metric, split=f"{name}/all{rest}") for name, metric, rest in (*ours, *others)]
    return {
        "name": name,
        "title": f"{part.title}, {_LANGUAGE_TITLES[language]}, {setting}",
        "task": f"{part.name}-{language}",
        "columns": columns,
        "historic": [{"phase": phase, "file": _historic_name(phase, name), "source": part.source} for phase in PHASES],
    }


def _phase(
    phase: str,
    tasks: Sequence[tuple[Part, str]],
    baselines: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> dict[str, Any]:
    names = [f"{part.name}-{language}" for part, language in tasks]
    title, description = texts.PHASES[phase]
    return {
        "name": phase,
        "title": title,
        "description": description,
        "start": f"{PUBLISHED_ON} 00:00 UTC",
        **EVERYTHING,
        "tasks": {
            name: {
                "gold": _gold_name(phase, name),
                "items": f"{_folder(phase, name)}/items.csv",
                "downloads": [
                    {"file": f"{_folder(phase, name)}/items.csv", "title": "Items"},
                    {"file": f"{_folder(phase, name)}/template.csv", "title": "Empty submission"},
                ],
                "baselines": list(baselines.get((phase, name), ())),
            }
            for name in names
        },
    }


HISTORIC_COLUMNS = ("team", "date", "metric", "split", "value")


def historic_rows(part: Part, language: str, phase: str, setting: str) -> list[tuple[str, str, str, str, str]]:
    """Return the published figures of one task and phase as (team, date, metric, split, value).

    Only systems with figures in this setting are included, because others cannot be on its board.
    """
    wanted = (part.published, language, phase)
    found = [row for row in read_published(PUBLISHED) if (row["task"], row["language"], row["split"]) == wanted]
    systems = {_system(row) for row in found if row["setup"] == setting}
    rows = []
    for row in found:
        if _system(row) in systems:
            metric, rest = part.metrics[row["metric"]]
            split = f"{part.settings[row['setup']]}/all{rest}"
            rows.append((_system(row), PUBLISHED_ON, metric, split, row["value"]))
    return rows


def options_of(part: Part, language: str) -> dict[str, Any]:
    """Return the options of the part's task type."""
    return {"settings": list(part.settings.values()), "languages": [language]}


def _folder(phase: str, task: str) -> str:
    return f"public/{phase}/{task}"


def _board_name(part: Part, language: str, setting: str) -> str:
    return f"{part.name}-{language}-{part.settings[setting].replace('_', '-')}"


def _historic_name(phase: str, board: str) -> str:
    return f"historic/{board}-{phase}.csv"


def _gold_name(phase: str, task: str) -> str:
    return f"{NAME}/{phase}/{task}.csv"


def _template(part: Part, language: str, items: Path) -> str:
    task = get_task(part.type)
    options = read_options(task, options_of(part, language))
    return task.template(task.read_items(items, options), options) or ""


def _system(row: Mapping[str, str]) -> str:
    """Return the name of a published system on boards, with the kind of its input."""
    if not row["context"]:
        return row["system"]
    context = "with context" if row["context"] == "yes" else "no context"
    expression = "with MWE" if row["mwe"] == "yes" else "no MWE"
    return f"{row['system']}, {context}, {expression}"


_SHOTS = {"zero-shot": "zero_shot", "one-shot": "one_shot", "few-shot": "few_shot"}
_TRAINING = {"pre-training only": "pre_train", "fine-tuned": "fine_tune"}
_LABEL_METRICS = {"macro_f1": ("macro_f1", ""), "accuracy": ("accuracy", "")}
_RHO = {"spearman_all": ("spearman", "/all"), "spearman_idiom": ("spearman", "/idiom")}

_LANGUAGE_TITLES = {"en": "English", "pt": "Portuguese"}
_SOURCE = "Tayyar Madabushi et al. 2021, Findings of EMNLP, table"
_LABELS = (("accuracy", ""),)

PARTS = (
    Part(
        "coarse", "idiom-detection", "Idiomatic or not", "task1-coarse", _SHOTS, _LABEL_METRICS, _LABELS,
        f"{_SOURCE}s 4 and 12", ("idiomatic", "not-idiomatic", "majority"), convert_coarse,
    ),
    Part(
        "fine", "meaning-matching", "Which meaning", "task1-fine", _SHOTS, _LABEL_METRICS,
        (*_LABELS, ("sentence_accuracy", "")), f"{_SOURCE}s 5 and 13", ("nearest",), convert_fine,
    ),
    Part(
        "similarity", "idiom-similarity", "Sentence similarity", "task2", _TRAINING, _RHO,
        (("spearman", "/idiom"), ("spearman", "/sts")), f"{_SOURCE}s 6 to 9", ("word-overlap",),
        convert_similarity,
    ),
)  # fmt: skip
