"""Competitions with systems whose scores are known: the organisers' own where they are available, else similar ones of
ours.

Ours are the golden cases, whose scores are computed by hand there. Stories and end-to-end tests run on either, so that
none is skipped.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests import official_shapes
from tests.conformance import folder
from tests.official_shapes import GOLDEN

#: Of a setting, by `zero_shot/EN+PT` and the like; None: not entered.
Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Semeval:
    """SemEval-2022 Task 2. repository: a checkout of it; submissions: those to the development set of Subtask A:
    A_noisy in both settings, A_zero_shot_only, A_majority; expected: macro F1 of each.
    """

    repository: Path
    submissions: Mapping[str, Path]
    expected: Mapping[str, Scores]

    @property
    def data(self) -> Path:
        """The folder with dev.csv and dev_gold.csv."""
        return self.repository / "SubTaskA" / "Data"


@dataclass(frozen=True)
class Parseme:
    """PARSEME 1.2. root: its folder of languages; language: the one whose test set a system has annotated; report: the
    official evaluator's output for that, None: unknown; scores: P, R and F of its lines, by their names; for our own
    case only those that tests look at.
    """

    root: Path
    language: str
    system: Path
    report: list[str] | None
    scores: Mapping[str, Mapping[str, float]]

    def file(self, name: str) -> Path:
        return self.root / self.language / name


def semeval(scratch: Path) -> Semeval:
    """Return the official SemEval data if present, else ours. scratch: a folder for files of ours."""
    official = folder() / "semeval2022"
    if not official.exists():
        return _our_semeval(scratch)
    expected = json.loads((official / "submissions" / "expected.json").read_text(encoding="utf-8"))["subtask_a"]
    files = {path.stem: path for path in (official / "submissions").glob("A_*.csv")}
    return Semeval(official / "repository", files, expected)


def _our_semeval(scratch: Path) -> Semeval:
    golden = GOLDEN / "idiom-detection"
    with (golden / "prediction.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    zero_shot = {row["ID"]: row["Label"] for row in rows if row["Setting"] == "zero_shot"}
    labels = {
        "A_noisy": [zero_shot[row["ID"]] for row in rows],
        "A_zero_shot_only": [row["Label"] for row in rows],
        "A_majority": ["1" for _ in rows],
    }
    files = {name: scratch / f"{name}.csv" for name in labels}
    for name, path in files.items():
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "Label": label} for row, label in zip(rows, labels[name], strict=True))
    worked_out = json.loads((golden / "expected.json").read_text(encoding="utf-8"))["scores"]
    noisy = {split: worked_out[f"macro_f1 zero_shot/{ours}"] for split, ours in _SPLITS.items()}
    # Of the 6 in gold 3 are 1, of the 4 English ones 3: F1 of 1 is 6/9, 6/7; that of 0 is 0. No Portuguese one is.
    majority = {"EN+PT": 1 / 3, "EN": 3 / 7, "PT": 0.0}
    expected = {
        "A_noisy": _in_settings(noisy, noisy),
        "A_zero_shot_only": _in_settings(noisy, dict.fromkeys(_SPLITS, None)),
        "A_majority": _in_settings(majority, majority),
    }
    return Semeval(official_shapes.semeval2022(scratch / "checkout"), files, expected)


_SPLITS = {"EN+PT": "all", "EN": "en", "PT": "pt"}


def _in_settings(zero_shot: Mapping[str, float | None], one_shot: Mapping[str, float | None]) -> Scores:
    settings = {"zero_shot": zero_shot, "one_shot": one_shot}
    return {f"{name}/{split}": values[split] for name, values in settings.items() for split in _SPLITS}


def parseme(scratch: Path) -> Parseme:
    """Return the official PARSEME data if present, else ours. scratch: a folder for files of ours."""
    official = folder() / "parseme12"
    if not official.exists():
        return _our_parseme(scratch)
    printed = (official / "GA" / "expected.perturbed.txt").read_text(encoding="utf-8")
    lines = [line for line in printed.splitlines() if line.strip()]
    of_lines = (line for line in lines if line.startswith("* ") and ": P=" in line)
    scores = {line[2:].partition(": P=")[0]: _printed(line) for line in of_lines}
    return Parseme(official, "GA", official / "GA" / "test.system.perturbed.cupt", lines, scores)


def _printed(line: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"([PRF])=(?:\d+/\d+=)?([\d.]+)", line)}


def _our_parseme(scratch: Path) -> Parseme:
    """Return the golden case's French, as computed there: of the unseen MWEs, 1 of 2 in gold is found, 4
    are predicted.
    """
    golden = GOLDEN / "mwe-identification"
    shutil.copytree(golden / "gold" / "FR", scratch / "parseme" / "FR")
    system = golden / "prediction" / "FR" / "test.system.cupt"
    scores = {
        "Unseen-in-train: MWE-based": {"P": 1 / 4, "R": 1 / 2, "F": 1 / 3},
        "LVC.full: MWE-based": {"P": 1 / 1, "R": 1 / 2, "F": 2 / 3},
        "VID: MWE-based": {"P": 1 / 3, "R": 1 / 3, "F": 1 / 3},
    }
    return Parseme(scratch / "parseme", "FR", system, None, scores)
