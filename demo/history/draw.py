"""Predictions of graded quality, drawn from gold: the same for the same names, better with a higher level.

How hard an item is and how lucky a team is with it follow from hashes, so that systems agree on easy items, and a
team's runs resemble each other.
"""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist

from demo.source import digest

HERE = Path(__file__).resolve().parents[1]
#: What a language costs, in the unit of an item's difficulty: Galician has the least data.
HARDER = {"EN": -0.3, "PT": 0.0, "GL": 0.35}
#: So much of a team's luck is drawn anew with each run.
REDRAWN = 0.12
LANGUAGES = ("EN", "PT", "GL")


def detection(team: str, run: int, levels: Mapping[str, float | None]) -> bytes:
    """Labels of the evaluation. levels: by setting; None: not entered."""
    gold = _rows("gold/evaluation/idiom-detection.csv")
    rows = []
    for setting, level in levels.items():
        for row in gold:
            label = "" if level is None else _label(team, run, setting, row, level)
            rows.append((row["ID"], row["Language"], setting, label))
    return _csv(("ID", "Language", "Setting", "Label"), rows)


def similarity(team: str, run: int, levels: Mapping[str, float | None]) -> bytes:
    """Similarities of the evaluation; a wrong paraphrase and its target get nearly the same one from a good system."""
    values = _similarities()
    rows = []
    for setting, level in levels.items():
        for row in _rows("public/evaluation/idiom-similarity/items.csv"):
            noise = "" if level is None else _noisy(team, run, setting, row["ID"], values[row["ID"]], level)
            rows.append((row["ID"], row["Language"], setting, noise))
    return _csv(("ID", "Language", "Setting", "Sim"), rows)


def identification(team: str, run: int, phase: str, level: float) -> bytes:
    """A zip of CUPT files: idioms found or not, now and then without their last word, and some that are none."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for language in LANGUAGES:
            text = (HERE / f"gold/{phase}/idiom-identification/{language}/test.cupt").read_text(encoding="utf-8")
            header, *blocks = text.rstrip("\n").replace("\n# source_sent_id", "\n\0# source_sent_id").split("\n\0")
            found = [_coded(block.rstrip("\n"), team, run, language, level) for block in blocks]
            archive.writestr(f"{language}/test.system.cupt", "\n".join([header, *(f"{one}\n" for one in found), ""]))
    return content.getvalue()


def faulty_detection_gold(mistakes: int = 9) -> bytes:
    """The evaluation's gold as it was before it was corrected: some labels are the wrong ones."""
    gold = _rows("gold/evaluation/idiom-detection.csv")
    wrong = {row["ID"] for row in sorted(gold, key=lambda row: digest(f"mistake {row['ID']}"))[:mistakes]}
    rows = [(*list(row.values())[:3], 1 - int(row["Label"]) if row["ID"] in wrong else row["Label"]) for row in gold]
    return _csv(tuple(gold[0]), rows)


# ------------------------------------------------------------------------------------------------------------- drawing


def _label(team: str, run: int, setting: str, row: Mapping[str, str], level: float) -> int:
    right = _luck(team, run, f"{setting} {row['ID']}") < _chance(row["ID"], row["Language"], level)
    return int(row["Label"]) if right else 1 - int(row["Label"])


def _chance(item: str, language: str, level: float) -> float:
    """That a system of this level is right about an item: one half at level 0."""
    return 1 / (1 + math.exp(_normal(f"hard {item}") + HARDER[language] - 3.2 * level))


def _noisy(team: str, run: int, setting: str, item: str, value: float, level: float) -> str:
    noise = NormalDist().inv_cdf(min(max(_luck(team, run, f"{setting} {item}"), 1e-6), 1 - 1e-6))
    return f"{value + noise * (1.15 - level) * 0.45:.4f}"


def _similarities() -> dict[str, float]:
    """What a perfect system might say: gold where there is a number, else the same for a pair and its target."""
    values: dict[str, float] = {}
    for row in _rows("gold/evaluation/idiom-similarity.csv"):
        value = float(row["sim"]) if row["sim"] else 0.2 + 0.5 * _uniform(f"wrong {row['ID']}")
        values[row["ID"]] = value
        if row["otherID"]:
            values[row["otherID"]] = value
    return values


def _coded(block: str, team: str, run: int, language: str, level: float) -> str:
    """A sentence with the idioms that the system finds in it."""
    *comments, lines = _split(block)
    gold = [at for at, line in enumerate(lines) if not line.endswith("\t*")]
    name = comments[0]
    luck, chance = _luck(team, run, name), _chance(name, language, level)
    marked: Sequence[int] = []
    if gold and luck < chance:
        marked = gold[:-1] if luck > chance - (1 - level) * 0.25 and len(gold) > 2 else gold
    elif not gold and luck > chance:
        at = digest(f"{team} {name}") % (len(lines) - 2)
        marked = [at, at + 1]
    codes = {at: "1:NID" if at == marked[0] else "1" for at in marked}
    coded = [line[: line.rindex("\t") + 1] + codes.get(at, "*") for at, line in enumerate(lines)]
    return "\n".join([*comments, *coded])


def _split(block: str) -> tuple[str, str, list[str]]:
    first, second, *lines = block.splitlines()
    return first, second, lines


def _luck(team: str, run: int, item: str) -> float:
    is_redrawn = _uniform(f"redrawn {team} {run} {item}") < REDRAWN
    return _uniform(f"luck {team} {run if is_redrawn else ''} {item}")


def _uniform(name: str) -> float:
    return digest(name) / 2**64


def _normal(name: str) -> float:
    return NormalDist().inv_cdf(min(max(_uniform(name), 1e-6), 1 - 1e-6))


def _rows(path: str) -> list[dict[str, str]]:
    with (HERE / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
