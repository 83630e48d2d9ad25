"""How fast a PARSEME submission is read, checked and scored, beside the slow reference evaluator of the tests.

The reference reads gold, training data and prediction anew for every language, as the official evaluator does, and
solves the same assignment problems; both sides must agree on every count. They take turns in one process, seconds are
the processor's, and the best turn of each counts, so that the ratios hold on a busy machine too. `--official
evaluate.py` runs the official script as well, where it is at hand: a process per language, beside one of `python -m
evergold.scoring`. The files are made up from a seed, of the size of edition 1.1's.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bench._command import BenchParser, run
from bench._processors import processor_seconds_of
from evergold.scoring.cupt.prediction import read_predicted_mwes
from evergold.scoring.errors import Problems
from evergold.scoring.mwe import counts
from evergold.scoring.mwe.options import Options
from evergold.scoring.tasks.mwe_identification import TASK, Gold
from tests.evergold.scoring import mwe_reference

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = Options(unseen_against="train")
#: Of the first language; each has one of its own.
SEED = 0
MEGABYTE = 1_000_000


class Pair(NamedTuple):
    """One prediction and what it is scored against; train: none or one file."""

    name: str
    gold: Path
    prediction: Path
    train: list[Path]


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"turns": 1, "sentences": 90})
    parser.add_argument("--turns", type=int, default=5, help="how often each side runs (default: 5)")
    parser.add_argument("--sentences", type=int, default=1500, help="of each language; twice as many in training")
    parser.add_argument("--official", type=Path, help="the official evaluate.py, to be run too")
    chosen = parser.parse(argv)
    with tempfile.TemporaryDirectory() as folder:
        pairs = made_up_pairs(Path(folder), chosen.sentences)
        result: dict[str, Any] = {
            "scoring": measure_scoring(pairs, chosen.turns),
            "parsing": measure_parsing(pairs, chosen.turns),
            "memory": measure_memory(pairs, Path(folder)),
            "growth": measure_growth(pairs[0], chosen.turns),
            "pairing": count_assignments(pairs),
        }
        if chosen.official:
            warm_ms = result["scoring"]["all"]["warm"]
            result["official"] = measure_official(pairs, chosen.official, chosen.turns, warm_ms)
    print(json.dumps(result, indent=1) if chosen.json else tables(result))


# ------------------------------------------------------------------------------------------------------------ data


def made_up_pairs(folder: Path, count: int = 1500) -> list[Pair]:
    """Generate three languages of so many sentences (default: as 1.1), a third with MWEs; train has twice as many."""
    pairs = []
    for seed, language in enumerate(("XA", "XB", "XC"), SEED):
        (folder / language).mkdir()
        chance = random.Random(seed)
        paths = [folder / language / name for name in ("test.cupt", "test.system.cupt", "train.cupt")]
        sentences = [made_up_sentence(chance) for _ in range(3 * count)]
        for path, part in zip(paths, (sentences[:count], sentences[:count], sentences[count:]), strict=True):
            moved = chance if path.name == "test.system.cupt" else None
            path.write_text(made_up_file(part, moved), encoding="utf-8")
        pairs.append(Pair(language, paths[0], paths[1], [paths[2]]))
    return pairs


def made_up_sentence(chance: random.Random) -> tuple[list[str], list[int]]:
    words = [f"w{int(chance.paretovariate(0.6)) % 20_000}" for _ in range(chance.randint(5, 40))]
    return words, sorted(chance.sample(range(len(words)), 2)) if chance.random() < 0.33 else []


def made_up_file(sentences: Sequence[tuple[list[str], list[int]]], moved: random.Random | None) -> str:
    """Generate a file. moved: place a third of the MWEs elsewhere, as a system would."""
    lines = ["# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"]
    for number, (words, mwe_tokens) in enumerate(sentences):
        tokens = mwe_tokens
        if moved is not None and tokens and moved.random() < 0.33:
            tokens = sorted(moved.sample(range(len(words)), 2))
        lines.append(f"# source_sent_id = . made-up {number}")
        for place, word in enumerate(words):
            code = "*" if place not in tokens else "1:VID" if place == tokens[0] else "1"
            lines.append(f"{place + 1}\t{word}\t{word}\tNOUN\t_\tGender=Fem|Number=Sing\t0\troot\t_\t_\t{code}")
        lines.append("")
    return "\n".join(lines) + "\n"


# -------------------------------------------------------------------------------------------------------- measures


def read_gold(pair: Pair) -> Gold:
    assert TASK.read_gold_with_train is not None
    return TASK.read_gold_with_train(pair.gold, pair.train, OPTIONS)


def score(pair: Pair, gold: Gold) -> None:
    TASK.score(gold, TASK.read_prediction(pair.prediction, TASK.items_of(gold, OPTIONS), OPTIONS), OPTIONS)


def score_cold(pair: Pair) -> None:
    score(pair, read_gold(pair))


def measure_scoring(pairs: Sequence[Pair], turns: int) -> dict[str, Any]:
    """Return per pair the best milliseconds of scoring (gold cached), of a cold start, and of the reference."""
    best: dict[str, dict[str, float]] = {}
    for pair in pairs:
        gold = read_gold(pair)
        must_agree(pair, gold)
        times: dict[str, list[float]] = {"warm": [], "cold": [], "reference": []}
        for _ in range(turns):
            times["warm"].append(processor_seconds_of(partial(score, pair, gold)))
            times["cold"].append(processor_seconds_of(partial(score_cold, pair)))
            times["reference"].append(processor_seconds_of(partial(reference, pair)))
        best[pair.name] = {side: 1000 * min(seconds) for side, seconds in times.items()}
    together = {side: sum(row[side] for row in best.values()) for side in ("warm", "cold", "reference")}
    for row in [*best.values(), together]:
        row["ratio_warm"] = row["reference"] / row["warm"]
        row["ratio_cold"] = row["reference"] / row["cold"]
    return {"pairs": [{"pair": name, **row} for name, row in best.items()], "all": together}


def reference(pair: Pair) -> dict[tuple[str, str], tuple[int, int, int]]:
    train = [path.read_text(encoding="utf-8") for path in pair.train]
    gold, prediction = (path.read_text(encoding="utf-8") for path in (pair.gold, pair.prediction))
    return mwe_reference.evaluate(gold, prediction, train, mwe_reference.munkres)


def must_agree(pair: Pair, gold: Gold) -> None:
    of_gold = gold.languages["all"]
    predicted = TASK.read_prediction(pair.prediction, TASK.items_of(gold, OPTIONS), OPTIONS).languages["all"]
    ours = counts.count(of_gold, counts.describe(of_gold, predicted.mwes))
    for cell, numbers in reference(pair).items():
        if cell in ours or (any(numbers) and (cell[1] == "mwe" or cell[0] not in counts.VIEWS)):
            assert tuple(ours[cell]) == numbers, f"{pair.name}: the two sides differ in {cell}"


def measure_parsing(pairs: Sequence[Pair], turns: int) -> dict[str, float]:
    """Return megabytes per second of one core, for files that differ from the blind file in MWEs, or also in lemmas."""
    seconds = {"same_columns": 0.0, "other_lemmas": 0.0}
    size = 0
    for pair in {pair.gold: pair for pair in pairs}.values():
        items = read_gold(pair).languages["all"].corpus.items
        content = pair.gold.read_bytes()
        lines = [line.split(b"\t") for line in content.split(b"\n")]
        other = b"\n".join(b"\t".join([*row[:2], b"x", *row[3:]]) if len(row) > 3 else b"\t".join(row) for row in lines)
        size += len(content)
        for kind, data in (("same_columns", content), ("other_lemmas", other)):
            work = lambda data=data, items=items: read_predicted_mwes(data, items, Problems())  # noqa: E731 - two uses
            seconds[kind] += min(processor_seconds_of(work) for _ in range(turns))
    return {kind: size / MEGABYTE / elapsed for kind, elapsed in seconds.items()}


def measure_memory(pairs: Sequence[Pair], folder: Path) -> dict[str, float]:
    """Return peak memory divided by the size of the largest file: a cold start, a warm run, a zip of 17 languages."""
    largest = max(pairs, key=lambda pair: max(path.stat().st_size for path in (pair.gold, *pair.train)))
    biggest_prediction = max(pairs, key=lambda pair: pair.prediction.stat().st_size)
    gold = read_gold(biggest_prediction)
    sent, gold_folder = seventeen_languages(pairs, folder)
    all_gold = TASK.read_gold(gold_folder, OPTIONS)

    def whole_submission() -> None:
        TASK.score(all_gold, TASK.read_prediction(sent, TASK.items_of(all_gold, OPTIONS), OPTIONS), OPTIONS)

    cold, warm = peak(lambda: score(largest, read_gold(largest))), peak(lambda: score(biggest_prediction, gold))
    with zipfile.ZipFile(sent) as archive:
        sizes = [member.file_size for member in archive.infolist()]
    whole = peak(whole_submission)
    return {
        "cold": cold / max(path.stat().st_size for path in (largest.gold, *largest.train)),
        "warm": warm / biggest_prediction.prediction.stat().st_size,
        "zip_over_largest": whole / max(sizes),
        "zip_over_unpacked": whole / sum(sizes),
    }


def seventeen_languages(pairs: Sequence[Pair], folder: Path) -> tuple[Path, Path]:
    """Return a submission of as many languages as in edition 2.0 with gold: the generated ones under further names."""
    languages = list({pair.gold.parent: pair for pair in pairs}.items())
    sent, gold = folder / "submission.zip", folder / "seventeen"
    gold.mkdir()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(17):
            path, pair = languages[number % len(languages)]
            (gold / f"L{number:02}").symlink_to(path, target_is_directory=True)
            archive.write(pair.prediction, f"L{number:02}/test.system.cupt")
    return sent, gold


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return highest


def measure_growth(pair: Pair, turns: int) -> list[dict[str, float]]:
    """Return the time per token when the same text is repeated 1, 2, 4 and 8 times, relative to once."""
    repeated: dict[int, tuple[Pair, Gold]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, 2, 4, 8):
            longer = Pair(pair.name, Path(folder) / f"{times}.gold.cupt", Path(folder) / f"{times}.system.cupt", [])
            for path, source in ((longer.gold, pair.gold), (longer.prediction, pair.prediction)):
                header, _, body = source.read_bytes().partition(b"\n")
                path.write_bytes(header + b"\n" + body * times)
            repeated[times] = longer, read_gold(longer)
        # One after the other in every turn, so that all sizes have the same quiet moments.
        found = [
            {times: processor_seconds_of(partial(score, *case)) for times, case in repeated.items()}
            for _ in range(turns)
        ]
    best = {times: min(turn[times] for turn in found) for times in repeated}
    return [
        {"times": times, "ms": 1000 * seconds, "per_token": seconds / times / best[1]}
        for times, seconds in best.items()
    ]


def count_assignments(pairs: Sequence[Pair]) -> dict[str, float]:
    """Return how many sentences leave an assignment problem, and the time that pairing takes."""
    solved, asked, seconds = 0, 0, 0.0
    pairing, assignment = counts.shared_tokens, counts._best_assignment

    def counted_assignment(overlaps: Any) -> int:
        nonlocal solved
        solved += 1
        return assignment(overlaps)

    def counted_pairing(gold: Any, predicted: Any) -> int:
        nonlocal asked, seconds
        asked += 1
        started = time.process_time()
        shared = pairing(gold, predicted)
        seconds += time.process_time() - started
        return shared

    counting = patch.object(counts, "shared_tokens", counted_pairing)
    with counting, patch.object(counts, "_best_assignment", counted_assignment):
        whole = sum(processor_seconds_of(partial(score_cold, pair)) for pair in pairs)
    return {"pairings": asked, "assignments": solved, "share_of_a_cold_run": seconds / whole}


def measure_official(pairs: Sequence[Pair], script: Path, turns: int, warm_ms: float) -> dict[str, float]:
    """Seconds of the processor, of one process per language: the official script, and ours; the best of some turns."""
    seconds = {"official": 0.0, "ours": 0.0}
    for pair in pairs:
        files = ["--gold", str(pair.gold)]
        train = [part for path in pair.train for part in ("--train", str(path))]
        ours = ["-m", "evergold.scoring", TASK.name, *files, "--prediction", str(pair.prediction), *train]
        commands = {
            "official": [sys.executable, str(script), *files, "--pred", str(pair.prediction), *train],
            "ours": [sys.executable, *ours, "--format", "parseme"],
        }
        found = [{side: seconds_of_process(command) for side, command in commands.items()} for _ in range(turns)]
        for side in seconds:
            seconds[side] += min(turn[side] for turn in found)
    ratios = {"ratio": seconds["official"] / seconds["ours"], "ratio_warm": 1000 * seconds["official"] / warm_ms}
    return {**seconds, **ratios}


def seconds_of_process(command: Sequence[str]) -> float:
    """Return the processor seconds of a process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# ---------------------------------------------------------------------------------------------------------- output


