"""The files of the demo's paraphrasing task: items, templates, gold, submissions; zips, as PARSEME has them.

The items come from demo/source/paraphrase_*.yaml, the teams' paraphrases from `paraphrasers`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from demo import paraphrasers
from demo.source import PHASES, SOURCE, digest, number_items

LANGUAGES = ("EN", "PT")
TYPES = ("VID", "NID", "AdjID")
TASK = "idiom-paraphrase"

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ParaphraseItem:
    """A sentence with its idiom in `[[…]]`, and two paraphrases without it."""

    data_id: str
    language: str
    mwe_type: str
    marked: str
    creative: str
    minimal: str

    @property
    def sentence(self) -> str:
        """As participants see it."""
        return self.marked.replace("[[", "").replace("]]", "")


#: From an item to its paraphrase, by what submits it: a baseline or a team.
SYSTEMS: dict[str, Callable[[ParaphraseItem], str]] = {
    "copy": lambda item: paraphrasers.copy(item.language, item.sentence),
    "deletion": lambda item: paraphrasers.deletion(item.marked),
    "magpie": lambda item: paraphrasers.glosses(item.language, item.sentence),
    "saudade-lab": lambda item: paraphrasers.fitting_phrases(item.language, item.sentence),
    "loureiro": lambda item: paraphrasers.synonyms_too(item.language, item.sentence),
}


@cache
def read_paraphrases(phase: str, language: str, folder: Path = SOURCE) -> tuple[ParaphraseItem, ...]:
    """The items of a phase and language, shuffled, as the files have them."""
    path = folder / f"paraphrase_{language.lower()}.yaml"
    source = yaml.safe_load(path.read_text(encoding="utf-8"))
    if source["language"] != language:
        raise ValueError(f"{path.name} says that its language is {source['language']}")
    items = [
        ParaphraseItem(
            f"paraphrase.{phase}.{language}.{place}",
            language,
            row["type"],
            row["sentence"],
            row["creative"],
            row["minimal"],
        )
        for place, row in enumerate(source[phase], start=1)
    ]
    return tuple(sorted(items, key=lambda item: digest(f"order {item.data_id}")))


def paraphrase_files() -> dict[str, str | bytes]:
    """Every file of the task, by its path below demo/."""
    ids = _ids()
    files: dict[str, str | bytes] = {}
    for phase in PHASES:
        public = f"public/{phase}/{TASK}"
        blind = {language: [_blind(item, ids) for item in read_paraphrases(phase, language)] for language in LANGUAGES}
        gold = {language: [_gold(item, ids) for item in read_paraphrases(phase, language)] for language in LANGUAGES}
        files[f"{public}/items.zip"] = _zipped(blind, "test.blind.json")
        files[f"{public}/template.zip"] = _zipped(_predictions(phase, ids, lambda item: ""), "test.system.json")
        if phase == "practice":
            files[f"{public}/gold.zip"] = _zipped(gold, "test.json")
        files |= {f"gold/{phase}/{TASK}/{language}/test.json": _as_json(rows) for language, rows in gold.items()}
        for name, system in SYSTEMS.items():
            rows = _predictions(phase, ids, system)
            files[f"submissions/{phase}/{TASK}/{name}.zip"] = _zipped(rows, "test.system.json")
    return files


def _ids() -> Mapping[str, str]:
    """By DataID, `en-48213`: the number comes from a hash, as for the other tasks."""
    items = [item for phase in PHASES for language in LANGUAGES for item in read_paraphrases(phase, language)]
    numbers = number_items(item.data_id for item in items)
    return {item.data_id: f"{item.language.lower()}-{numbers[item.data_id]}" for item in items}


def _blind(item: ParaphraseItem, ids: Mapping[str, str]) -> dict[str, Any]:
    return {"source_sent_id": ids[item.data_id], "raw_text": item.sentence}


def _gold(item: ParaphraseItem, ids: Mapping[str, str]) -> dict[str, Any]:
    return {
        "source_sent_id": ids[item.data_id],
        "text": item.marked,
        "raw_text": item.sentence,
        "MWE_type": item.mwe_type,
        "label": [f"Creative: {item.creative}", f"Minimal: {item.minimal}"],
    }


def _predictions(phase: str, ids: Mapping[str, str], paraphrase: Callable[[ParaphraseItem], str]) -> dict[str, Rows]:
    return {
        language: [
            {"source_sent_id": ids[item.data_id], "prediction": paraphrase(item)}
            for item in read_paraphrases(phase, language)
        ]
        for language in LANGUAGES
    }


def _as_json(rows: Rows) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _zipped(languages: Mapping[str, Rows], name: str) -> bytes:
    """`<LANG>/<name>` of every language; not compressed and without a date, so that the bytes are always the same."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for language, rows in languages.items():
            member = zipfile.ZipInfo(f"{language}/{name}")
            member.create_system, member.external_attr = 3, 0o100644 << 16
            archive.writestr(member, _as_json(rows))
    return content.getvalue()
