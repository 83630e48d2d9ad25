"""What a probed model gives: a vector of a sentence, and one of its marked words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence as words, and the places of those that are the compound."""

    words: tuple[str, ...]
    compound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probed:
    """For n sentences n × dimensions each: of the whole sentence, of the compound in it."""

    sentences: Vectors
    compounds: Vectors


class Model(Protocol):
    """Gives the vectors of sentences, and what has to be said about them."""

    def probe(self, texts: Sequence[Marked]) -> Probed: ...

    @property
    def remarks(self) -> Sequence[str]: ...
