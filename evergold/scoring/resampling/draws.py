"""Random draws of units, the same on every machine: bits of Philox from a digest, never a library's distribution.

NumPy guarantees the bits of its bit generators for ever, but not its distributions; so a board's numbers can be
reproduced, locally and years later. Draws come in chunks with a key each: nothing large is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.units import Units

Floats = npt.NDArray[np.float64]

#: Increased whenever an interval or a p could change; part of signatures.
METHOD_VERSION = 2
#: Increased whenever other draws are made; part of the seed.
DRAWS_VERSION = 1
RESAMPLES = 10_000
#: Fixed, since each chunk has its own key.
CHUNK = 250
_WORD = np.dtype("<u4")


@dataclass(frozen=True)
class Draws:
    """Resamples of some units.

    digest: the seed's source, the commitment of the gold.
    resamples: their number.
    """

    units: Units
    digest: str
    resamples: int = RESAMPLES

    @property
    def seed(self) -> str:
        """The seed as shown in signatures: 16 hexadecimal digits of the digest and the draws' version."""
        return hashlib.sha256(f"{DRAWS_VERSION}:{self.digest}".encode()).hexdigest()[:16]

    def weights(self) -> Iterator[Floats]:
        """Yield how often each unit is drawn, with replacement: chunks of resamples × units.

        Each resample sums to the number of units.
        """
        for rows, words in self._chunks("bootstrap", len(self.units)):
            yield self._counted(rows, words.reshape(rows, -1))

    def swaps(self) -> Iterator[Floats]:
        """Yield whether two systems swap a unit, 1 or 0 with equal chances: chunks of resamples × units."""
        words_each = -(-len(self.units) // 32)
        for rows, words in self._chunks("swap", words_each):
            bits = np.unpackbits(words.reshape(rows, words_each).view(np.uint8), axis=1, bitorder="little")
            yield bits[:, : len(self.units)].astype(np.float64)

    def _counted(self, rows: int, words: npt.NDArray[np.uint32]) -> Floats:
        """Return how often each unit is drawn: each word draws one unit from the stratum of the unit at the word's
        position.
        """
        counts = np.empty((rows, len(self.units)))
        lines = np.arange(rows)[:, None]
        for places in self.units.groups:
            size = len(places)
            # The high half of word × size: uniform except for size / 2^32.
            chosen = ((words[:, places].astype(np.uint64) * np.uint64(size)) >> np.uint64(32)).astype(np.intp)
            drawn = np.bincount((chosen + lines * size).ravel(), minlength=rows * size)
            counts[:, places] = drawn.reshape(rows, size)
        return counts

    def _chunks(self, purpose: str, words_each: int) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
        for number, start in enumerate(range(0, self.resamples, CHUNK)):
            rows = min(CHUNK, self.resamples - start)
            key = hashlib.sha256(f"{self.seed}:{purpose}:{number}".encode()).digest()[:16]
            raw = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(-(-rows * words_each // 2))
            yield rows, np.asarray(raw, dtype="<u8").view(_WORD)[: rows * words_each]
