"""Read predictions of idiomaticity probing: similarities as CSV, or embeddings, from which the cosines are computed.

The prediction for a language, setting and level is complete or absent (no rows, empty values, no tensor); an absent
split is not entered. Only items are known here, so that no problem can reveal the human scores.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evergold.scoring.archives import LIMITS, Limits, read_single
from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import Problem, Problems, quoted, shorten
from evergold.scoring.numerals import finite_number
from evergold.scoring.probing.embeddings import is_embeddings, read_embeddings
from evergold.scoring.probing.items import CONTEXTS, ORIGINAL, PREDICTION_COLUMNS, SETTING_OF, Items, Part, Row
from evergold.scoring.probing.measures import PROBES, Floats, cosines
from evergold.scoring.slips import number_hint
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import listed

STANDARDISED = "standardised"
#: A cosine computed in single precision may leave [-1, 1] by this much.
ROUNDING = 1e-6
# Embeddings are large and hardly compressible; a file of similarities does not exceed this ratio either.
_LIMITS = Limits(member_bytes=512 * 1024 * 1024, total_bytes=512 * 1024 * 1024, ratio=50)

#: language/setting/level, as in the name of a split.
Split = str


@dataclass(frozen=True, slots=True)
class Similarities:
    """One split of a prediction.

    values: compounds × contexts × probes, in the orders of `compounds`, `CONTEXTS` and `PROBES`; NaN only where
    standardising left a zero vector.
    """

    compounds: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class Prediction:
    """A checked prediction: the splits that were entered, for embeddings with their `…/standardised` variants."""

    splits: Mapping[Split, Similarities]
    from_embeddings: bool = False
    warnings: tuple[Problem, ...] = ()


def read_probing_prediction(path: Path, items: Items, levels: Sequence[str], standardise: bool) -> Prediction:
    """Read the prediction in a file (or a zip with only this file); raises InvalidPrediction with every problem.

    levels: the levels of the task; standardise: True if embeddings yield the standardised variant, too.
    """
    problems = Problems()
    _refuse_larger(path.stat().st_size, _LIMITS.member_bytes, problems)
    _, data = read_single(path, _LIMITS, npz=True)
    if embedded := is_embeddings(data):
        splits = _read_tensors(data, items, levels, standardise, problems)
    else:
        _refuse_larger(len(data), LIMITS.member_bytes, problems)
        splits = _read_csv(data, items, levels, problems)
    if not splits and not problems.errors:
        problems.add("nothing-entered", "nothing is predicted: fill at least one language, setting and level")
    problems.raise_if_any()
    return Prediction(splits, embedded, tuple(problems.warnings))


def _refuse_larger(size_bytes: int, limit_bytes: int, problems: Problems) -> None:
    if size_bytes > limit_bytes:
        message = f"the file has {size_bytes:,} bytes, at most {limit_bytes:,} are read"
        problems.add("file-too-large", message)
        problems.raise_if_any()


# CSV

_Key = tuple[str, str, str, str]  # language, setting, level, compound
_Cell = tuple[str, str]  # context, probe


def _read_csv(data: bytes, items: Items, levels: Sequence[str], problems: Problems) -> dict[Split, Similarities]:
    table = read_table(data, PREDICTION_COLUMNS, problems)
    if table is None:
        return {}
    faults = RowProblems()
    found, first = _place_rows(table, items, levels, faults)
    if items.is_open:
        _note_misspelt(items, found, first, faults)
    faults.report(problems)
    splits: dict[Split, Similarities] = {}
    for part, required in items.compounds.items():
        for level in levels:
            of_split = {key[3]: cells for key, cells in found.items() if key[:3] == (*part, level)}
            if any(value is not None for cells in of_split.values() for value in cells.values()):
                compounds = tuple(sorted({*required, *of_split}))
                split = "/".join((*part, level))
                if not table.skipped_rows and not faults.kinds:
                    _note_missing(split, part[1], compounds, of_split, problems)
                if not problems.errors:
                    splits[split] = Similarities(compounds, _as_array(part[1], compounds, of_split))
    return splits


def _place_rows(
    table: Table, items: Items, levels: Sequence[str], faults: RowProblems
) -> tuple[dict[_Key, dict[_Cell, float | None]], dict[_Key, int]]:
    """Return the value of every row that can be placed, None where it is empty, and the first line of each compound.

    Rows that cannot be placed are reported.
    """
    known = {part: frozenset(compounds) for part, compounds in items.compounds.items()}
    found: dict[_Key, dict[_Cell, float | None]] = {}
    first: dict[tuple[_Key, _Cell], int] = {}
    cells = zip(*(table[column] for column in PREDICTION_COLUMNS), strict=True)
    for line, (language, context, compound, probe, level, sim) in zip(table.lines, cells, strict=True):
        fault = _misplaced(language, context, compound, probe, level, known, levels, items.is_open)
        if fault:
            column, message, text = fault
            faults.add(f"unknown-{column}", message, line, column, text)
            continue
        key, cell = (language, SETTING_OF[context], level, compound), (context, probe)
        if (before := first.setdefault((key, cell), line)) != line:
            message = f"{_described(context, compound, probe)} at level {level} appears twice, first on line {before}"
            faults.add("duplicate-row", message, line, "compound", compound)
            continue
        value = _cosine(sim) if sim else None
        if sim and value is None:
            hint = number_hint(sim) or "a number between -1 and 1"
            faults.add("bad-value", f"{quoted(sim)} is not a cosine: {hint}", line, "sim", sim)
        found.setdefault(key, {})[cell] = value
    lines: dict[_Key, int] = {}
    for (key, _), line in first.items():
        lines.setdefault(key, line)
    return found, lines


def _note_misspelt(
    items: Items, found: Mapping[_Key, Mapping[_Cell, float | None]], lines: Mapping[_Key, int], faults: RowProblems
) -> None:
    """Report a compound without a human score whose name nearly matches a compound without rows.

    Other further compounds may be predicted if only human scores are known.
    """
    for part, required in items.compounds.items():
        for level in dict.fromkeys(key[2] for key in found if key[:2] == part):
            given = {key[3] for key in found if key[:3] == (*part, level)}
            missing = sorted({*required} - given)
            for compound in sorted(given - {*required}):
                if near := difflib.get_close_matches(compound, missing, n=1, cutoff=0.8):
                    message = f"{quoted(compound)} has no human score, and {near[0]!r} has no rows: is it misspelt?"
                    faults.add("unknown-compound", message, lines[(*part, level, compound)], "compound", compound)


def _misplaced(
    language: str,
    context: str,
    compound: str,
    probe: str,
    level: str,
    known: Mapping[Part, frozenset[str]],
    levels: Sequence[str],
    is_open: bool,
) -> tuple[str, str, str] | None:
    """Return the column of a row that is wrong, its fault, and its text; None for a row that can be placed."""
    languages = dict.fromkeys(of for of, _ in known)
    if language not in languages:
        return "language", f"the language must be {' or '.join(languages)}", language
    if context not in SETTING_OF:
        return "context", f"the context must be {', '.join(SETTING_OF)}", context
    if probe not in PROBES:
        return "probe", f"the probe must be {', '.join(PROBES)}", probe
    if level not in levels:
        return "level", f"the level must be {' or '.join(levels)}", level
    compounds = known.get((language, SETTING_OF[context]))
    if compounds is None:
        return "context", f"there are no items in {language} with the context {context}", context
    if compound not in compounds and not (is_open and compound.strip()):
        hint = LookAlikes(sorted(compounds)).hint(compound)
        return "compound", f"{quoted(compound)} is not a compound of the {language} items{hint}", compound
    return None


def _cosine(text: str) -> float | None:
    value = finite_number(text)
    return value if value is not None and abs(value) <= 1 + ROUNDING else None


def _note_missing(
    split: Split,
    setting: str,
    compounds: Sequence[str],
    found: Mapping[str, Mapping[_Cell, float | None]],
    problems: Problems,
) -> None:
    missing = [
        _described(context, compound, probe)
        for compound in compounds
        for context in CONTEXTS[setting]
        for probe in PROBES
        if found.get(compound, {}).get((context, probe)) is None
    ]
    if missing:
        whole = len(compounds) * len(CONTEXTS[setting]) * len(PROBES)
        message = (
            f"{split} is half-filled, {len(missing)} of {whole} similarities are missing or empty: {listed(missing)}; "
            "a language, setting and level is filled completely, or left out"
        )
        problems.add("missing-row", message)


def _described(context: str, compound: str, probe: str) -> str:
    return f"{context} {shorten(compound)} {probe}"


def _as_array(setting: str, compounds: Sequence[str], found: Mapping[str, Mapping[_Cell, float | None]]) -> Floats:
    return np.array(
        [
            [[found[compound][context, probe] for probe in PROBES] for context in CONTEXTS[setting]]
            for compound in compounds
        ],
        dtype=np.float64,
    )


# Embeddings


def _read_tensors(
    data: bytes, items: Items, levels: Sequence[str], standardise: bool, problems: Problems
) -> dict[Split, Similarities]:
    if not items.rows:
        _note_no_items(data, problems)
        return {}
    parts = {"/".join((*part, level)): part for part in items.rows for level in levels}
    splits: dict[Split, Similarities] = {}
    rows = {split: len(items.rows[part]) for split, part in parts.items()}
    for split, vectors in read_embeddings(data, rows, problems):
        part = parts[split]
        compounds = items.compounds[part]
        left, right = _pairs(part[1], compounds, items.rows[part])
        shape = len(compounds), len(CONTEXTS[part[1]]), len(PROBES)
        splits[split] = Similarities(compounds, cosines(vectors, left, right).reshape(shape))
        if standardise:
            found = cosines(vectors, left, right, standardised=True).reshape(shape)
            splits[f"{split}/{STANDARDISED}"] = Similarities(compounds, found)
    return splits


def _note_no_items(data: bytes, problems: Problems) -> None:
    """Report that nothing can be placed, and the faults of the file that do not depend on the items."""
    message = "embeddings need the items file, whose rows they follow; without it send similarities as CSV"
    problems.add("no-items", message)
    found = Problems()
    list(read_embeddings(data, {}, found))
    problems.errors += [problem for problem in found.errors if problem.code != "unknown-tensor"]


def _pairs(setting: str, compounds: Sequence[str], rows: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Return the row numbers of each original and its probe, in the order compounds, contexts, probes."""
    place = {row: number for number, row in enumerate(rows)}
    left: list[int] = []
    right: list[int] = []
    for compound in compounds:
        for context in CONTEXTS[setting]:
            left += [place[context, compound, ORIGINAL]] * len(PROBES)
            right += [place[context, compound, probe] for probe in PROBES]
    return left, right
