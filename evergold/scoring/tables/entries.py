"""Read predictions with settings: rows `ID,Language,Setting,<value>`, each item once per setting, in any order.

A setting is either filled completely, in all languages, or not entered (all its values are empty, or its rows absent).
Anything else is a problem, reported by line. This module knows only the items, so that no problem can reveal gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evergold.scoring.archives import read_single
from evergold.scoring.characters import LookAlikes, folded
from evergold.scoring.errors import InvalidPrediction, Problem, Problems, quoted, shorten
from evergold.scoring.slips import id_fault
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.tables.row_problems import LINES_NAMED, Fault, note_faults
from evergold.scoring.tables.settings import Items, Prediction, listed

#: A file is the wrong one if at least this share of ids, and at least this many, are unknown or in another language.
_FOREIGN_SHARE, _FOREIGN_AT_LEAST = 0.25, 20


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """The last column of a prediction file.

    parse(text): the value, None if the text is not valid (never called with an empty text). explain(text): a sentence
    for people on why a text is invalid.
    dtype: of the values' array.
    other_task: the name of the sister task and the value column of its files, to recognise a file sent to the wrong
    one. parse_all(texts): optional, the values of all texts where computing them at once is faster; None if one text is
    invalid.
    """

    name: str
    dtype: type[np.generic]
    parse: Callable[[str], float | None]
    explain: Callable[[str], str]
    other_task: tuple[str, str]
    parse_all: Callable[[Sequence[str]], Sequence[float] | None] | None = None


def read_entries(
    path: Path, items: Items, settings: Sequence[str], column: ValueColumn, optional: Sequence[str] = ()
) -> Prediction:
    """Read the prediction in a file, or in a zip of only this file; raises InvalidPrediction with every problem.

    optional: further columns that the file may have; they are ignored.
    """
    _, data = read_single(path)
    _refuse_other_task(data, column)
    problems = Problems()
    table = read_table(data, ["ID", "Language", "Setting", column.name], problems, optional=optional)
    if table is None:
        raise InvalidPrediction(problems.errors, problems.omitted)
    rows = _place_rows(table, items, settings, problems)
    values = {
        setting: _read_values(setting, rows[setting], table, items, column, problems) if setting in rows else None
        for setting in settings
    }
    if not problems.errors and all(value is None for value in values.values()):
        message = f"every {column.name} is empty: fill it for at least one of the settings {', '.join(settings)}"
        problems.add("nothing-entered", message, column=column.name)
    problems.raise_if_any()
    return Prediction(items, values, tuple(problems.warnings))


def _refuse_other_task(data: bytes, column: ValueColumn) -> None:
    header = data[:1000].partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r ").replace('"', "").split(",")
    task, value_column = column.other_task
    if value_column in header and column.name not in header:
        message = f"this looks like a file for {task}: it has a column {value_column} where {column.name} is expected"
        raise InvalidPrediction([Problem("wrong-task", message, line=1, column=value_column)])


def _place_rows(table: Table, items: Items, settings: Sequence[str], problems: Problems) -> dict[str, list[int]]:
    """Return, for each setting, the row number of every item, -1 for an item without a row; {} if the file is about
    other items.
    """
    if (sound := _sound_places(table, items, settings)) is not None:
        return sound
    placed = {setting: [-1] * len(items.ids) for setting in settings}
    position, languages = items.position, items.languages
    unknown: list[int] = []
    mismatched: list[int] = []
    repeated: list[tuple[int, int]] = []
    unknown_settings: dict[str, list[int]] = {}
    rows = zip(table["ID"], table["Language"], table["Setting"], strict=True)
    for row, (id_, language, setting) in enumerate(rows):
        place = position.get(id_)
        if place is None:
            unknown.append(row)
            continue
        if language != languages[place]:
            mismatched.append(row)
        if setting not in placed:
            unknown_settings.setdefault(setting, []).append(row)
        elif (before := placed[setting][place]) >= 0:
            repeated.append((row, before))
        else:
            placed[setting][place] = row
    if _note_wrong_file(table, items, unknown, mismatched, problems):
        return {}
    _note_unknown_ids(table, items, unknown, problems)
    _note_languages(table, items, mismatched, problems)
    _note_settings(table, settings, unknown_settings, problems)
    _note_repeated(table, repeated, problems)
    return placed


def _sound_places(table: Table, items: Items, settings: Sequence[str]) -> dict[str, list[int]] | None:
    """Return the result of `_place_rows` if no row has a fault; else None."""
    setting_numbers = {setting: number for number, setting in enumerate(settings)}
    try:
        places = list(map(items.position.__getitem__, table["ID"]))
        numbers = list(map(setting_numbers.__getitem__, table["Setting"]))
    except KeyError:
        return None
    rows = np.full((len(settings), len(items.ids)), -1)
    rows[numbers, places] = np.arange(len(places))
    # A repeated row has overwritten the first.
    if np.count_nonzero(rows >= 0) < len(places):
        return None
    if tuple(map(items.languages.__getitem__, places)) != tuple(table["Language"]):
        return None
    return dict(zip(settings, rows.tolist(), strict=True))


def _note_wrong_file(
    table: Table, items: Items, unknown: Sequence[int], mismatched: Sequence[int], problems: Problems
) -> bool:
    """Report one problem instead of thousands if most of the file is about other items; return True if it is."""
    known = set(map(folded, items.ids)) if unknown else set()
    strangers = [
        row for row in unknown if _rewritten(table["ID"][row], items) is None and folded(table["ID"][row]) not in known
    ]
    moved = [row for row in mismatched if table["Language"][row].casefold() != _language(table, items, row).casefold()]
    foreign = len(strangers) + len(moved)
    if foreign < max(_FOREIGN_AT_LEAST, _FOREIGN_SHARE * len(table)):
        return False
    row = (strangers or moved)[0]
    found = [
        f"{len(strangers)} have an id that is unknown here" if strangers else "",
        f"{len(moved)} have the id of an item that is in another language" if moved else "",
    ]
    message = (
        f"this looks like a file for another phase or task: of its {len(table)} rows "
        f"{' and '.join(part for part in found if part)}, first id {shorten(table['ID'][row])}"
    )
    problems.add("wrong-phase", message, line=table.lines[row], column="ID", text=table["ID"][row])
    return True


def _rewritten(id_: str, items: Items) -> str | None:
    """Return the intended id if a spreadsheet or pandas changed its spelling (`3652.0`, ` 3652`), else None."""
    plain = id_.strip().removesuffix(".0")
    return next((meant for meant in (plain, plain.lstrip("0")) if meant in items.position), None)


def _language(table: Table, items: Items, row: int) -> str:
    return items.languages[items.position[table["ID"][row]]]


def _note_unknown_ids(table: Table, items: Items, rows: Sequence[int], problems: Problems) -> None:
    likely = LookAlikes(items.ids)

    def message(row: int) -> str:
        id_ = table["ID"][row]
        if meant := _rewritten(id_, items):
            return f"id {quoted(id_)} must be written {meant!r}"
        if not id_.strip():
            return id_fault(id_) or ""
        return f"id {shorten(id_)} is not an item of this phase{likely.hint(id_)}"

    _note_each("unknown-id", message, "ID", table, rows, problems)


def _note_languages(table: Table, items: Items, rows: Sequence[int], problems: Problems) -> None:
    def message(row: int) -> str:
        return (
            f"item {shorten(table['ID'][row])} has the language {_language(table, items, row)}, "
            f"not {quoted(table['Language'][row])}"
        )

    _note_each("wrong-language", message, "Language", table, rows, problems)


def _note_settings(
    table: Table, settings: Sequence[str], rows_by_name: dict[str, list[int]], problems: Problems
) -> None:
    for name, rows in list(rows_by_name.items())[:LINES_NAMED]:
        count = "" if len(rows) == 1 else f" ({len(rows)} rows, this is the first)"
        message = f"the setting {quoted(name)} is unknown, it must be {' or '.join(settings)}{count}"
        problems.add("unknown-setting", message, line=table.lines[rows[0]], column="Setting", text=name)


def _note_repeated(table: Table, pairs: Sequence[tuple[int, int]], problems: Problems) -> None:
    first = dict(pairs)

    def message(row: int) -> str:
        id_, setting = table["ID"][row], table["Setting"][row]
        return f"id {shorten(id_)} appears twice for {setting}, first on line {table.lines[first[row]]}"

    _note_each("duplicate-id", message, "ID", table, list(first), problems)


def _note_each(
    code: str, message: Callable[[int], str], column: str, table: Table, rows: Sequence[int], problems: Problems
) -> None:
    texts = table[column]
    note_faults(code, column, rows, lambda row: Fault(table.lines[row], message(row), texts[row]), problems)


def _read_values(
    setting: str, rows: Sequence[int], table: Table, items: Items, column: ValueColumn, problems: Problems
) -> npt.NDArray[Any] | None:
    """Return the values of one setting in items' order; None if it was not entered or has (reported) problems."""
    texts, parse = table[column.name], column.parse
    entered = min(rows, default=-1) >= 0
    written = list(map(texts.__getitem__, rows)) if entered else [texts[row] if row >= 0 else "" for row in rows]
    if not any(written):
        return None
    if column.parse_all and (parsed := column.parse_all(written)) is not None:
        return np.array(parsed, dtype=column.dtype)
    values = [parse(text) if text else None for text in written]
    if None not in values:
        return np.array(values, dtype=column.dtype)
    wrong = [row for row, text, value in zip(rows, written, values, strict=True) if text and value is None]
    _note_each("bad-value", lambda row: column.explain(texts[row]), column.name, table, sorted(wrong), problems)
    _note_unfilled(setting, rows, written, table, items, column, problems)
    return None


