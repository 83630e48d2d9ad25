"""Reads the hand-written source (demo/source/*.yaml) into items and gives them their ids; writes nothing.

An item's number and its place in the files come from a hash of its DataID, so that neither says anything
about the label, and an item added at the end of its expression changes no other number.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

LANGUAGES = ("EN", "PT", "GL")
PHASES = ("practice", "evaluation")
SOURCE = Path(__file__).parent / "source"
SPAN = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An expression in its context: all that a detection system may see of an item."""

    language: str
    mwe: str
    previous: str
    target: str
    next: str


@dataclass(frozen=True, slots=True)
class DetectionItem:
    """One item of idiom detection; label 0 idiomatic, 1 literal or proper noun."""

    data_id: str
    occurrence: Occurrence
    label: int

    @property
    def language(self) -> str:
        return self.occurrence.language


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences and the expression of the first, if any: all that a similarity system may see."""

    language: str
    mwe: str | None
    sentence1: str
    sentence2: str


@dataclass(frozen=True, slots=True)
class SimilarityItem:
    """One item of idiom similarity.

    sim: the gold similarity; other: the DataID of the pair whose predicted similarity is the target instead.
    An item with neither is only such a target: it stands in the blind file and not in gold.
    """

    data_id: str
    pair: Pair
    sim: float | None = None
    other: str | None = None

    @property
    def language(self) -> str:
        return self.pair.language

    @property
    def in_gold(self) -> bool:
        return self.sim is not None or self.other is not None


AnyItem = TypeVar("AnyItem", DetectionItem, SimilarityItem)


@cache
def read_language(language: str, folder: Path = SOURCE) -> dict[str, Any]:
    """The parsed source of one language, to be read only: it is kept, since parsing takes longest here."""
    text = (folder / f"{language.lower()}.yaml").read_text(encoding="utf-8")
    source: dict[str, Any] = yaml.safe_load(text)
    if source["language"] != language:
        raise ValueError(f"{language.lower()}.yaml says that its language is {source['language']}")
    return source


def read_detection(phase: str, folder: Path = SOURCE) -> list[DetectionItem]:
    """The detection items of a phase, in the order of the source."""
    return [item for language in LANGUAGES for item in _detection(language, phase, "items", folder)]


def read_one_shot(folder: Path = SOURCE) -> list[DetectionItem]:
    """The labelled examples, one idiomatic and one literal, of every evaluation expression."""
    part = "train_one_shot"
    return [item for language in LANGUAGES for item in _detection(language, "evaluation", part, folder)]


def read_similarity(phase: str, folder: Path = SOURCE) -> list[SimilarityItem]:
    """The similarity items of a phase, in the order of the source."""
    items: list[SimilarityItem] = []
    for language in LANGUAGES:
        source = read_language(language, folder)
        items += _idiom_pairs(source["idiom_similarity"][phase], language, phase)
        items += _sts_pairs(source["sts"][phase], language, phase)
    return items


def number_items(data_ids: Iterable[str]) -> dict[str, int]:
    """A five-digit number for every DataID, all different."""
    numbers: dict[str, int] = {}
    taken: set[int] = set()
    for data_id in data_ids:
        number = next(candidate for candidate in _candidates(data_id) if candidate not in taken)
        taken.add(number)
        numbers[data_id] = number
    return numbers


def shuffled(items: Sequence[AnyItem]) -> list[AnyItem]:
    """The items by language, shuffled within each."""
    return sorted(items, key=lambda item: (LANGUAGES.index(item.language), digest(f"order {item.data_id}")))


def digest(text: str) -> int:
    """A number that follows from the text and says nothing about it."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _detection(language: str, phase: str, part: str, folder: Path) -> Iterator[DetectionItem]:
    name = phase if part == "items" else part
    for e, expression in enumerate(read_language(language, folder)["idiom_detection"][phase], start=1):
        for i, row in enumerate(expression[part], start=1):
            occurrence = Occurrence(language, expression["mwe"], row["previous"], row["target"], row["next"])
            _check_occurrence(occurrence, row["label"])
            yield DetectionItem(f"{name}.{language}.{e}.{i}", occurrence, row["label"])


def _check_occurrence(occurrence: Occurrence, label: object) -> None:
    if occurrence.mwe.casefold() not in occurrence.target.casefold():
        raise ValueError(f"{occurrence.mwe!r} does not occur in {occurrence.target!r}")
    if label not in (0, 1):
        raise ValueError(f"the label of {occurrence.target!r} is {label!r}, neither 0 nor 1")


def _idiom_pairs(expressions: Sequence[Any], language: str, phase: str) -> Iterator[SimilarityItem]:
    for e, expression in enumerate(expressions, start=1):
        for s, row in enumerate(expression["items"]):
            yield from _three_items(f"{phase}.{language}.{e}", 2 * s + 1, language, expression["mwe"], row)


def _three_items(prefix: str, i: int, language: str, mwe: str, row: Any) -> Iterator[SimilarityItem]:
    """(sentence, correct), (sentence, incorrect), and (correct, incorrect), the second's target."""
    if len(SPAN.findall(row["sentence"])) != 1:
        raise ValueError(f"not exactly one [span] in {row['sentence']!r}")
    sentence = SPAN.sub(r"\1", row["sentence"])
    correct = SPAN.sub(row["correct"], row["sentence"])
    incorrect = SPAN.sub(row["incorrect"], row["sentence"])
    if mwe.casefold() not in sentence.casefold():
        raise ValueError(f"{mwe!r} does not occur in {sentence!r}")
    target = f"{prefix}.{i + 1}.target"
    yield SimilarityItem(f"{prefix}.{i}", Pair(language, mwe, sentence, correct), sim=1.0)
    yield SimilarityItem(f"{prefix}.{i + 1}", Pair(language, mwe, sentence, incorrect), other=target)
    yield SimilarityItem(target, Pair(language, None, correct, incorrect))


def _sts_pairs(rows: Sequence[Any], language: str, phase: str) -> Iterator[SimilarityItem]:
    for i, row in enumerate(rows, start=1):
        if not 0 <= row["score"] <= 5:
            raise ValueError(f"the score of {row['sentence1']!r} is {row['score']!r}, not from 0 to 5")
        pair = Pair(language, None, row["sentence1"], row["sentence2"])
        yield SimilarityItem(f"{phase}.{language}.sts.{i}", pair, sim=row["score"] / 5)


def _candidates(data_id: str) -> Iterator[int]:
    attempt = 0
    while True:
        yield 10_000 + digest(f"id {data_id} {attempt}") % 90_000
        attempt += 1