def tables(result: dict[str, Any]) -> str:
    lines = [f"{'pair':<24} {'warm':>9} {'cold':>9} {'reference':>11}  ratio warm   cold"]
    for row in [*result["scoring"]["pairs"], {"pair": "all", **result["scoring"]["all"]}]:
        lines.append(
            f"{row['pair']:<24} {row['warm']:>6.1f} ms {row['cold']:>6.1f} ms {row['reference']:>8.1f} ms "
            f"{row['ratio_warm']:>10.1f}x {row['ratio_cold']:>5.1f}x"
        )
    parsing, memory, pairing = result["parsing"], result["memory"], result["pairing"]
    lines += [
        "",
        f"parsing: {parsing['same_columns']:.0f} MB/s, with other lemmas {parsing['other_lemmas']:.0f} MB/s",
        f"peak memory over the largest file: cold {memory['cold']:.1f}x, warm {memory['warm']:.1f}x",
        f"peak memory of a zip of 17 languages: {memory['zip_over_largest']:.1f}x its largest file, "
        f"{memory['zip_over_unpacked']:.1f}x its unpacked size",
        "time per token of the text 1, 2, 4, 8 times: "
        + ", ".join(f"{row['per_token']:.2f}" for row in result["growth"]),
        f"pairing: {pairing['assignments']} assignment problems in {pairing['pairings']} pairings, "
        f"{100 * pairing['share_of_a_cold_run']:.1f} % of a cold run",
    ]
    if "official" in result:
        official = result["official"]
        lines.append(
            f"official script {official['official']:.1f} s, ours {official['ours']:.1f} s: {official['ratio']:.1f}x, "
            f"warm {official['ratio_warm']:.0f}x"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(main))
