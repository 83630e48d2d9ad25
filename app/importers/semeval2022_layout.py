"""The layout of a checkout of SemEval-2022 Task 2's data repository, and the boards of its result lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.importers.writing import ALL_SLICES, Inline

NAME = "semeval2022-task2"
LANGUAGE_TITLES = {"en": "English", "pt": "Portuguese", "gl": "Galician"}
LANGUAGES = tuple(LANGUAGE_TITLES)
DETECTION, SIMILARITY = "idiom-detection", "idiom-similarity"
METRICS = {DETECTION: "macro_f1", SIMILARITY: "spearman"}
RESULTS = "results/best_submission_for_each_participant"


@dataclass(frozen=True, slots=True)
class Part:
    """The files of one task in one phase, as paths below the checkout. training: further files with titles."""

    phase: str
    task: str
    split: str
    items: str
    template: str
    gold: str | None = None
    training: Sequence[tuple[str, str]] = ()


_A, _A_TEST = "SubTaskA/Data", "SubTaskA/TestData"
_B, _B_TEST, _B_TRAIN = "SubTaskB/EvaluationData", "SubTaskB/TestData", "SubTaskB/TrainData"
_LABELLED = "Labelled examples, one-shot"
_TRAIN_A = [
    (f"{_A}/train_zero_shot.csv", "Training data, zero-shot"),
    (f"{_A}/train_one_shot.csv", _LABELLED),
]
_TRAIN_B = [(f"{_B_TRAIN}/train_data.csv", "Training data")]

#: Public labelled data for training baselines.
TRAINING = tuple(file for file, _ in (*_TRAIN_A, (f"{_A_TEST}/train_one_shot.csv", "")))
DEV_GOLD = (f"{_A}/dev_gold.csv",)
BASELINES = {
    DETECTION: ("idiomatic", "not-idiomatic", "majority", "frequency"),
    SIMILARITY: ("word-overlap",),
}

PARTS = (
    Part(
        phase="practice",
        task=DETECTION,
        split="dev",
        items=f"{_A}/dev.csv",
        template=f"{_A}/dev_submission_format.csv",
        gold=f"{_A}/dev_gold.csv",
        training=_TRAIN_A,
    ),
    Part(
        phase="practice",
        task=SIMILARITY,
        split="dev",
        items=f"{_B}/dev.csv",
        template=f"{_B}/dev.submission_format.csv",
        gold=f"{_B}/dev.gold.csv",
        training=_TRAIN_B,
    ),
    Part("eval", DETECTION, "eval", f"{_A}/eval.csv", f"{_A}/eval_submission_format.csv"),
    Part("eval", SIMILARITY, "eval", f"{_B}/eval.csv", f"{_B}/eval.submission_format.csv"),
    Part(
        phase="test",
        task=DETECTION,
        split="test",
        items=f"{_A_TEST}/test.csv",
        template=f"{_A_TEST}/test_submission_format.csv",
        training=[(f"{_A_TEST}/train_one_shot.csv", _LABELLED)],
    ),
    Part(
        phase="test",
        task=SIMILARITY,
        split="test",
        items=f"{_B_TEST}/test.csv",
        template=f"{_B_TEST}/test_submission_format.csv",
        training=[(f"{_B_TEST}/train_one_shot.csv", _LABELLED)],
    ),
)
#: The dev set with its public gold; the blind set of the months before; the evaluation itself, hidden until its close;
#: and afterwards without an end. Dates are those of the release of data, and of the last results.
PHASES: dict[str, dict[str, Any]] = {
    "practice": {"start": "2021-09-03 00:00 UTC", "entry": "best", "limits": Inline(total=999)},
    "eval": {"start": "2021-09-03 00:00 UTC", "entry": "best", "limits": Inline(per_day=10), **ALL_SLICES},
    "test": {
        "start": "2022-01-10 00:00 UTC",
        "end": "2022-02-01 00:00 UTC",
        "entry": "last",
        "limits": Inline(per_day=10, total=10),
        "visibility": Inline(board="hidden", public_from="close"),
    },
    "post-evaluation": {
        "start": "2022-02-01 00:00 UTC",
        "entry": "best",
        "limits": Inline(total=999),
        **ALL_SLICES,
        "carry_over": "test",
    },
}
#: Phases without data of their own, and the phase whose data they reuse.
SAME_DATA = {"post-evaluation": "test"}


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A board, its result list, and the split (after the setting) of each column of the list."""

    name: str
    title: str
    task: str
    setting: str
    file: str
    scores: Mapping[str, str]


_F1 = {"F1 Score": "all"}
_RHO = {"Spearman's R": "all/all", "Spearman's R (Idiom Only)": "all/idiom", "Spearman's R (STS Only)": "all/sts"}

BOARDS = (
    BoardPart("zero-shot", "Subtask A, zero-shot", DETECTION, "zero_shot", "subtask_a_zero_shot.csv", _F1),
    BoardPart("one-shot", "Subtask A, one-shot", DETECTION, "one_shot", "subtask_a_one_shot.csv", _F1),
    BoardPart("pre-train", "Subtask B, pre-training only", SIMILARITY, "pre_train", "subtask_b_pretrain.csv", _RHO),
    BoardPart("fine-tune", "Subtask B, fine-tuned", SIMILARITY, "fine_tune", "subtask_b_finetune.csv", _RHO),
)
