"""NCIMP, idiomaticity probing: from a checkout of the authors' repository to items, template and gold.

He et al. 2025; repository risehnhew/Finding-Idiomaticity-in-Word-Representations, folder `dataset`. If the checkout
lacks all naturalistic or all neutral sentences of a language, they are omitted; if it lacks some of them, that is an
error. The human scores are a spreadsheet, which openpyxl reads (`evergold[metrics]`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.declarations.historic import COLUMNS, REQUIRED, SAID_COLUMNS, results_of
from app.importers.baselines import BaselineRequest, add_baselines
from app.importers.writing import (
    EVERYTHING,
    Inline,
    published_text,
    read_columns,
    refuse_existing,
    write_csv,
    write_text,
    yaml_text,
)
from evergold.scoring.errors import InvalidFile, Problems, shorten
from evergold.scoring.probing.human_scores import CSV_COLUMNS, read_human_scores
from evergold.scoring.probing.items import ITEM_COLUMNS, LEVELS, ORIGINAL, SETTING_OF
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

HEADER = (*COLUMNS, *SAID_COLUMNS)
PUBLISHED = "published_ncimp.csv"

#: Columns as in HEADER.
HistoricRow = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishedValues:
    """Values from the paper's tables. rows: by the split of their board; without_board: count of the others by name."""

    rows: Mapping[str, Sequence[HistoricRow]]
    without_board: Mapping[str, int]

    @property
    def words(self) -> str:
        """A sentence with the number of values, and the names of those without a board."""
        shown, others = sum(map(len, self.rows.values())), sum(self.without_board.values())
        if not others:
            return f"All {shown:,} published values are on the boards."
        named = "; ".join(f"{name} ({count:,})" for name, count in sorted(self.without_board.items()))
        return (
            f"{shown:,} of {shown + others:,} published values are on the boards. The others have none here: {named}."
        )


def published_values(data: bytes, splits: Iterable[str]) -> PublishedValues:
    """Return the values of the paper's tables from a CSV with the columns of published results; other columns are
    ignored.

    Values within a class and standardised ones belong to their own splits, and are on the pages of their rows. splits:
    those with boards. Raises InvalidFile with all invalid values.
    """
    task, problems = get_task(TASK_TYPE), Problems()
    offered = task.columns(read_options(task, OPTIONS))
    table = read_table(data, REQUIRED, problems, optional=HEADER, others=True)
    if table is None:
        raise InvalidFile(problems.errors, problems.omitted)
    names, boards, without = {(one.metric, one.split) for one in offered}, set(splits), Counter[str]()
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, score in enumerate(zip(table["metric"], table["split"], strict=True)):
        metric, split = (cell.strip() for cell in score)
        board = "/".join(split.split("/")[:3])
        if (metric, split) not in names:
            without[f"{shorten(metric)} {shorten(split)}"] += 1
        elif board not in boards:
            without[board] += 1
        else:
            places[board].append(place)
    rows = {}
    for board, those in places.items():
        columns: dict[str, Sequence[str]] = {
            name: [table[name][place].strip() for place in those] for name in HEADER if name in table.columns
        }
        results_of(Table([table.lines[place] for place in those], columns), task, offered, problems)
        empty = [""] * len(those)
        rows[board] = list(zip(*(columns.get(name, empty) for name in HEADER), strict=True))
    problems.raise_if_any(InvalidFile)
    return PublishedValues(rows, without)


COMMENT = """\
NCIMP, imported from the authors' repository. Yours to edit; docs/phases-yaml.md explains every key. A board's first
column ranks it.
"""

LACKING = """\

Not in this folder, so that nothing can be scored there, and boards have published results alone: {lacking}.
"""

PAPER = "He et al. (2025), Computational Linguistics, tables 2, 3, 5, 6 and 10 to 13, as printed"
#: The source of results in a file that the user provides.
GIVEN = "He et al. (2025), as printed"

