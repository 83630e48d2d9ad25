"""Check predicted paraphrases against the blind file: every id once, a text for each, nothing invisible in it.

A prediction is a JSON list of `{"source_sent_id": …, "prediction": …}`, in any order.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from evergold.scoring.archives import Limits
from evergold.scoring.characters import LookAlikes, character_name, find_invisible
from evergold.scoring.errors import InvalidPrediction, Problems, Severity, quoted, shorten
from evergold.scoring.language_folders import read_submitted
from evergold.scoring.option_types import TOO_LONG, length_fault
from evergold.scoring.paraphrase.files import ID, BlindFile
from evergold.scoring.paraphrase.json_lists import Entry, kind_of, read_json_list

SYSTEM, PREDICTION = "test.system.json", "prediction"
#: Number of problems of one file that are reported in full, not counting missing ids.
PROBLEMS_PER_FILE = 50

_MIB = 1024 * 1024
_LIMITS = Limits(total_bytes=64 * _MIB, member_bytes=16 * _MIB)
_LINES_NAMED = 20
#: Marks around an MWE in published files.
MARKS: tuple[str, ...] = ("[[", "]]")
#: With its marks, a copied published sentence would count as one without its MWE.
_MARKS = "the prediction of {} contains [[ or ]], the marks of the blind file: write the sentence without them"
#: Harmless, but possibly not intended.
_NOTICED = {
    "unchanged": "the prediction is the sentence itself: its MWE is not removed, which scores 0",
    "empty": "the prediction is empty: by the official rule the MWE counts as removed, and the BERTScore is 0",
    "more-keys": f"only the keys {ID} and {PREDICTION} are read",
    "not-normalised": "letters and their marks are separate characters here and not in the sentence: write NFC",
}


def read_submission(
    path: Path, items: Mapping[str, BlindFile], *, in_folders: bool, max_characters: int
) -> tuple[dict[str, dict[str, str]], Problems]:
    """Return for every submitted language the paraphrase of every id, and the warnings; raises InvalidPrediction.

    path: a zip or folder `<LANG>/test.system.json`, or a JSON file if one language is expected.
    """
    problems = Problems()

    def read(language: str, data: bytes, file: str | None) -> dict[str, str]:
        return read_paraphrases(data, language, items, problems, max_characters, file)

    predicted = read_submitted(path, list(items), SYSTEM, read, problems, in_folders=in_folders, limits=_LIMITS)
    problems.raise_if_any(InvalidPrediction)
    return predicted, problems


def read_paraphrases(
    data: bytes,
    language: str,
    items: Mapping[str, BlindFile],
    problems: Problems,
    max_characters: int,
    file: str | None = None,
) -> dict[str, str]:
    """Return the paraphrase of every id of one language; everything wrong is added to `problems`.

    data: the file; items: of all languages, so that swapped files are recognised; max_characters: the maximum length of
    a paraphrase; file: its name for problems.
    """
    of_file = Problems(PROBLEMS_PER_FILE)
    entries = read_json_list(data, of_file, file)
    reader = _Reader(items[language], of_file, max_characters, file)
    if entries is not None and not reader.is_of_another_language(entries, language, items):
        for entry in entries:
            reader.read(entry)
        reader.note_warnings()
        _note_missing(items[language], reader.first, problems, file)
    problems.errors += of_file.errors
    problems.warnings += of_file.warnings
    problems.omitted += of_file.omitted
    return reader.texts


class _Reader:
    """The results of reading the file of one language so far."""

    def __init__(self, items: BlindFile, problems: Problems, max_characters: int, file: str | None) -> None:
        self.items, self.problems, self.max_characters, self.file = items, problems, max_characters, file
        self.texts: dict[str, str] = {}
        self.first: dict[str, Entry] = {}
        self._likely = LookAlikes(items.ids)
        self._noticed: dict[str, list[Entry]] = {kind: [] for kind in _NOTICED}

    def is_of_another_language(self, entries: Sequence[Entry], language: str, items: Mapping[str, BlindFile]) -> bool:
        """Return True if the file has ids, but none of this language's items; this is then reported as the only
        problem.
        """
        ids = {id_ for entry in entries if isinstance(id_ := entry.values.get(ID), str)}
        if not ids or ids & self.items.sentence_of.keys():
            return False
        other = max(items, key=lambda name: len(ids & items[name].sentence_of.keys()))
        theirs = ids & items[other].sentence_of.keys()
        hint = f"; {len(theirs)} are items of {other}" if theirs else ": is it a file for another phase or data set?"
        message = f"none of the {len(ids)} ids is an item of {language}{hint}"
        self.problems.add("wrong-file", message, file=self.file)
        return True

    def read(self, entry: Entry) -> None:
        """Read one object, or report its problem."""
        id_ = entry.values.get(ID)
        if not isinstance(id_, str):
            self._note(entry, *self._no_text(entry, ID))
            return
        if (first := self.first.setdefault(id_, entry)) is not entry:
            self._note(entry, "duplicate-id", f"id {shorten(id_)} appears twice, first {first.place}", id_)
        elif id_ not in self.items.sentence_of:
            hint = self._likely.hint(id_)
            self._note(entry, "unknown-id", f"id {shorten(id_)} is not an item of this language{hint}", id_)
        text = entry.values.get(PREDICTION)
        if not isinstance(text, str):
            self._note(entry, *self._no_text(entry, PREDICTION))
        elif fault := length_fault(text, self.max_characters, "prediction"):
            self._note(entry, TOO_LONG, fault, text)
        elif any(mark in text for mark in MARKS):
            self._note(entry, "marks", _MARKS.format(shorten(id_)), text)
        else:
            self._check_characters(entry, text)
            self._notice(entry, id_, text)
            self.texts[id_] = text

    def note_warnings(self) -> None:
        """Report harmless oddities once per kind, with the first lines."""
        for kind, entries in self._noticed.items():
            if entries:
                lines = sorted({entry.line for entry in entries})
                listed = ", ".join(map(str, lines[:_LINES_NAMED])) + (", …" if len(lines) > _LINES_NAMED else "")
                often = f" ({len(entries)} times, lines {listed})" if len(entries) > 1 else ""
                self._note(entries[0], kind, _NOTICED[kind] + often, severity="warning")

    def _no_text(self, entry: Entry, key: str) -> tuple[str, str]:
        if key in entry.values:
            return "not-a-text", f"{key} is {kind_of(entry.values[key])}, not a text"
        near = difflib.get_close_matches(key, entry.values, n=1)
        hint = f": is it called {quoted(near[0])} here?" if near else ""
        return "missing-key", f"the key {key} is missing{hint}"

    def _check_characters(self, entry: Entry, text: str) -> None:
        found = next(find_invisible(text, self.items.invisible), None)
        if found:
            place, character = found
            message = (
                f"character {place + 1} of the prediction is {character_name(character)}, an invisible character "
                "that no sentence of this language has: remove it"
            )
            self._note(entry, "invisible-character", message, text)

    def _notice(self, entry: Entry, id_: str, text: str) -> None:
        words, sentence = text.split(), self.items.sentence_of.get(id_, "")
        noticed = {
            "unchanged": bool(words) and words == sentence.split(),
            "empty": not words,
            "more-keys": len(entry.values) > 2,
            "not-normalised": unicodedata.is_normalized("NFC", sentence) and not unicodedata.is_normalized("NFC", text),
        }
        for kind, applies in noticed.items():
            if applies:
                self._noticed[kind].append(entry)

    def _note(
        self, entry: Entry, code: str, message: str, text: str | None = None, severity: Severity = "error"
    ) -> None:
        line, column = entry.line, str(entry.column)
        self.problems.add(code, message, file=self.file, line=line, column=column, text=text, severity=severity)


def _note_missing(items: BlindFile, found: Mapping[str, Entry], problems: Problems, file: str | None) -> None:
    """List all missing ids: a team that repairs its file needs every one of them."""
    missing = [id_ for id_ in items.ids if id_ not in found]
    if missing:
        listed = "; ".join(missing)
        message = f"{len(missing)} of {len(items.ids)} items are missing: {listed}"
        problems.add("missing-id", message, file=file)
