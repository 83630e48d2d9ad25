"""Vectors of a Hugging Face encoder: the mean over the tokens of a sentence, and over those of its compound.

From the last layer, or another one; special tokens count nowhere. torch and transformers load with the first model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evergold.probe.model import Marked, Probed, Vectors
from evergold.scoring.errors import ScoringError
from evergold.scoring.models import PACKAGED, ModelNotFound, find_model
from evergold.scoring.optional import load_package

EXTRA = "probe"
BATCH = 32


class ContextualModel:
    """An encoder with its tokeniser. name: of a folder, a packaged model, or a model of the Hugging Face hub."""

    remarks: Sequence[str] = ()

    def __init__(self, name: str, layer: int | None = None, device: str = "cpu") -> None:
        transformers = load_package("transformers", EXTRA)
        self._torch = load_package("torch", EXTRA)
        place = _place(name)
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(place, use_fast=True)
            self._model = transformers.AutoModel.from_pretrained(place).to(device).eval()
        except (OSError, ValueError) as error:
            raise ModelNotFound(f"the model {name} cannot be loaded: {error}") from None
        if not self._tokenizer.is_fast:
            raise ScoringError(f"{name} has no fast tokeniser, which is needed to tell whose word a token is")
        layers = self._model.config.num_hidden_layers
        if layer is not None and not 0 <= layer <= layers:
            raise ScoringError(f"{name} has the layers 0 to {layers}, not {layer}")
        self._layer = layers if layer is None else layer
        self._device = device

    def probe(self, texts: Sequence[Marked]) -> Probed:
        """Compute vectors in batches of similar length, so that little is padded."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place].words))
        width = self._model.config.hidden_size
        sentences = np.zeros((len(texts), width), dtype=np.float32)
        compounds = np.zeros((len(texts), width), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            whole, marked = self._batch([texts[place] for place in places])
            sentences[places], compounds[places] = whole, marked
        return Probed(sentences, compounds)

    def _batch(self, asked: Sequence[Marked]) -> tuple[Vectors, Vectors]:
        encoded = self._tokenizer(
            [list(one.words) for one in asked],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            found = self._model(**encoded.to(self._device), output_hidden_states=True)
        states = found.hidden_states[self._layer].float().cpu().numpy()
        rows = [_means(states[row], encoded.word_ids(row), one) for row, one in enumerate(asked)]
        return np.stack([whole for whole, _ in rows]), np.stack([marked for _, marked in rows])


def _means(states: Any, words: Sequence[int | None], asked: Marked) -> tuple[Vectors, Vectors]:
    """Return the means over the tokens of all words of a sentence, and over those of its compound."""
    everything = [place for place, word in enumerate(words) if word is not None]
    compound = [place for place, word in enumerate(words) if word in asked.compound]
    if not compound:
        text = " ".join(asked.words)
        raise ScoringError(
            f"the model reads no token of the compound, perhaps because the sentence is too long: {text}"
        )
    return states[everything].mean(axis=0), states[compound].mean(axis=0)


def _place(name: str) -> str:
    """Return a folder as is, a packaged model as its folder, anything else as a name on the hub."""
    if name in PACKAGED and not Path(name).is_dir():
        return str(find_model(name, None).folder)
    return name