DESCRIPTION = """\
A *wet blanket* is a spoilsport, a *police car* a car of the police. Do a model's vectors of noun compounds know the
difference? Each compound stands in sentences, naturalistic ones (*nat*, three for each compound) or a neutral one
(*neut*, "This is a …"), and is replaced by probes: a synonym of the whole, its head or its modifier alone, a synonym of
each word, five random compounds of like frequency. What a representation keeps of the meaning shows in how similar the
original and the probed text are to it, for the sentence (`sent`) and for the compound in it (`nc`).

**Licence**: the data are those of the repository risehnhew/Finding-Idiomaticity-in-Word-Representations, and belong to
its authors: see there. If you use them, please cite Wei He et al. (2025): *Investigating Idiomaticity in Word
Representations*. In: Computational Linguistics.
"""

TASK = """\
How similar are the original and every probe of it, to your model? Any model that gives vectors can be asked;
`evergold probe --model MODEL --items items.csv --into mine.npz` asks one of Hugging Face, or word vectors, on your own
machine, and writes a file that is valid here.

**Items** (`items.csv`): `language,context,compound,probe,sentence,nc`; `nc` marks the words of the compound. **Your
file**: CSV with the cosines,

```csv
language,context,compound,probe,level,sim
en,neut,acid test,syn,sent,0.9134
```

each probe at both levels (`template.csv` is ready to be filled in), or the vectors themselves: `.npz` or `.safetensors`
with a tensor `<language>/<setting>/<level>` such as `en/neut/sent`, one row for each row of the items of that language
and setting. A language, setting and level may be left out.

**Score**: similarities (`sim_…`), affinities (is the synonym nearer than a random compound? 1 is ideal) and scaled
similarities, each the mean over compounds, and its rank correlation (`…_rho`) with how compositional people find them.
"""

BOARD = """\
Each measure has three numbers: its mean over the compounds, its standard deviation (sd), and Spearman's ρ with how
compositional people find the compounds. Published correlations are those that the paper prints; where it has a dash
(p ≥ 0.05) there is none. As printed: in its table 11 the row PRand repeats PWordsSyn for some models in Portuguese,
naturalistic contexts.
"""

NOT_SCORED = """\
The sentences are not in the folder from which this competition was made: nothing is scored here, and published results
stand alone.
"""

_SETTINGS = {"nat": "naturalistic sentences", "neut": "the neutral sentence"}
_LANGUAGES = {"en": "English", "pt": "Portuguese"}


def lacking(parts: Iterable[tuple[str, str]], languages: Sequence[str]) -> list[str]:
    """Return what a folder with these (language, setting) pairs lacks, in words."""
    have = set(parts)
    return [
        f"{_LANGUAGES[language]}, {title}"
        for language in languages
        for setting, title in _SETTINGS.items()
        if (language, setting) not in have
    ]


def comment(parts: Iterable[tuple[str, str]], languages: Sequence[str]) -> str:
    """Return the comment at the top of competition.yaml, which lists what the folder lacks.

    parts: its (language, setting) pairs.
    """
    missing = lacking(parts, languages)
    return COMMENT + (LACKING.format(lacking="; ".join(missing)) if missing else "")


NAME = "ncimp"
PHASE = "open"
GOLD = f"{NAME}/human_scores.csv"
ITEMS, TEMPLATE = "public/open/items.csv", "public/open/template.csv"
#: Embeddings of all sentences in half precision are larger than a CSV file.
UPLOAD_BYTES = 256 * 1024 * 1024
#: Columns of boards, the mean, sd and rho of each; the first one ranks.
_BOARD_MEASURES = (
    "affinity_syn_rand",
    "affinity_syn_wordssyn",
    "simr_syn",
    "simr_wordssyn",
    "sim_syn",
    "sim_comp",
    "sim_wordssyn",
    "sim_rand",
)
BOARD_METRICS = tuple(f"{measure}{part}" for part in ("", "_sd", "_rho") for measure in _BOARD_MEASURES)
TASK_TYPE = "idiomaticity-probing"
#: Choice of head or modifier as in the authors' code.
OPTIONS = {"component": "nc-level"}
LANGUAGES = ("en", "pt")
HUMAN_SCORES = "dataset/human_compositionality scores.xlsx"

