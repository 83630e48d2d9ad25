"""Difference between our BERTScore and that of the package `bert-score`, on pairs of sentences from the demo.

The pairs come with this code (`workers/data/demo_pairs.json`): every sentence to paraphrase with its creative reference
and with the next sentence's. The package's batches change mostly the scores of texts without anything in common, so
there are such pairs, and more than fit into one batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evergold.scoring.bertscore import PairScores, embed, match, weigh
from evergold.scoring.encoders import load_encoder
from evergold.scoring.errors import ScoringError
from evergold.scoring.models import EncoderSettings, find_model, usual_layer
from evergold.scoring.reference_bertscore import PACKAGE, load_reference, reference_scores, reference_version

_PAIRS = Path(__file__).parent / "data" / "demo_pairs.json"


@dataclass(frozen=True)
class Comparison:
    """The largest differences in F1 between our BERTScore and the package's, with one encoder.

    difference: with our default, in which scores do not depend on other pairs.
    in_its_batches: with `compatibility: upstream-64`, where only rounding should be left.
    """

    model: str
    package: str
    pairs: int
    difference: float
    in_its_batches: float


def compare_models(
    names: Sequence[str], settings: EncoderSettings, tolerance: float
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Compare every model; return the comparisons, and a sentence for each model that fails or differs beyond rounding.

    No reason for a worker to refuse runs: the self-check compares our own implementation with recorded scores.
    """
    done, words = list[Comparison](), list[str]()
    for name in names:
        try:
            layer = usual_layer(name, find_model(name, settings.models_dir))
            compared = compare_with_package(name, layer, settings)
        except ScoringError as error:
            words.append(f"{name} was not compared with {PACKAGE}: {error}.")
            continue
        done.append(compared)
        if compared.in_its_batches > tolerance:
            words.append(
                f"{name}: {compared.package} differs by {compared.in_its_batches:.7f} in its own batches, too."
            )
    return tuple(done), tuple(words)


def compare_with_package(name: str, layer: int, settings: EncoderSettings) -> Comparison:
    """Compare both on every pair. Raises MissingPackage without bert-score, and what loading a model raises."""
    candidates, references = map(list, zip(*read_pairs(), strict=True))
    expected = reference_scores(load_reference(name, layer, settings), candidates, references)
    encoder = load_encoder(name, layer, "fp32", settings)
    weighted = weigh(encoder, embed(encoder, references, candidates))
    alone, together = match(weighted, candidates, references), match(weighted, candidates, references, "upstream-64")
    package = f"{PACKAGE} {reference_version()}"
    return Comparison(name, package, len(candidates), _largest(alone, expected), _largest(together, expected))


def read_pairs() -> list[tuple[str, str]]:
    """Return the candidate and reference of every pair."""
    return [(candidate, reference) for candidate, reference in json.loads(_PAIRS.read_text(encoding="utf-8"))]


def _largest(ours: PairScores, expected: PairScores) -> float:
    return float(np.abs(ours.f1 - expected.f1).max())
