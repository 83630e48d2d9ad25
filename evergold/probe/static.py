"""Word vectors (word2vec's and fastText's text format, GloVe's; plain or .gz): the mean over the words of a text.

A word that the file lacks, both as written and in lower case, gets the mean of all vectors of the file.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from evergold.probe.model import Marked, Probed, Vectors
from evergold.scoring.errors import ScoringError

SUFFIXES = (".vec", ".txt", ".gz")


class StaticModel:
    """The vectors of a file; only those of the requested words are kept in memory."""

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
            self.remarks = [f"{len(unknown)} words have no vector, and get the mean of all: {shown}, …"]

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
            raise ScoringError(f"{self._path} has no word vectors: expected is a line `word number number …` for each")
        return known, (total / count).astype(np.float32)

    def _lines(self) -> Iterator[tuple[str, Vectors]]:
        """Yield words with their vectors; a first line with two numbers, the sizes, is skipped."""
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
                        f"{self._path}, line {number}: {word[:20]!r} is followed by no numbers"
                    ) from None


def _vector(word: str, known: dict[str, Vectors]) -> Vectors | None:
    found = known.get(word)
    return known.get(word.lower()) if found is None else found
