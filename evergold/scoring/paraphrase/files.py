"""Files of PARSEME 2.0's paraphrasing task: gold and blind JSON by language. Predictions: `paraphrase.prediction`.

Gold items have `source_sent_id`, `text` (the MWE in `[[…]]`), `raw_text`, `label` (`["Creative: …", "Minimal: …"]`, one
may be missing) and optionally `MWE_type`; blind items `source_sent_id` and `raw_text`. Other keys are ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evergold.scoring.archives import begins_as_zip, read_single
from evergold.scoring.characters import find_invisible
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problems, quoted, shorten
from evergold.scoring.gold_values import note_names
from evergold.scoring.language_folders import find_folders, read_each, read_each_zipped, zipped_folders
from evergold.scoring.paraphrase.json_lists import Entry, kind_of, read_json_list
from evergold.scoring.paraphrase.removed import mwe_words, without_marks
from evergold.scoring.tables.row_problems import RowProblems

TEST, BLIND = "test.json", "test.blind.json"
ID, SENTENCE, MARKED, TYPE, LABEL = "source_sent_id", "raw_text", "text", "MWE_type", "label"
CREATIVE, MINIMAL = "creative", "minimal"


@dataclass(frozen=True, slots=True)
class GoldItem:
    """A sentence, the words of its MWE (see `removed.mwe_words`), and the two reference paraphrases."""

    id: str
    sentence: str
    mwe: tuple[str, ...]
    mwe_type: str | None
    creative: str
    minimal: str


@dataclass(frozen=True)
class GoldFile:
    """The gold of one language, in its file's order, and the sha256 of that file."""

    items: tuple[GoldItem, ...]
    sha256: str


@dataclass(frozen=True)
class BlindFile:
    """The items that a prediction of one language must cover: n ids and their sentences."""

    ids: tuple[str, ...]
    sentences: tuple[str, ...]

    @cached_property
    def sentence_of(self) -> Mapping[str, str]:
        """The sentence of every id."""
        return dict(zip(self.ids, self.sentences, strict=True))

    @cached_property
    def invisible(self) -> frozenset[str]:
        """The invisible characters in the sentences themselves."""
        return frozenset(character for _, character in find_invisible("\n".join(self.sentences)))


def read_gold_files(
    path: Path, wanted: Sequence[str] | None, single: str, types: Sequence[str]
) -> tuple[dict[str, GoldFile], bool]:
    """Read gold by language, and whether it is in folders: `<LANG>/test.json`, or one file, whose language is `single`.

    wanted: the languages that are required (None: all found); types: the allowed values of `MWE_type`. Raises
    InvalidGold with the problems of all files.
    """

    def read(language: str, data: bytes, name: str) -> GoldFile:
        return read_gold(data, types, name)

    if not path.is_dir():
        return {single: read(single, read_single(path, error=InvalidGold)[1], path.name)}, False
    return read_each(find_folders(path, wanted, (TEST,), InvalidGold), read, InvalidGold), True


def read_blind_files(path: Path, wanted: Sequence[str] | None, single: str) -> tuple[dict[str, BlindFile], bool]:
    """Read the items by language, and whether they are in folders; raises InvalidItems.

    From `<LANG>/test.blind.json` or, without it, test.json, like `read_gold_files`. A zip may hold such folders, as
    everybody downloads them.
    """

    def read(language: str, data: bytes, name: str) -> BlindFile:
        return read_blind(data, name)

    if path.is_dir():
        return read_each(find_folders(path, wanted, (BLIND, TEST), InvalidItems), read, InvalidItems), True
    zipped = zipped_folders(path, wanted, (BLIND, TEST), InvalidItems) if begins_as_zip(path) else {}
    if zipped:
        return read_each_zipped(path, zipped, read, InvalidItems), True
    return {single: read(single, read_single(path, error=InvalidItems)[1], path.name)}, False


