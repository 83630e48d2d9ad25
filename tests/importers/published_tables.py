"""Two counts: for each paper's tables, how many of their values are on the boards of the imported competition; for each
official evaluator, how many of its results ours are compared with. `python -m tests.importers.published_tables` writes
both into docs/tasks.md.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from app.importers.astitch import import_astitch
from app.importers.ncimp import import_ncimp
from app.importers.parseme import LANGUAGES, PUBLISHED, import_parseme
from app.importers.parseme_paraphrase_texts import DESCRIPTION
from app.importers.semeval2022 import import_semeval2022
from app.importers.writing import read_published
from tests import official_shapes
from tests.official_shapes import GOLDEN
from tests.processes import REPOSITORY

DOCS = REPOSITORY / "docs" / "tasks.md"
BEGIN = "[//]: # (written by python -m tests.importers.published_tables)"
END = "[//]: # (until here)"


@dataclass(frozen=True, slots=True)
class Shown:
    """A published value that a board shows: the phase, the name of its row, its column, and the value."""

    phase: str
    team: str
    metric: str
    split: str
    value: Decimal


@dataclass(frozen=True, slots=True)
class Printed:
    """A value of a paper: where it is printed, and how a board would show it. team: how the row's name begins."""

    table: str
    phase: str
    team: str
    metric: str
    split: str
    value: Decimal


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, its values, and the function that makes its competition from the organisers' folder."""

    title: str
    printed: Callable[[], Iterator[Printed]]
    import_into: Callable[[Path], None]


# ---------------------------------------------------------------------------------------------------------- the papers


def _semeval() -> Iterator[Printed]:
    for row in read_published("published_semeval2022.csv"):
        team = "Baseline" if row["team"] == "baseline" else row["team"]
        yield Printed(row["table"], "test", team, row["metric"], row["split"], Decimal(row["value"]))


def _astitch() -> Iterator[Printed]:
    settings = {
        "zero-shot": "zero_shot",
        "one-shot": "one_shot",
        "few-shot": "few_shot",
        "pre-training only": "pre_train",
        "fine-tuned": "fine_tune",
    }
    for row in read_published("published_astitch.csv"):
        metric, _, subset = row["metric"].partition("_") if row["task"] == "task2" else (row["metric"], "", "")
        split = f"{settings[row['setup']]}/all" + (f"/{subset}" if subset else "")
        # Boards are of one language, and their names begin with the task and say it.
        place = f"{row['split']} {row['task'].removeprefix('task1-').replace('task2', 'similarity')}-{row['language']}"
        yield Printed(row["table"], place, row["system"], metric, split, Decimal(row["value"]))


def _ncimp() -> Iterator[Printed]:
    for row in read_published("published_ncimp.csv"):
        yield Printed(row["table"], "open", row["team"], row["metric"], row["split"], Decimal(row["value"]))


def _parseme(edition: str) -> Iterator[Printed]:
    for row in read_published(PUBLISHED[edition]):
        value = Decimal(row["percent"]) / 100
        yield Printed(row["table"], "evaluation", row["system"], row["metric"], row["split"], value)


def _import_parseme(edition: str, into: Path) -> None:
    """Import the French golden files under the names of all the edition's languages."""
    for language in LANGUAGES[edition]:
        shutil.copytree(GOLDEN / "mwe-identification" / "gold" / "FR", into / "source" / language.upper())
    import_parseme(into / "source", into / "competition", into / "gold", edition)