#: File of each context in a language.
FILES = {
    "nat": {f"nat{n}": f"naturalistics_examplesent{n}.csv" for n in (1, 2, 3)},
    "neut": {"neut": "neutral.csv"},
}
#: Column of each probe; a column `…_tag` next to it marks the compound.
PROBE_COLUMNS = {
    "syn": "synonym for compound",
    "head": "original head only",
    "modifier": "original modifier only",
    "wordssyn": "synonym both",
    **{f"rand{n}": f"nc rand freq sentence{n}" for n in range(1, 6)},
}
_ORIGINAL_COLUMNS = {"nat": "original sentence", "neut": "neutral sentence"}
_ORIGINAL_TAG = "original sentence_tag"
_TAGS = re.compile(r"\[(True|False)(, (True|False))*\]")

#: A row of the blind file: language, context, compound, probe, sentence, nc.
ItemRow = tuple[str, str, str, str, str, str]


def import_ncimp(
    source: Path,
    target: Path,
    gold: Path,
    published: Path | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write `competition.yaml` with all its files below `target` and the human scores below `gold`; return the paths.

    source: the checkout; gold: the workers' gold folder; published: values of the paper's tables, see
    `published_values` (None: those in this package); notify: called with their number, and the names of those without a
    board. Everything is converted before anything is written. Raises InvalidFile with all problems; also if a
    competition.yaml already exists, which may have been edited.
    """
    problems = Problems()
    refuse_existing(target, problems)
    items = list(_item_rows(source, problems))
    problems.raise_if_any(InvalidFile)
    scores = read_human_scores(source / HUMAN_SCORES, InvalidFile)
    rows = ((*key, repr(score.compositionality), score.idiomaticity or "") for key, score in sorted(scores.items()))
    parts = dict.fromkeys((language, SETTING_OF[context]) for language, context, *_ in items)
    splits = [f"{language}/{setting}/{level}" for language, setting in parts for level in LEVELS]
    every = [f"{language}/{setting}/{level}" for language in LANGUAGES for setting in FILES for level in LEVELS]
    values = published_values(published.read_bytes() if published else published_text(PUBLISHED).encode(), every)
    items_path, gold_path = write_csv(target / ITEMS, ITEM_COLUMNS, items), write_csv(gold / GOLD, CSV_COLUMNS, rows)
    ranked = [(BOARD_METRICS[0], split) for split in splits]
    request = BaselineRequest(TASK_TYPE, ("word-overlap",), OPTIONS, items_path, gold=gold_path, ranked=ranked)
    written, baselines = add_baselines(request, target, "baselines/open")
    competition = declaration(parts, baselines, dict.fromkeys(values.rows, GIVEN if published else PAPER))
    text = yaml_text({"version": 1, "competitions": [competition]}, comment(parts, LANGUAGES))
    tables = [write_csv(target / _historic_name(split), HEADER, of_split) for split, of_split in values.rows.items()]
    notify(values.words)
    return [
        write_text(target / "competition.yaml", text),
        items_path,
        write_text(target / TEMPLATE, _template(items_path)),
        gold_path,
        *tables,
        *written,
    ]


def missing_parts(source: Path) -> list[str]:
    """Return the languages and settings without sentences in a checkout, in words."""
    have = [
        (language, setting)
        for language in LANGUAGES
        for setting, files in FILES.items()
        if any((source / "dataset" / language.upper() / name).is_file() for name in files.values())
    ]
    return lacking(have, LANGUAGES)


def _template(items: Path) -> str:
    task = get_task(TASK_TYPE)
    options = read_options(task)
    return task.template(task.read_items(items, options), options) or ""


def declaration(
    parts: Iterable[tuple[str, str]],
    baselines: Sequence[Mapping[str, Any]] = (),
    published: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the competition as declared in `phases.yaml`.

    parts: the (language, setting) with sentences; published: the source of published values, by split.
    """
    sources, have = published or {}, set(parts)
    return {
        "name": NAME,
        "title": "NCIMP: probing idiomaticity in word representations",
        "summary": "Do representations of noun compounds reflect how idiomatic they are? English and Portuguese.",
        "description": DESCRIPTION,
        "website": "https://github.com/risehnhew/Finding-Idiomaticity-in-Word-Representations",
        "tasks": [
            {
                "name": "probing",
                "type": TASK_TYPE,
                "title": "Idiomaticity probing",
                "description": TASK,
                "options": OPTIONS,
            }
        ],
        "boards": [
            _board(language, setting, level, sources, can_be_scored=(language, setting) in have)
            for language in LANGUAGES
            for setting in FILES
            for level in LEVELS
            if (language, setting) in have or f"{language}/{setting}/{level}" in sources
        ],
        "phases": [
            {
                "name": PHASE,
                "title": "Open for ever",
                "start": "2025-06-01 00:00 UTC",
                "limits": {"upload_bytes": UPLOAD_BYTES},
                **EVERYTHING,
                "tasks": {
                    "probing": {
                        "gold": GOLD,
                        "items": ITEMS,
                        "downloads": [
                            {"file": ITEMS, "title": "Sentences and probes"},
                            {"file": TEMPLATE, "title": "Empty submission"},
                        ],
                        "baselines": list(baselines),
                    }
                },
            }
        ],
    }


def _board(
    language: str, setting: str, level: str, sources: Mapping[str, str], *, can_be_scored: bool
) -> dict[str, Any]:
    """Return a board ranked by the affinity to the synonym as opposed to random compounds, whose ideal value is 1.

    sources: of published values, by split; can_be_scored: whether there are sentences.
    """
    split, metrics = f"{language}/{setting}/{level}", get_task(TASK_TYPE).metrics
    language_title = {"en": "English", "pt": "Portuguese"}[language]
    setting_title = {"nat": "naturalistic", "neut": "neutral"}[setting]
    level_title = {"sent": "sentences", "nc": "noun compounds"}[level]
    rows = [Inline(phase=PHASE, file=_historic_name(split), source=sources[split])] if split in sources else []
    return {
        "name": split.replace("/", "-"),
        "title": f"{language_title}, {setting_title} contexts, {level_title}",
        "task": "probing",
        "description": BOARD if can_be_scored else f"{NOT_SCORED}\n{BOARD}",
        "columns": [Inline(metric=name, split=split, title=metrics[name].title) for name in BOARD_METRICS],
        **({"historic": rows} if rows else {}),
    }


def _historic_name(split: str) -> str:
    return f"historic/{split.replace('/', '-')}.csv"


def _item_rows(source: Path, problems: Problems) -> Iterator[ItemRow]:
    """Yield every original and probe, by language, context and compound in the authors' order."""
    if not (source / HUMAN_SCORES).is_file():
        message = "the file is not in this folder: is it a checkout of the repository?"
        problems.add("missing-file", message, file=HUMAN_SCORES)
    found = False
    for language in LANGUAGES:
        for setting, files in FILES.items():
            names = {context: f"dataset/{language.upper()}/{name}" for context, name in files.items()}
            if any((source / name).is_file() for name in names.values()):
                found = True
                for context, name in names.items():
                    yield from _context_rows(source, name, language, setting, context, problems)
    if not found:
        problems.add("missing-file", "there is no folder of sentences: dataset/EN, dataset/PT")


def _context_rows(
    source: Path, name: str, language: str, setting: str, context: str, problems: Problems
) -> Iterator[ItemRow]:
    columns = {ORIGINAL: (_ORIGINAL_COLUMNS[setting], _ORIGINAL_TAG)}
    columns |= {probe: (column, f"{column}_tag") for probe, column in PROBE_COLUMNS.items()}
    wanted = ["compound", *(column for pair in columns.values() for column in pair)]
    table = read_columns(source, name, wanted, problems)
    if table is None:
        return
    for row, (line, compound) in enumerate(zip(table.lines, table["compound"], strict=True)):
        for probe, (column, tag_column) in columns.items():
            sentence, tags = table[column][row], table[tag_column][row]
            marks = _marks(sentence, tags)
            if marks is None:
                message = f"the tags do not mark the compound among the {len(sentence.split())} words of the sentence"
                problems.add("bad-tags", message, file=name, line=line, column=tag_column, text=shorten(tags))
            else:
                yield language, context, compound, probe, sentence, marks


def _marks(sentence: str, tags: str) -> str | None:
    """Return `0 1` for `[False, True]`; None if the marks do not match the sentence's words, or mark none of them."""
    if not _TAGS.fullmatch(tags) or "True" not in tags:
        return None
    marks = ["1" if tag == "True" else "0" for tag in tags.strip("[]").split(", ")]
    return " ".join(marks) if len(marks) == len(sentence.split()) else None
