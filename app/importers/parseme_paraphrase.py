"""PARSEME 2.0, subtask 2, paraphrasing: from the folder of the languages to a competition ready to open.

`<LANG>/{test,test.blind}.json` (Scholivet et al. 2026), and `trial.json`, if there are trial data, for practice. The
downloadable blind files are rewritten with only ids and sentences, because some published ones contain the marks. If no
language has gold yet, the phases wait for it.
"""

from __future__ import annotations

import filecmp
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.importers import parseme_paraphrase_texts as texts
from app.importers.baselines import BaselineRequest, add_baselines
from app.importers.parseme_declaration import EDITIONS, TEST_PHASES, number, percent
from app.importers.parseme_folder import write_zip
from app.importers.writing import ALL_SLICES, LATER, Inline, copy_file, refuse_existing, write_text, yaml_text
from evergold.scoring.errors import InvalidFile, Problems
from evergold.scoring.option_types import MACRO
from evergold.scoring.paraphrase.files import (
    BLIND,
    ID,
    SENTENCE,
    TEST,
    BlindFile,
    GoldFile,
    blind,
    read_blind,
    read_gold,
)
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.tasks.mwe_paraphrase import NAME

COMPETITION = "parseme-2-0-paraphrase"
FILES = "parseme-2.0-paraphrase"
TRIAL = "trial.json"
GUIDELINES = "guidelines.md"
BASELINES = ("copy", "deletion")
_EDITION = EDITIONS["2.0"]
#: Phase of each kind of gold, also its folder below FILES.
_GOLDS = {TEST: "evaluation", TRIAL: "practice"}


@dataclass(frozen=True, slots=True)
class Language:
    """A language. folder: of its data; golds: gold by file; blind: its blind test data."""

    folder: Path
    golds: Mapping[str, GoldFile]
    blind: BlindFile | None

    @property
    def name(self) -> str:
        """The name in splits and options."""
        return self.folder.name.lower()


def import_parseme_paraphrase(source: Path, target: Path, gold: Path) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the gold below `gold`; return the written paths.

    source: the folder of the languages; gold: the workers' gold folder. Everything is checked before anything is
    written. Raises InvalidFile with all problems of all languages; also if a competition.yaml already exists.
    """
    problems = Problems(10_000)
    refuse_existing(target, problems)
    languages = _read_languages(source, problems)
    golds = {
        gold / FILES / folder / language.folder.name / TEST: language.folder / file
        for file, folder in _GOLDS.items()
        for language in languages
        if file in language.golds
    }
    _refuse_other_gold(golds, problems)
    problems.raise_if_any(InvalidFile)
    written = [copy_file(path, place) for place, path in golds.items()]
    written += [_write_blind(languages, kind, target) for kind in _GOLDS if _having(languages, kind)]
    baselines = {}
    for kind in (kind for kind in _GOLDS if _having(languages, kind)):
        paths, baselines[kind] = _add_baselines(languages, kind, target, gold)
        written += paths
    written.append(write_text(target / GUIDELINES, texts.GUIDELINES))
    text = yaml_text({"version": 1, "competitions": [declaration(languages, baselines)]}, texts.COMMENT)
    return [write_text(target / "competition.yaml", text), *written]


# ------------------------------------------------------------------------------------------------------------- reading


def _read_languages(source: Path, problems: Problems) -> list[Language]:
    """Return all languages by name, with their files checked; errors are added to `problems`."""
    folders = sorted(folder for folder in source.iterdir() if any((folder / name).is_file() for name in (TEST, BLIND)))
    if not folders:
        message = (
            f"this is not a folder of PARSEME's paraphrasing data: there is no <LANG>/{TEST} or <LANG>/{BLIND} in it"
        )
        problems.add("missing-file", message, file=str(source))
    languages = [_read_language(folder, problems) for folder in folders]
    without = [language for language in languages if TEST not in language.golds]
    if without and len(without) < len(languages):
        for language in without:
            message = "this language has no gold, while others do: give gold for all languages or for none"
            problems.add("missing-file", message, file=f"{language.folder.name}/{TEST}")
    return languages


def _read_language(folder: Path, problems: Problems) -> Language:
    golds: dict[str, GoldFile] = {}
    items: BlindFile | None = None
    try:
        for file in (file for file in _GOLDS if (folder / file).is_file()):
            golds[file] = read_gold((folder / file).read_bytes(), Options().types, f"{folder.name}/{file}")
        if (folder / BLIND).is_file():
            items = read_blind((folder / BLIND).read_bytes(), f"{folder.name}/{BLIND}")
    except InvalidFile as invalid:
        problems.errors += invalid.problems
        problems.omitted += invalid.omitted
    if TEST in golds:
        of_gold = _items_of(golds[TEST])
        if items is not None and items.sentence_of != of_gold.sentence_of:
            ids = sorted(items.sentence_of.items() ^ of_gold.sentence_of.items())
            message = f"its sentences are not those of {TEST}: they differ at {ids[0][0]}"
            problems.add("other-items", message, file=f"{folder.name}/{BLIND}")
        items = items or of_gold
    return Language(folder, golds, items)


def _items_of(gold: GoldFile) -> BlindFile:
    return blind([(item.id, item.sentence) for item in gold.items])


def _refuse_other_gold(golds: Mapping[Path, Path], problems: Problems) -> None:
    """Add a problem for each gold file that would be replaced by a different one, which may have been corrected."""
    for place, path in golds.items():
        if place.exists() and not filecmp.cmp(place, path, shallow=False):
            message = "different gold of this name exists already; move it away to import again"
            problems.add("exists", message, file=str(place))


# ------------------------------------------------------------------------------------------------------------- writing


def _having(languages: Sequence[Language], kind: str) -> list[Language]:
    """Return the languages with items of this kind: all for the test set, those with trial data for practice."""
    return [language for language in languages if kind == TEST or kind in language.golds]


def _write_blind(languages: Sequence[Language], kind: str, target: Path) -> Path:
    members = []
    for language in _having(languages, kind):
        items = language.blind if kind == TEST else _items_of(language.golds[kind])
        rows = [{ID: id_, SENTENCE: sentence} for id_, sentence in (items.sentence_of.items() if items else ())]
        content = json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
        members.append((f"{language.folder.name}/{BLIND}", content.encode()))
    return write_zip(target / _blind_name(kind), members)


def _blind_name(kind: str) -> str:
    return f"public/{FILES}-{_GOLDS[kind]}-blind.zip"


def _add_baselines(
    languages: Sequence[Language], kind: str, target: Path, gold: Path
) -> tuple[list[Path], list[dict[str, Any]]]:
    """Write the baselines and return their paths and declarations.

    Trained ones use the trial data, and exist only for the test data.
    """
    trial = gold / FILES / _GOLDS[TRIAL]
    learns = kind == TEST and bool(_having(languages, TRIAL))
    options = {"languages": [language.name for language in _having(languages, kind)]}
    request = BaselineRequest(NAME, BASELINES, options, target / _blind_name(kind), [trial] if learns else [])
    return add_baselines(request, target, f"baselines/{_GOLDS[kind]}")


# --------------------------------------------------------------------------------------------------------- declaration


def declaration(languages: Sequence[Language], baselines: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the competition as declared in `phases.yaml`. baselines: declarations by kind of gold."""
    return {
        "name": COMPETITION,
        "title": texts.TITLE,
        "summary": texts.SUMMARY,
        "description": texts.DESCRIPTION.format(count=f"{len(languages)} language{'' if len(languages) == 1 else 's'}"),
        "website": _EDITION.website,
        "tasks": [
            {
                "name": NAME,
                "type": NAME,
                "title": "Paraphrasing of multiword expressions",
                "description": texts.TASK,
                "options": Inline(languages=[language.name for language in languages]),
            }
        ],
        "boards": _boards(languages),
        "phases": [
            *([_practice(languages, baselines)] if _having(languages, TRIAL) else []),
            *(_on_test(languages, name, baselines) for name in TEST_PHASES),
        ],
    }


