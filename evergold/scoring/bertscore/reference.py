"""BERTScore by the package `bert-score` itself, for organisers who want the official library's own numbers.

Its functions load the model, weigh the tokens, encode and match, in its usual batches of 64, and its results count: a
pair's score depends on its neighbours in a batch (see `bertscore`). Nothing is cached between submissions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Any

import numpy as np

from evergold.scoring.bertscore.encoders import EXTRA, Encoder, max_tokens
from evergold.scoring.bertscore.models import BrokenModel, EncoderSettings, ModelFiles, find_model
from evergold.scoring.bertscore.scores import PairScores
from evergold.scoring.errors import InvalidOptions, Problem
from evergold.scoring.optional import load_package

PACKAGE = "bert-score"
#: The package's default.
BATCH_SIZE = 64
#: The package loads a model whose path contains this as another kind of model.
_OF_T5 = "t5"


@dataclass(frozen=True)
class Reference:
    """The package, with a model and a tokeniser that it loaded itself."""

    package: Any
    encoder: Encoder


def load_reference(name: str, layer: int, settings: EncoderSettings) -> Reference:
    """Load the package with this model, or return the one already loaded.

    Raises ModelNotFound, BrokenModel, MissingPackage; InvalidOptions if the model has no such layer.
    """
    torch = load_package("torch", EXTRA)
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    return _load(name, find_model(name, settings.models_dir), layer, settings.device)


def reference_version() -> str:
    """Return the version of the installed distribution, such as `0.3.13`."""
    return metadata.version(PACKAGE)


def reference_scores(
    reference: Reference,
    candidates: Sequence[str],
    references: Sequence[str],
    idf_references: Sequence[str] | None = None,
) -> PairScores:
    """Return precision, recall and F1 of n pairs as the package computes them, in this order; NaN where it returns NaN.

    idf_references: the texts over which idf is computed (None: no idf).
    """
    if not candidates:
        return PairScores(*(np.zeros(0, dtype=np.float32) for _ in PairScores._fields))
    found = reference.package.bert_cos_score_idf(
        reference.encoder.model,
        list(references),
        list(candidates),
        reference.encoder.tokenizer,
        _weights(reference, idf_references),
        device=reference.encoder.device,
        batch_size=BATCH_SIZE,
    )
    return PairScores(*found.numpy().T)


def _weights(reference: Reference, idf_references: Sequence[str] | None) -> Mapping[int, float]:
    """Return the weight of every token id, as the package's own `score` does."""
    if idf_references is None:
        weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
        return weights | dict.fromkeys(reference.encoder.special_ids, 0.0)
    # No processes of its own: a worker is one already.
    found: Mapping[int, float] = reference.package.get_idf_dict(
        list(idf_references), reference.encoder.tokenizer, nthreads=0
    )
    return found


@lru_cache(maxsize=1)
def _load(name: str, files: ModelFiles, layer: int, device: str) -> Reference:
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported; a name must never lead to a download
    transformers, package = load_package("transformers", EXTRA), load_package("bert_score.utils", EXTRA)
    transformers.utils.logging.set_verbosity_error()
    folder = str(files.folder)
    if _OF_T5 in folder:
        raise BrokenModel(f"{name}: {PACKAGE} takes what lies in a folder with {_OF_T5!r} in its path for a T5 model")
    try:
        tokenizer, model = package.get_tokenizer(folder), package.get_model(folder, layer)
    except AssertionError as error:  # raised if there are fewer layers
        raise InvalidOptions([Problem("bad-option", f"option layer: {name} has no layer {layer}")]) from error
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        raise BrokenModel(f"{name}: {PACKAGE} cannot load the model: {error}") from error
    encoder = Encoder(name, files, layer, "fp32", device, model.to(device), tokenizer, max_tokens(tokenizer, model))
    return Reference(package, encoder)
