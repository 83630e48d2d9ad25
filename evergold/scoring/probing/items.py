"""Items of idiomaticity probing (the compared sentences and their compounds) and their blind file.

Blind file: `language,context,compound,probe,sentence,nc`; probe is `original` or one of the nine probes, nc marks the
compound among the sentence's whitespace tokens (`0 0 1 1 0`). Rows of one language and setting, in this order, are the
rows of an embeddings tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evergold.scoring.archives import read_single
from evergold.scoring.errors import InvalidItems, Problems, shorten
from evergold.scoring.probing.human_scores import HumanScores
from evergold.scoring.probing.measures import PROBES
from evergold.scoring.tables.reading import read_table
from evergold.scoring.tables.settings import listed, unfilled

#: The contexts of each setting: three naturalistic sentences per compound, one neutral sentence.
CONTEXTS: Mapping[str, tuple[str, ...]] = {"nat": ("nat1", "nat2", "nat3"), "neut": ("neut",)}
SETTINGS = tuple(CONTEXTS)
NC = "nc"
LEVELS = ("sent", NC)
ORIGINAL = "original"
ITEM_COLUMNS = ("language", "context", "compound", "probe", "sentence", "nc")
PREDICTION_COLUMNS = ("language", "context", "compound", "probe", "level", "sim")

SETTING_OF = {context: setting for setting, contexts in CONTEXTS.items() for context in contexts}

#: (context, compound, probe) of one row.
Row = tuple[str, str, str]
#: (language, setting) of a part of the items.
Part = tuple[str, str]


@dataclass(frozen=True)
class Items:
    """The items that a prediction covers.

    compounds: per (language, setting) the compounds that must be predicted, sorted.
    rows: the blind file's rows of each part in its order, for embeddings; empty if only the human scores are known.
    is_open: True if further compounds may be predicted, because a list of human scores does not show which compounds
    have none.
    """

    compounds: Mapping[Part, tuple[str, ...]]
    rows: Mapping[Part, tuple[Row, ...]] = field(default_factory=dict)
    is_open: bool = False

    def demands(self) -> dict[str, object]:
        """Return `language/setting/compound` of every compound that must be predicted.

        Empty if only human scores are known, since they do not determine the settings.
        """
        if self.is_open:
            return {}
        return {f"{'/'.join(part)}/{name}": None for part, names in self.compounds.items() for name in names}


def read_blind_items(path: Path, languages: Sequence[str]) -> Items:
    """Read the items of a blind file, of the given languages; raises InvalidItems with every problem."""
    problems = Problems()
    _, data = read_single(path, error=InvalidItems)
    table = read_table(data, ITEM_COLUMNS[:4], problems, others=True)
    rows: dict[Part, dict[Row, int]] = {}
    if table is not None:
        cells = zip(*(table[column] for column in ITEM_COLUMNS[:4]), strict=True)
        for line, (language, context, compound, probe) in zip(table.lines, cells, strict=True):
            if language in languages:
                _note_row(rows, line, language, (context, compound, probe), problems)
        if not rows and not problems.errors:
            problems.add("empty-file", f"there is no item in {', '.join(languages)}")
    found = {part: _complete(part, tuple(of_part), problems) for part, of_part in rows.items()}
    problems.raise_if_any(InvalidItems)
    return Items(found, {part: tuple(of_part) for part, of_part in rows.items()})


def _note_row(rows: dict[Part, dict[Row, int]], line: int, language: str, row: Row, problems: Problems) -> None:
    context, compound, probe = row
    if context not in SETTING_OF:
        problems.add("unknown-context", f"the context must be {', '.join(SETTING_OF)}", line=line, text=context)
    elif probe not in (ORIGINAL, *PROBES):
        message = f"the probe must be {ORIGINAL}, {', '.join(PROBES)}"
        problems.add("unknown-probe", message, line=line, text=probe)
    elif not compound.strip():
        problems.add("empty-cell", "the compound is empty", line=line, column="compound")
    else:
        before = rows.setdefault((language, SETTING_OF[context]), {}).setdefault(row, line)
        if before != line:
            message = f"{context}, {shorten(compound)}, {probe} appears twice, first on line {before}"
            problems.add("duplicate-row", message, line=line)


def _complete(part: Part, rows: Sequence[Row], problems: Problems) -> tuple[str, ...]:
    """Return the compounds of a part; report every one that lacks the original or a probe in a context."""
    compounds = sorted({compound for _, compound, _ in rows})
    have = set(rows)
    missing = [
        f"{context} {compound} {probe}"
        for compound in compounds
        for context in CONTEXTS[part[1]]
        for probe in (ORIGINAL, *PROBES)
        if (context, compound, probe) not in have
    ]
    if missing:
        problems.add("missing-row", f"{'/'.join(part)}: {len(missing)} rows are missing: {listed(missing)}")
    return tuple(compounds)


def items_of_scores(scores: HumanScores, languages: Sequence[str]) -> Items:
    """Return the items that a list of human scores demands: its compounds in both settings, and optionally others."""
    compounds = {
        language: tuple(sorted(compound for of, compound in scores if of == language)) for language in languages
    }
    return Items(
        {(language, setting): names for language, names in compounds.items() if names for setting in SETTINGS},
        is_open=True,
    )


def empty_predictions(items: Items, levels: Iterable[str]) -> str:
    """Return the CSV that teams fill in: every probe of every item at every level, the last column empty."""
    wanted = tuple(levels)
    rows = (
        (language, context, compound, probe, level, "")
        for (language, setting), compounds in items.compounds.items()
        for compound in compounds
        for context in CONTEXTS[setting]
        for probe in PROBES
        for level in wanted
    )
    return unfilled(PREDICTION_COLUMNS, rows)