def _boards(languages: Sequence[Language]) -> list[dict[str, Any]]:
    """Return the boards: quality and diversity, each with the other's columns, and quality per language."""
    quality = [percent("bertscore", MACRO, "BERTScore"), percent("removed", MACRO, "Removed")]
    diversity = [number("entropy", "Entropy", 2), number("variety", "Variety", 0), number("balance", "Balance", 2)]
    count = number("languages", "Languages", 0)
    each = [percent("bertscore", language.name, language.name.upper()) for language in languages]
    boards = {
        "quality": ("bertscore", [count, *quality, *diversity]),
        "diversity": ("entropy", [count, *diversity, *quality]),
        "by-language": ("bertscore", [count, quality[0], *each]),
    }
    return [
        {
            "name": name,
            "title": texts.BOARDS[name][0],
            "description": texts.BOARDS[name][1],
            "task": NAME,
            "rank_by": Inline(metric=metric, split=MACRO),
            "columns": columns,
        }
        for name, (metric, columns) in boards.items()
    ]


def _practice(languages: Sequence[Language], baselines: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    phase_task = _phase_task(TRIAL, "Blind trial data", f"{FILES}/{_GOLDS[TRIAL]}", baselines)
    names = [language.name for language in _having(languages, TRIAL)]
    title, description = texts.PHASES["practice"]
    return {
        "name": "practice",
        "title": title,
        "description": description,
        "start": _EDITION.data_given,
        **ALL_SLICES,
        "entry": "best",
        "tasks": {NAME: {**phase_task, "options": Inline(languages=names)}},
    }


def _on_test(
    languages: Sequence[Language], name: str, baselines: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    start, end = _EDITION.evaluation
    gold = f"{FILES}/{_GOLDS[TEST]}"
    known = all(TEST in language.golds for language in languages)
    title, description = texts.PHASES[name]
    return {
        "name": name,
        "title": title,
        "description": description,
        **({"start": start, "end": end} if name == "evaluation" else {"start": end, **ALL_SLICES}),
        "entry": "best",
        "limits": Inline(per_day=10),
        "tasks": {NAME: _phase_task(TEST, "Blind test data", gold if known else f"{LATER}{gold}", baselines)},
    }


def _phase_task(
    kind: str, title: str, gold: str, baselines: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    file = _blind_name(kind)
    downloads = [Inline(file=file, title=title)]
    return {"gold": gold, "items": file, "downloads": downloads, "baselines": list(baselines[kind])}
