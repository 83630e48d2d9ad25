"""Rebuilds demo/public, demo/gold, demo/submissions and demo/broken from the hand-written demo/source.

`python -m demo.build` writes every file anew, always the same; `--check` writes nothing and exits 1 if a
file differs. The items come from source.py, the teams' answers from detectors.py and measures.py; paraphrases.py has
the files of the paraphrasing task.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from demo import detectors, measures
from demo.detectors import Detector, Labelled
from demo.identification import identification_files
from demo.measures import Measure, Rated
from demo.paraphrases import paraphrase_files
from demo.source import (
    PHASES,
    DetectionItem,
    SimilarityItem,
    number_items,
    read_detection,
    read_one_shot,
    read_similarity,
    shuffled,
)

HERE = Path(__file__).parent
GENERATED = ("public", "gold", "submissions", "broken")

Files = dict[str, str | bytes]
Row = Sequence[object]

# What each team enters: a system per setting; None where it stays out and leaves the setting's rows empty.
DETECTION_TEAMS: dict[str, dict[str, Detector | None]] = {
    "majority-class": {"zero_shot": detectors.majority_class, "one_shot": detectors.majority_class},
    "magpie": {"zero_shot": detectors.naive_bayes, "one_shot": detectors.naive_bayes},
    "saudade-lab": {"zero_shot": detectors.logistic_regression, "one_shot": detectors.logistic_regression},
    "loureiro": {"zero_shot": None, "one_shot": detectors.nearest_example},
}
SIMILARITY_TEAMS: dict[str, dict[str, Measure | None]] = {
    "word-overlap": {"pre_train": measures.word_overlap, "fine_tune": measures.word_overlap},
    "magpie": {"pre_train": measures.character_cosine, "fine_tune": measures.surface_regression},
    "saudade-lab": {"pre_train": measures.tf_idf_cosine, "fine_tune": measures.idiom_aware_regression},
}


class Demo:
    """The items of both tasks by phase, in the order of the files, and their numbers."""

    def __init__(self) -> None:
        self.detection = {phase: shuffled(read_detection(phase)) for phase in PHASES}
        self.similarity = {phase: shuffled(read_similarity(phase)) for phase in PHASES}
        self.one_shot = shuffled(read_one_shot())
        names = [f"detection {item.data_id}" for phase in PHASES for item in self.detection[phase]]
        names += [f"similarity {item.data_id}" for phase in PHASES for item in self.similarity[phase]]
        self._numbers = number_items(names)

    def number(self, item: DetectionItem | SimilarityItem) -> int:
        """The item's ID in the files."""
        task = "detection" if isinstance(item, DetectionItem) else "similarity"
        return self._numbers[f"{task} {item.data_id}"]

    def other_number(self, item: SimilarityItem) -> int | str:
        """The ID of the pair whose similarity is the item's target; empty where the gold is a number."""
        return "" if item.other is None else self._numbers[f"similarity {item.other}"]


def build() -> Files:
    """The text of every generated file, by its path below demo/."""
    demo = Demo()
    files: Files = {}
    for phase in PHASES:
        files |= detection_files(demo, phase)
        files |= similarity_files(demo, phase)
    sound = _bytes(files["submissions/practice/idiom-detection/magpie.csv"]).decode()
    return files | one_shot_file(demo) | broken_files(sound) | paraphrase_files() | identification_files()


def detection_files(demo: Demo, phase: str) -> Files:
    """Blind items, template, gold and submissions of idiom detection."""
    items = demo.detection[phase]
    public, gold = f"public/{phase}/idiom-detection", f"gold/{phase}/idiom-detection.csv"
    seen = [(demo.number(item), item.occurrence) for item in items]
    files: Files = {
        f"{public}/items.csv": as_csv(
            ("ID", "Language", "MWE", "Previous", "Target", "Next"),
            ((number, o.language, o.mwe, o.previous, o.target, o.next) for number, o in seen),
        ),
        f"{public}/template.csv": answers(demo, items, "Label", {"zero_shot": None, "one_shot": None}),
        gold: as_csv(
            ("ID", "DataID", "Language", "Label"),
            ((demo.number(item), item.data_id, item.language, item.label) for item in items),
        ),
    }
    for team, systems in DETECTION_TEAMS.items():
        columns = {name: system and detect(demo, phase, name, system) for name, system in systems.items()}
        files[f"submissions/{phase}/idiom-detection/{team}.csv"] = answers(demo, items, "Label", columns)
    return files | published_gold(phase, public, files[gold])


def similarity_files(demo: Demo, phase: str) -> Files:
    """Blind items, template, gold and submissions of idiom similarity."""
    items = demo.similarity[phase]
    public, gold = f"public/{phase}/idiom-similarity", f"gold/{phase}/idiom-similarity.csv"
    seen = [(demo.number(item), item.pair) for item in items]
    files: Files = {
        f"{public}/items.csv": as_csv(
            ("ID", "Language", "MWE1", "MWE2", "sentence1", "sentence2"),
            ((number, p.language, p.mwe, None, p.sentence1, p.sentence2) for number, p in seen),
        ),
        f"{public}/template.csv": answers(demo, items, "Sim", {"pre_train": None, "fine_tune": None}),
        gold: as_csv(("ID", "DataID", "Language", "sim", "otherID"), similarity_gold(demo, items)),
    }
    for team, systems in SIMILARITY_TEAMS.items():
        columns = {name: system and compare(demo, phase, name, system) for name, system in systems.items()}
        files[f"submissions/{phase}/idiom-similarity/{team}.csv"] = answers(demo, items, "Sim", columns)
    return files | published_gold(phase, public, files[gold])


