"""How fast a submission to the idiom tasks is read, checked and scored, beside the same from scikit-learn and scipy.

Both sides read the same file with the gold already in memory and must agree to 1e-9. They take turns in one process and
seconds are the processor's, so that the ratios hold on a busy machine too. The reference checks nothing: it reads the
CSV and calls f1_score, accuracy_score and spearmanr once per split. The files are made up from a seed, of the size of
SemEval-2022's development data.
"""

from __future__ import annotations

import csv
import json
import random
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, f1_score

from bench._command import BenchParser, run
from bench._processors import processor_seconds_of
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

TASKS = ("idiom-detection", "idiom-similarity")
SEED = 1
Values = dict[str, float]


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"turns": 1})
    parser.add_argument("--turns", type=int, default=30, help="how often each side runs (default: 30)")
    chosen = parser.parse(argv)
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(task, *files_of(task, Path(folder)), chosen.turns) for task in TASKS]
    if chosen.json:
        print(json.dumps(results, indent=1))
        return
    print(f"{'task':<17} {'rows':>5} {'ours':>9} {'reference':>10} {'ratio':>7}  of which scoring alone")
    for row in results:
        print(
            f"{row['task']:<17} {row['rows']:>5} {row['ours_ms']:>6.2f} ms "
            f"{row['reference_ms']:>7.2f} ms {row['ratio']:>6.1f}x  {row['score_ms']:.2f} ms"
        )


def measure(task_name: str, gold_path: Path, prediction_path: Path, turns: int) -> dict[str, Any]:
    """Return the mean times of both sides and their ratio (how many times faster ours is)."""
    task = get_task(task_name)
    options = read_options(task)
    gold = task.read_gold(gold_path, options)
    items = task.items_of(gold, options)
    rows = read_rows(gold_path)
    reference_of = reference_detection if task_name == "idiom-detection" else reference_similarity

    def ours() -> Values:
        scores = task.score(gold, task.read_prediction(prediction_path, items, options), options)
        return {f"{score.metric} {score.split}": score.value for score in scores if score.value is not None}

    def reference() -> Values:
        return reference_of(rows, prediction_path)

    prediction = task.read_prediction(prediction_path, items, options)
    must_agree(ours(), reference())
    times: dict[str, list[float]] = {"ours": [], "reference": [], "score": []}
    for _ in range(turns):
        times["ours"].append(processor_seconds_of(ours))
        times["reference"].append(processor_seconds_of(reference))
        times["score"].append(processor_seconds_of(lambda: task.score(gold, prediction, options)))
    means = {side: statistics.fmean(seconds) * 1000 for side, seconds in times.items()}
    return {
        "task": task_name,
        "rows": len(read_rows(prediction_path)),
        "ours_ms": round(means["ours"], 3),
        "reference_ms": round(means["reference"], 3),
        "score_ms": round(means["score"], 3),
        "ratio": round(means["reference"] / means["ours"], 2),
    }


def must_agree(ours: Values, reference: Values) -> None:
    assert ours.keys() == reference.keys(), ours.keys() ^ reference.keys()
    worst = max(abs(ours[name] - reference[name]) for name in ours)
    assert worst < 1e-9, f"the two sides differ by {worst}"


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_settings(path: Path, column: str, number: Callable[[str], float]) -> dict[str, dict[str, float]]:
    """Return the value of each ID, by setting."""
    values: dict[str, dict[str, float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        place = {name: number for number, name in enumerate(next(reader))}
        for row in reader:
            values.setdefault(row[place["Setting"]], {})[row[place["ID"]]] = number(row[place[column]])
    return values


def languages_of(gold: list[dict[str, str]]) -> dict[str, set[str]]:
    names = sorted({row["Language"] for row in gold})
    return {"all": set(names), **{name.lower(): {name} for name in names}}


def reference_detection(gold: list[dict[str, str]], path: Path) -> Values:
    scores: Values = {}
    for setting, labels in read_settings(path, "Label", int).items():
        for split, languages in languages_of(gold).items():
            rows = [row for row in gold if row["Language"] in languages]
            true, predicted = [int(row["Label"]) for row in rows], [labels[row["ID"]] for row in rows]
            scores[f"macro_f1 {setting}/{split}"] = float(f1_score(true, predicted, average="macro"))
            scores[f"accuracy {setting}/{split}"] = float(accuracy_score(true, predicted))
    return scores


def reference_similarity(gold: list[dict[str, str]], path: Path) -> Values:
    scores: Values = {}
    for setting, sims in read_settings(path, "Sim", float).items():
        for split, languages in languages_of(gold).items():
            for subset in ("all", "idiom", "sts"):
                rows = [
                    row
                    for row in gold
                    if row["Language"] in languages
                    and subset in ("all", "sts" if row["DataID"].split(".")[2] == "sts" else "idiom")
                ]
                true = [float(row["sim"]) if row["sim"] else sims[row["otherID"]] for row in rows]
                predicted = [sims[row["ID"]] for row in rows]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores[f"spearman {setting}/{split}/{subset}"] = float(spearmanr(true, predicted).statistic)
    return scores


def files_of(task: str, folder: Path) -> tuple[Path, Path]:
    """Generate gold and prediction, the same at every run."""
    generate = generate_detection if task == "idiom-detection" else generate_similarity
    return generate(folder, random.Random(SEED))


def generate_detection(folder: Path, chance: random.Random) -> tuple[Path, Path]:
    items = [(str(n), "EN" if n < 466 else "PT") for n in range(739)]
    gold = [f"{id_},dev.{language}.1.{id_},{language},{chance.randint(0, 1)}" for id_, language in items]
    rows = [f"{id_},{lang},{s},{chance.randint(0, 1)}" for s in ("zero_shot", "one_shot") for id_, lang in items]
    return written(folder / "a", "ID,DataID,Language,Label", gold, "ID,Language,Setting,Label", rows)


def generate_similarity(folder: Path, chance: random.Random) -> tuple[Path, Path]:
    """Generate 1775 rows as in dev: 800 STS, 569 with a similarity, 406 whose target is another item."""
    items = [(str(n), "EN" if n % 2 else "PT") for n in range(1775 + 406)]
    gold = []
    for n, (id_, language) in enumerate(items[:1775]):
        target = f",{n + 406}" if n >= 1369 else f"{chance.randint(0, 50) / 50},"
        gold.append(f"{id_},dev.{language}.{'sts' if n < 800 else 1}.{id_},{language},{target}")
    rows = [
        f"{id_},{language},{setting},{round(chance.random(), 6)}"
        for setting in ("pre_train", "fine_tune")
        for id_, language in items
    ]
    return written(folder / "b", "ID,DataID,Language,sim,otherID", gold, "ID,Language,Setting,Sim", rows)


def written(stem: Path, gold_header: str, gold: list[str], header: str, rows: list[str]) -> tuple[Path, Path]:
    paths = stem.with_suffix(".gold.csv"), stem.with_suffix(".csv")
    for path, lines in zip(paths, ([gold_header, *gold], [header, *rows]), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


if __name__ == "__main__":
    sys.exit(run(main))