PAPERS = (
    Paper(
        "SemEval-2022 Task 2 (Tayyar Madabushi et al. 2022)",
        _semeval,
        lambda into: _made(import_semeval2022, official_shapes.semeval2022(into / "source"), into),
    ),
    Paper(
        "AStitchInLanguageModels (Tayyar Madabushi et al. 2021)",
        _astitch,
        lambda into: _made(import_astitch, official_shapes.astitch(into / "source"), into),
    ),
    Paper(
        "NCIMP (He et al. 2025)",
        _ncimp,
        lambda into: _made(import_ncimp, official_shapes.ncimp(into / "source"), into),
    ),
    Paper("PARSEME 1.2 (Ramisch et al. 2020)", lambda: _parseme("1.2"), lambda into: _import_parseme("1.2", into)),
    Paper(
        "PARSEME 2.0, identification: Sahara Tokenizers (Karatepe et al. 2026)",
        lambda: _parseme("2.0"),
        lambda into: _import_parseme("2.0", into),
    ),
)
#: What the paper on the corpus of PARSEME 2.0's paraphrasing says of data and judgements: no scores of systems.
FACTS = (
    *(
        "14 languages",
        "1,742 sentences",
        "66 (Swedish)",
        "150 (Georgian)",
        "726 verbal",
        "863 nominal",
        "153 adjectival",
    ),
    *("1,670 minimal", "1,618 creative", "Submissions: 5", "French, Georgian, Portuguese and Romanian"),
    *("Pearson 0.92", "Spearman 0.90", "0.803 (Portuguese)", "0.7599 (Romanian)"),
    *("(2 × sense of the MWE + sense of the rest + grammaticality) / 4", "12002", "13192"),
)
#: Papers whose numbers nobody here has: none is made up.
ABSENT = (
    (
        "PARSEME 2.0 (Scholivet et al. 2026)",
        "both subtasks, all systems",
        "not at hand by system; `import results` takes lists",
    ),
)


def _made(importer: Callable[[Path, Path, Path], object], source: Path, into: Path) -> None:
    importer(source, into / "competition", into / "gold")


def shown_values(folder: Path) -> set[Shown]:
    """Return every published value in a column that its board shows."""
    (declared,) = yaml.safe_load((folder / "competition.yaml").read_text(encoding="utf-8"))["competitions"]
    found = set()
    for board in declared["boards"]:
        columns = {(column["metric"], column["split"]) for column in board["columns"]}
        for historic in board.get("historic", ()):
            with (folder / historic["file"]).open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if (row["metric"], row["split"]) in columns:
                        names = (historic["phase"], f"{historic['phase']} {board['task']}")
                        value = Decimal(row["value"]).normalize()
                        found |= {Shown(name, row["team"], row["metric"], row["split"], value) for name in names}
    return found


@cache
def counts(paper: Paper) -> dict[str, tuple[int, int]]:
    """Return, by table, how many values it has, and how many of them a board shows in the row of their system."""
    with tempfile.TemporaryDirectory() as folder:
        paper.import_into(Path(folder))
        shown = shown_values(Path(folder) / "competition")
    teams: defaultdict[tuple[str, str, str, Decimal], set[str]] = defaultdict(set)
    for one in shown:
        teams[one.phase, one.metric, one.split, one.value].add(one.team)
    printed: Counter[str] = Counter()
    standing: Counter[str] = Counter()
    for value in paper.printed():
        printed[value.table] += 1
        rows = teams[value.phase, value.metric, value.split, value.value.normalize()]
        standing[value.table] += any(team.startswith(value.team) for team in rows)
    return {table: (printed[table], standing[table]) for table in printed}


# ------------------------------------------------------------------------------------------- the official evaluators


@dataclass(frozen=True, slots=True)
class Evaluator:
    """An official evaluator. expected: the files with its output; test: the test that compares all of it with ours."""

    title: str
    expected: str
    tolerance: str
    test: str


EVALUATORS = (
    Evaluator(
        "SemEval-2022 Task 2, both scripts",
        "semeval2022/submissions/expected.json",
        "1e-9",
        "tests/evergold/scoring/test_conformance_semeval2022.py",
    ),
    Evaluator(
        "AStitchInLanguageModels, its metrics",
        "astitch/submissions/expected.json",
        "1e-9",
        "tests/evergold/scoring/test_conformance_astitch.py",
    ),
    Evaluator(
        "NCIMP, the authors' code",
        "ncimp/submissions/tfidf_char.expected.json",
        "1e-6",
        "tests/evergold/scoring/test_conformance_ncimp.py",
    ),
    Evaluator(
        "PARSEME identification, `evaluate.py` (1.1's and 2.0's print the same)",
        "parseme1*/*/expected.*.txt",
        "every line",
        "tests/evergold/scoring/test_conformance_parseme.py",
    ),
    Evaluator(
        "PARSEME 2.0, paraphrasing",
        "parseme20_paraphrase/expected.json",
        "1e-9; BERTScore 1e-5",
        "tests/evergold/scoring/test_conformance_paraphrase.py",
    ),
)


