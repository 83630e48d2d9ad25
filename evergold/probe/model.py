"""The interface of a probed model: vectors of a sentence, and of its marked words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence as words, and the positions of those that form the compound."""

    words: tuple[str, ...]
    compound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probed:
    """Vectors of n sentences, n × dimensions each: of the whole sentence, and of the compound in it."""

    sentences: Vectors
    compounds: Vectors


class Model(Protocol):
    """Computes the vectors of sentences, and collects remarks about them."""

    def probe(self, texts: Sequence[Marked]) -> Probed: ...

    @property
    def remarks(self) -> Sequence[str]: ...