def similarity_gold(demo: Demo, items: Sequence[SimilarityItem]) -> list[Row]:
    """The rows of gold: a number, or the pair whose predicted similarity is the target."""
    return [
        (demo.number(item), item.data_id, item.language, sim_text(item.sim), demo.other_number(item))
        for item in items
        if item.in_gold
    ]


def sim_text(sim: float | None) -> str:
    """A gold similarity as short as it goes: 1, 0.92; empty for none."""
    return "" if sim is None else f"{sim:g}"


def published_gold(phase: str, public: str, gold: str | bytes) -> Files:
    """Only practice gold is public."""
    return {f"{public}/gold.csv": gold} if phase == "practice" else {}


def one_shot_file(demo: Demo) -> Files:
    """The labelled examples of the evaluation expressions, in the columns of SemEval-2022 Task 2."""
    rows = (
        (item.data_id, o.language, o.mwe, "one_shot", o.previous, o.target, o.next, item.label)
        for item in demo.one_shot
        for o in [item.occurrence]
    )
    header = ("DataID", "Language", "MWE", "Setting", "Previous", "Target", "Next", "Label")
    return {"public/evaluation/idiom-detection/train_one_shot.csv": as_csv(header, rows)}


def broken_files(sound: str) -> Files:
    """Three submissions for practice detection with one typical mistake each, made from a sound one."""
    header, *lines = sound.splitlines()
    zero_shot = [line for line in lines if ",zero_shot," in line]
    return {
        "broken/duplicate-id.csv": _joined([header, *lines, zero_shot[3]]),
        "broken/half-filled-setting.csv": _joined([header, *map(_only_english_zero_shot, lines)]),
        "broken/float-label.csv": _joined([header, *(f"{line}.0" for line in lines)]),
    }


def detect(demo: Demo, phase: str, setting: str, detector: Detector) -> list[object]:
    """A detector's labels of a phase; on practice, no system has seen the expression that it labels."""
    practice = [(item.occurrence, item.label) for item in demo.detection["practice"]]
    if phase == "evaluation":
        examples = [(item.occurrence, item.label) for item in demo.one_shot] if setting == "one_shot" else []
        return list(detector([item.occurrence for item in demo.detection[phase]], practice, examples))
    return [_label_left_out(detector, at, practice, setting) for at in range(len(practice))]


def compare(demo: Demo, phase: str, setting: str, measure: Measure) -> list[object]:
    """A measure's similarities of a phase; on practice, none has learnt from the expression that it rates."""
    items = demo.similarity[phase]
    pairs = [item.pair for item in items]
    if setting == "pre_train":
        return [f"{sim:.4f}" for sim in measure(pairs, [])]
    left_out = [_group(item) if phase == "practice" else "" for item in items]
    by_group = {group: measure(pairs, _rated_without(demo, group)) for group in sorted(set(left_out))}
    return [f"{by_group[group][i]:.4f}" for i, group in enumerate(left_out)]


def answers(
    demo: Demo,
    items: Sequence[DetectionItem | SimilarityItem],
    name: str,
    columns: dict[str, list[object] | None],
) -> str:
    """A submission: the rows of one setting after the other, empty for a setting without answers."""
    rows = (
        (demo.number(item), item.language, setting, answer)
        for setting, column in columns.items()
        for item, answer in zip(items, column or [""] * len(items), strict=True)
    )
    return as_csv(("ID", "Language", "Setting", name), rows)


def as_csv(header: Sequence[str], rows: Iterable[Row]) -> str:
    """The rows as CSV; None is written as the word, as the shared task's own files do."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["None" if value is None else value for value in row] for row in rows)
    return text.getvalue()


def write(files: Files) -> None:
    """Writes the generated files and removes generated ones that are no longer made."""
    for path in _generated() - set(files):
        (HERE / path).unlink()
    for path, content in files.items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_bytes(_bytes(content))


def differences(files: Files) -> list[str]:
    """The paths of generated files that are missing, superfluous or not as they would be built."""
    present = _generated()
    changed = {path for path in present & set(files) if (HERE / path).read_bytes() != _bytes(files[path])}
    return sorted(present ^ set(files) | changed)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m demo.build", description="Rebuild the demo's files.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    files = build()
    if not parser.parse_args(arguments).check:
        write(files)
        return 0
    changed = differences(files)
    for path in changed:
        sys.stderr.write(f"demo/{path} is not as python -m demo.build makes it\n")
    return 1 if changed else 0


def _label_left_out(detector: Detector, at: int, practice: Sequence[Labelled], setting: str) -> int:
    occurrence, _ = practice[at]
    expression = (occurrence.language, occurrence.mwe)
    same = [row for i, row in enumerate(practice) if (row[0].language, row[0].mwe) == expression and i != at]
    others = [row for row in practice if (row[0].language, row[0].mwe) != expression]
    examples = [row for label in (0, 1) for row in [row for row in same if row[1] == label][:1]]
    return detector([occurrence], others, examples if setting == "one_shot" else [])[0]


def _rated_without(demo: Demo, group: str) -> list[Rated]:
    return [
        (item.pair, item.sim)
        for item in demo.similarity["practice"]
        if item.sim is not None and _group(item) != group  # only a number can be learnt from
    ]


def _group(item: SimilarityItem) -> str:
    """What a system must not learn from when it rates this item: its expression, or an STS item itself."""
    parts = item.data_id.split(".")
    return item.data_id if parts[2] == "sts" else ".".join(parts[:3])


def _only_english_zero_shot(line: str) -> str:
    return line if ",EN," in line or ",zero_shot," not in line else line.rsplit(",", 1)[0] + ","


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _generated() -> set[str]:
    return {
        path.relative_to(HERE).as_posix()
        for folder in GENERATED
        for path in (HERE / folder).rglob("*")
        if path.is_file()
    }


if __name__ == "__main__":
    sys.exit(main())
