"""Probed models: vectors of a sentence and of its marked words, by a contextual encoder or by word vectors."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evergold.scoring.bertscore.models import PACKAGED, ModelNotFound, find_model
from evergold.scoring.errors import ScoringError
from evergold.scoring.optional import load_package

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence as words, and the positions of those that form the compound."""

    words: tuple[str, ...]
    compound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probed:
    """Vectors of n sentences: `sentences` of the whole sentences, `compounds` of the compounds in them, n × dimensions
    each.
    """

    sentences: Vectors
    compounds: Vectors


class Model(Protocol):
    """Computes the vectors of sentences, and collects remarks about them."""

    def probe(self, texts: Sequence[Marked]) -> Probed: ...

    @property
    def remarks(self) -> Sequence[str]: ...


EXTRA = "probe"
BATCH = 32


class ContextualModel:
    """An encoder with its tokeniser. name: a folder, a packaged model, or a model on the Hugging Face hub."""

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
            raise ScoringError(f"{name} has no fast tokeniser, which is needed to map tokens to words")
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

    def _batch(self, texts: Sequence[Marked]) -> tuple[Vectors, Vectors]:
        encoded = self._tokenizer(
            [list(one.words) for one in texts],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            found = self._model(**encoded.to(self._device), output_hidden_states=True)
        states = found.hidden_states[self._layer].float().cpu().numpy()
        rows = [_means(states[row], encoded.word_ids(row), one) for row, one in enumerate(texts)]
        return np.stack([whole for whole, _ in rows]), np.stack([marked for _, marked in rows])


def _means(states: Any, words: Sequence[int | None], marked: Marked) -> tuple[Vectors, Vectors]:
    """Return the means over the tokens of all words of a sentence, and over those of its compound."""
    everything = [place for place, word in enumerate(words) if word is not None]
    compound = [place for place, word in enumerate(words) if word in marked.compound]
    if not compound:
        text = " ".join(marked.words)
        raise ScoringError(
            f"the model reads no token of the compound, perhaps because the sentence is too long: {text}"
        )
    return states[everything].mean(axis=0), states[compound].mean(axis=0)


def _place(name: str) -> str:
    """Return the folder of a packaged model; any other name, of a folder or of a model on the hub, unchanged."""
    if name in PACKAGED and not Path(name).is_dir():
        return str(find_model(name, None).folder)
    return name


SUFFIXES = (".vec", ".txt", ".gz")


class StaticModel:
    """Word vectors from a file; only the vectors of the requested words are kept in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.remarks: Sequence[str] = ()

    def probe(self, texts: Sequence[Marked]) -> Probed:
        """Compute all vectors in one pass over the file."""
        wanted = {form for one in texts for word in one.words for form in (word, word.lower())}
        known, mean = self._read(wanted)
        unknown = {word for one in texts for word in one.words if _vector(word, known) is None}
        if unknown:
            shown = ", ".join(sorted(unknown)[:5])
            self.remarks = [f"{len(unknown)} words have no vector and get the mean of all vectors: {shown}, …"]

        def mean_of(words: Sequence[str]) -> Vectors:
            vectors = [_vector(word, known) for word in words]
            found = np.stack([mean if vector is None else vector for vector in vectors])
            return np.asarray(found.mean(axis=0), dtype=np.float32)

        return Probed(
            np.stack([mean_of(one.words) for one in texts]),
            np.stack([mean_of([one.words[place] for place in one.compound]) for one in texts]),
        )

    def _read(self, wanted: set[str]) -> tuple[dict[str, Vectors], Vectors]:
        """Return the vectors of the wanted words, and the mean of all vectors."""
        known: dict[str, Vectors] = {}
        total: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
        count = 0
        for word, vector in self._lines():
            if total is None:
                total = np.zeros(len(vector))
            if len(vector) != len(total):
                raise ScoringError(
                    f"{self._path}: {word} has {len(vector)} numbers, the words before have {len(total)}"
                )
            total += vector
            count += 1
            if word in wanted:
                known.setdefault(word, vector)
        if total is None:
            raise ScoringError(f"{self._path} has no word vectors: expected a line `word number number …` for each")
        return known, (total / count).astype(np.float32)

    def _lines(self) -> Iterator[tuple[str, Vectors]]:
        """Yield words with their vectors; a first line that consists of two numbers, the file's sizes, is skipped."""
        opener = gzip.open if self._path.suffix == ".gz" else open
        with opener(self._path, "rt", encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                word, *numbers = line.rstrip().split(" ")
                if number == 1 and len(numbers) == 1:
                    continue
                try:
                    yield word, np.array(numbers, dtype=np.float32)
                except ValueError:
                    raise ScoringError(
                        f"{self._path}, line {number}: {word[:20]!r} is not followed by numbers"
                    ) from None


def _vector(word: str, known: dict[str, Vectors]) -> Vectors | None:
    found = known.get(word)
    return known.get(word.lower()) if found is None else found
