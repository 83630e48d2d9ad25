"""IMPORT.md: the result for each key of a bundle, open questions, and scores of the baselines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.competitions.confirmation import shown
from app.importers.bundles.notes import Fate, Note

_LINES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Compared:
    """A baseline scored during the import. scores: by metric, None if undefined; words: the reason if there are no
    scores.
    """

    phase: str
    task: str
    name: str
    scores: dict[str, float | None]
    words: str = ""

    @property
    def shown(self) -> str:
        """The scores in one line."""
        return ", ".join(f"{name} {shown(value)}" for name, value in self.scores.items()) or "none"


@dataclass(frozen=True, slots=True)
class Source:
    """The bundle: its name, sha256, main file and version."""

    name: str
    sha256: str
    main: str
    version: str


def report_text(title: str, source: Source, notes: Sequence[Note], compared: Sequence[Compared]) -> str:
    """Return the content of IMPORT.md."""
    parts = [
        f"# Import of {title}",
        f"From `{source.name}` (sha256 `{source.sha256}`), {source.version}. Lines are those of `{source.main}`. "
        "This file is only for you: no program reads it, and nobody else sees it.",
    ]
    parts += _section(
        "Open: you have to do something",
        "Nothing is open.",
        [one for one in notes if one.fate is Fate.OPEN],
    )
    parts += _baselines(compared)
    parts += _section(
        "Assumed: the bundle leaves it open",
        "Nothing was assumed.",
        [one for one in notes if one.fate is Fate.ASSUMED],
    )
    parts += _section(
        "No counterpart here",
        "Every key has a counterpart.",
        [one for one in notes if one.fate is Fate.NONE],
    )
    parts += _section("What became what", "Nothing.", [one for one in notes if one.fate is Fate.BECAME])
    return "\n\n".join(parts) + "\n"


def _section(title: str, empty: str, notes: Sequence[Note]) -> list[str]:
    if not notes:
        return [f"## {title}", empty]
    rows: dict[tuple[str, str], list[int]] = {}
    for note in notes:
        rows.setdefault((re.sub(r"\[[0-9]+\]", "[]", note.path), note.text), []).append(note.line)
    table = ["| key | line | |", "| --- | --- | --- |"]
    table += [f"| `{_cell(path)}` | {_lines(lines)} | {_cell(text)} |" for (path, text), lines in rows.items()]
    return [f"## {title}", "\n".join(table)]


def _baselines(compared: Sequence[Compared]) -> list[str]:
    if not compared:
        return ["## Baselines", "The bundle has no results to score: compare a submission of your own."]
    table = ["| phase | task | baseline | score here | score there |", "| --- | --- | --- | --- | --- |"]
    for one in compared:
        words = f"{one.shown}: {one.words}" if one.words else one.shown
        table.append(f"| {one.phase} | {one.task} | {_cell(one.name)} | {_cell(words)} | not in the bundle |")
    advice = (
        "That a program runs does not prove that its scores are right: compare each score with the board of the "
        "other system. If they are equal, confirm them under *Status* in the browser or with `evergold life "
        "confirm`; until then the competition stays a draft. Scores that you write under `scores` of a baseline are "
        "shown beside the new ones and must be equal."
    )
    return ["## Baselines", "\n".join(table), advice]


def _lines(lines: Iterable[int]) -> str:
    unique = sorted(set(lines))
    more = ", …" if len(unique) > _LINES_SHOWN else ""
    return ", ".join(map(str, unique[:_LINES_SHOWN])) + more


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