@dataclass(frozen=True, slots=True)
class Library:
    """The reference of a newer task type: not a shared task's evaluator, but a widely used library. module: as the test
    names it; cases: made at random there, those of `make soak` included, unless noted otherwise.
    """

    title: str
    module: str
    cases: str
    tolerance: str
    test: str


LIBRARIES = (
    Library("scikit-learn, labels", "sklearn", "600", "1e-12", "tests/evergold/scoring/test_f1.py"),
    Library("scikit-learn, sets of labels", "sklearn", "10", "1e-12", "tests/evergold/scoring/test_multi_label.py"),
    Library("scipy, rank correlation", "scipy", "200", "1e-12", "tests/evergold/scoring/test_correlation.py"),
    Library("seqeval, both modes", "seqeval", "1,100", "1e-12", "tests/evergold/scoring/test_spans.py"),
    Library("trec_eval", "pytrec_eval", "1,100", "1e-9", "tests/evergold/scoring/test_ranking.py"),
    Library("bert-score", "upstream", "16 pairs of texts", "1e-5", "tests/evergold/scoring/test_bertscore.py"),
)


def results_of(evaluator: Evaluator, conformance: Path) -> int:
    """Return how many results it has: numbers, or lines of scores."""
    found = 0
    for path in sorted(conformance.glob(evaluator.expected)):
        text = path.read_text(encoding="utf-8")
        found += _numbers(json.loads(text)) if path.suffix == ".json" else text.count("\n* ")
    return found


def _numbers(document: Any) -> int:
    """Count the numbers in a document, including undefined and boolean ones."""
    if isinstance(document, Mapping):
        return sum(_numbers(value) for value in document.values())
    if isinstance(document, list):
        return sum(_numbers(value) for value in document)
    return int(document is None or isinstance(document, (bool, int, float)))


# ----------------------------------------------------------------------------------------------------------- the texts


def facts_shown() -> int:
    """Count the FACTS that are in the description of the competition."""
    text = " ".join(DESCRIPTION.split())
    return sum(fact in text for fact in FACTS)


def papers_text() -> str:
    """Return the first table."""
    lines = ["| paper | table | values | on our boards |", "|---|---|---|---|"]
    for paper in PAPERS:
        lines += [
            f"| {paper.title} | {table} | {printed} | {'all' if printed == standing else standing} |"
            for table, (printed, standing) in sorted(counts(paper).items(), key=lambda one: (len(one[0]), one[0]))
        ]
    shown = "all" if facts_shown() == len(FACTS) else facts_shown()
    facts = f"sizes, agreement, correlation | {len(FACTS)} | {shown}, on the competition's page"
    lines.append(f"| PARSEME 2.0, paraphrasing (Scholivet et al., on the corpus) | {facts} |")
    lines += [f"| {title} | {what} | – | none: {why} |" for title, what, why in ABSENT]
    return "\n".join(lines) + "\n"


def evaluators_text(conformance: Path) -> str:
    """Return the second table."""
    lines = ["| official evaluator | results compared | identical | to | compared by |", "|---|---|---|---|---|"]
    lines += [
        f"| {one.title} | {results_of(one, conformance)} | all | {one.tolerance} | `{one.test}` |" for one in EVALUATORS
    ]
    lines += [f"| {one.title} (library) | {one.cases} | all | {one.tolerance} | `{one.test}` |" for one in LIBRARIES]
    return "\n".join(lines) + "\n"


def written_tables() -> tuple[str, str]:
    """Return both tables as they are in docs/tasks.md."""
    block = DOCS.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    first, second = block.strip().split("\n\n")
    return first + "\n", second + "\n"


if __name__ == "__main__":
    from tests.conformance import folder

    before, rest = DOCS.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    text = f"{before}{BEGIN}\n\n{papers_text()}\n{evaluators_text(folder())}\n{END}{after}"
    DOCS.write_text(text, encoding="utf-8")