def _note_unfilled(
    setting: str,
    rows: Sequence[int],
    written: Sequence[str],
    table: Table,
    items: Items,
    column: ValueColumn,
    problems: Problems,
) -> None:
    """Report, for a partly filled setting, the languages that it lacks altogether, the ids without a row, and the rows
    without a value.
    """
    empty = [place for place, text in enumerate(written) if not text]
    whole = sorted({items.languages[p] for p in empty} - {items.languages[p] for p, t in enumerate(written) if t})
    languages = ", ".join(sorted(set(items.languages)))
    rule = f"fill in the columns of a setting for all items in all languages ({languages}), or for none"
    for language in whole:
        count = _counted(items.languages.count(language), "item")
        message = f"{setting} has no {column.name} for {language} ({count}): {rule}"
        problems.add("missing-language", message, column=column.name)
    rest = [place for place in empty if items.languages[place] not in whole]
    absent = [place for place in rest if rows[place] < 0]
    if len(absent) > table.skipped_rows:
        total = _counted(len(items.ids), "item")
        ids = listed([items.ids[place] for place in absent])
        verb = "is" if len(absent) == 1 else "are"
        message = f"{setting}: {len(absent)} of {total} {verb} missing ({_languages_of(absent, items)}): {ids}"
        problems.add("missing-id", message, column="ID")
    blank = [place for place in rest if rows[place] >= 0]
    if blank:
        lines = sorted(table.lines[rows[place]] for place in blank)
        count = f"{len(blank)} of {len(items.ids)} empty ({_by_language(blank, items)})"
        message = f"{setting} is half-filled, {count}, on line {listed([str(line) for line in lines])}: {rule}"
        problems.add("empty-value", message, line=lines[0], column=column.name)


def _by_language(places: Sequence[int], items: Items) -> str:
    counts = Counter(items.languages[place] for place in places)
    return ", ".join(f"{language} {count}" for language, count in sorted(counts.items()))


def _languages_of(places: Sequence[int], items: Items) -> str:
    """Describe the languages of some items: `EN 12, PT 2`; `all EN` if they have the same language; `EN` for a single
    item.
    """
    first = items.languages[places[0]]
    if any(items.languages[place] != first for place in places):
        return _by_language(places, items)
    return first if len(places) == 1 else f"all {first}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