def read_gold(data: bytes, types: Sequence[str], file: str | None = None) -> GoldFile:
    """Read the gold of one language; raises InvalidGold with every problem, by line."""
    reader = _Reader(file)
    items = []
    for entry in reader.entries(data, InvalidGold):
        marked, label, kind = reader.text(entry, MARKED), reader.labels(entry), entry.values.get(TYPE)
        mwe = mwe_words(marked or "")
        if marked is not None and not mwe:
            reader.note(entry, "no-mwe", f"{MARKED} marks no MWE with [[…]]")
        if kind is not None and kind not in types:
            message = f"{TYPE} is {quoted(str(kind))}; the types are {', '.join(types)}"
            reader.note(entry, "unknown-type", message)
        if id_ := reader.id_and_sentence(entry):
            items.append(GoldItem(*id_, mwe, kind, *label))
    reader.note_alike()
    reader.problems.raise_if_any(InvalidGold)
    return GoldFile(tuple(items), hashlib.sha256(data).hexdigest())


def read_blind(data: bytes, file: str | None = None) -> BlindFile:
    """Read the ids and sentences of one language, from the blind file or from gold; raises InvalidItems, by line."""
    reader = _Reader(file)
    found = [reader.id_and_sentence(entry) for entry in reader.entries(data, InvalidItems)]
    reader.note_alike()
    reader.problems.raise_if_any(InvalidItems)
    return blind([pair for pair in found if pair])


def blind(pairs: Sequence[tuple[str, str]]) -> BlindFile:
    """Return the items with these ids and sentences."""
    return BlindFile(tuple(id_ for id_, _ in pairs), tuple(sentence for _, sentence in pairs))


class _Reader:
    """Problems of an organiser's file, and the first occurrence of each id."""

    def __init__(self, file: str | None) -> None:
        self.problems, self.file = Problems(), file
        self._first: dict[str, Entry] = {}

    def entries(self, data: bytes, error: type[InvalidFile]) -> list[Entry]:
        """Return the objects of the file; raises `error` if it cannot be read to its end or has none."""
        entries = read_json_list(data, self.problems, self.file)
        if entries is not None and not entries and not self.problems.errors:
            self.problems.add("empty-file", "the list has no items", file=self.file)
        if not entries:
            self.problems.raise_if_any(error)
        return entries or []

    def id_and_sentence(self, entry: Entry) -> tuple[str, str] | None:
        """Return the id and the sentence of an object; None, with the problem reported, if one is missing or invalid.

        Marks (`[[…]]`) are removed: some published files have them.
        """
        id_, sentence = self.text(entry, ID), self.text(entry, SENTENCE)
        if id_ is None or sentence is None:
            return None
        if (first := self._first.setdefault(id_, entry)) is not entry:
            self.note(entry, "duplicate-id", f"id {shorten(id_)} appears twice, first {first.place}")
        return id_, without_marks(sentence) if "[[" in sentence else sentence

    def note_alike(self) -> None:
        """Report ids that look like an earlier one."""
        faults = RowProblems()
        note_names(((entry.line, id_) for id_, entry in self._first.items()), ID, faults)
        faults.report(self.problems, self.file)

    def labels(self, entry: Entry) -> tuple[str, str]:
        """Return the creative and the minimal reference; one that is missing or empty is replaced by the other."""
        label = entry.values.get(LABEL)
        named = [text.partition(":") for text in label if isinstance(text, str)] if isinstance(label, list) else []
        texts = {name.strip().lower(): reference.strip() for name, _, reference in named}
        if not isinstance(label, list) or len(texts) < len(label) or texts.keys() - {CREATIVE, MINIMAL}:
            self.note(entry, "wrong-label", f'{LABEL} must be a list ["Creative: …", "Minimal: …"], or one of the two')
            return "", ""
        creative, minimal = texts.get(CREATIVE, ""), texts.get(MINIMAL, "")
        if not creative and not minimal:
            self.note(entry, "no-reference", f"{LABEL} has no reference paraphrase")
        return creative or minimal, minimal or creative

    def text(self, entry: Entry, key: str) -> str | None:
        """Return the text under this key; None, with the problem reported, if there is none."""
        value: Any = entry.values.get(key)
        if key not in entry.values:
            self.note(entry, "missing-key", f"the key {key} is missing")
        elif not isinstance(value, str):
            self.note(entry, "not-a-text", f"{key} is {kind_of(value)}, not a text")
        elif not value.strip():
            self.note(entry, "empty-text", f"{key} is empty")
        else:
            return value
        return None

    def note(self, entry: Entry, code: str, message: str) -> None:
        """Report one problem of this object."""
        self.problems.add(code, message, file=self.file, line=entry.line, column=str(entry.column))
