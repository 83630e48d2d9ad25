"""The fast way through a predicted CUPT file with the expected tokens: many lines at once, with numpy.

Anything unusual is left to `cupt.prediction`, which reads sentence by sentence and can report what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.cupt.corpus import CuptItems
from evergold.scoring.cupt.lines import FORM, ID, LEMMA, MWE, Header

#: Smallest size of a block of whole sentences scanned together; more costs memory and gains no speed.
BLOCK_BYTES = 256 * 1024
#: A block much larger than that lacks the end of a sentence.
LARGEST_BLOCK_BYTES = 4 * BLOCK_BYTES

_TAB, _NEWLINE, _HASH, _STAR = b"\t\n#*"

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CodedTokens:
    """The m tokens of a file whose PARSEME:MWE column is not `*`, in order.

    firsts: indices of the tokens that are the first ones of their sentences in this list.
    sentences, positions: the sentence of each token, and its position in it.
    lines: line number of each token in the file.
    lemmas, fields: the columns LEMMA and PARSEME:MWE of each token.
    """

    firsts: list[int]
    sentences: list[int]
    positions: list[int]
    lines: list[int]
    lemmas: list[bytes]
    fields: list[bytes]


def scan(data: bytes, header: Header, items: CuptItems) -> CodedTokens | None:
    """Return the coded tokens of a file, or None if only a slower reading can determine its content.

    data, header: as `lines.opened` returns them. If tokens are returned, the sentences and tokens are those of `items`,
    every line has as many columns as the header, the last one is complete, the columns are in the usual order, and no
    range has a code. Memory beyond the file itself stays below a few LARGEST_BLOCK_BYTES.
    """
    names = header.names
    if names[:3] != (ID, FORM, LEMMA) or names[-1] != MWE or len(names) < 4 or not data.endswith(b"\n"):
        return None
    first_rows = np.frombuffer(items.first_rows, np.int64)
    coded = [np.empty(0, np.int64)]
    lines: list[int] = []
    lemmas: list[bytes] = []
    fields: list[bytes] = []
    start, line, row, compared = data.index(b"\n") + 1, 2, 0, 0
    while start < len(data):
        end = data.find(b"\n\n", start + BLOCK_BYTES)
        end = end + 2 if end >= 0 else len(data)
        if end - start > LARGEST_BLOCK_BYTES:
            return None
        block = _Block(data, start, end, len(names))
        keys = block.keys()
        if keys is None or keys != items.keys[compared : compared + len(keys)]:
            return None
        here = first_rows[np.searchsorted(first_rows, row) : np.searchsorted(first_rows[:-1], row + block.size)]
        if not np.array_equal(here - row, block.sentence_starts()):
            return None
        chosen = block.coded_rows()
        coded.append(row + chosen)
        lines += (line + block.rows[chosen]).tolist()
        lemmas += block.lemmas(chosen)
        fields += block.fields(chosen)
        start, line, row, compared = end, line + block.lines, row + block.size, compared + len(keys)
    placed = _places(np.concatenate(coded), items) if row == first_rows[-1] else None
    return None if placed is None else CodedTokens(*placed, lines, lemmas, fields)


def _places(rows: Places, items: CuptItems) -> tuple[list[int], list[int], list[int]] | None:
    """Return firsts, sentences and positions of some token lines of a file, given by number; None if one is a range."""
    first_rows, ranges = np.frombuffer(items.first_rows, np.int64), np.frombuffer(items.range_rows, np.int64)
    ranges_before = np.searchsorted(ranges, rows)
    if not np.array_equal(ranges_before, np.searchsorted(ranges, rows, side="right")):
        return None
    sentences = np.searchsorted(first_rows, rows, side="right") - 1
    starts = first_rows[sentences]
    positions = rows - starts - ranges_before + np.searchsorted(ranges, starts)
    return np.flatnonzero(np.diff(sentences, prepend=-1)).tolist(), sentences.tolist(), positions.tolist()


class _Block:
    """Whole sentences, data[start:end], expected to have this many columns.

    rows: indices of the token lines among its lines; row_starts, row_ends: their offsets; ends: indices of row_ends in
    `breaks`. breaks: offsets of all tabs and line ends. Every offset is counted from `start`.
    """

    def __init__(self, data: bytes, start: int, end: int, columns: int) -> None:
        self.data, self.start, self.columns = data, start, columns
        self.bytes = np.frombuffer(data, np.uint8, end - start, start)
        self.breaks = np.flatnonzero(self.bytes - _TAB < 2)  # unsigned: tab and newline, the next byte
        ends = np.flatnonzero(self.bytes[self.breaks] == _NEWLINE)
        line_ends = self.breaks[ends]
        line_starts = np.empty_like(line_ends)
        line_starts[:1], line_starts[1:] = 0, line_ends[:-1] + 1
        self.lines = len(line_ends)
        beginnings = self.bytes[line_starts]
        self.empty = beginnings == _NEWLINE
        self.rows = np.flatnonzero((beginnings != _HASH) & ~self.empty)
        self.size = len(self.rows)
        self.row_starts, self.row_ends, self.ends = line_starts[self.rows], line_ends[self.rows], ends[self.rows]
        self.breaks_inside = np.diff(ends, prepend=-1)[self.rows] - 1

    def keys(self) -> bytes | None:
        """Return `ID<tab>FORM<tab>` of every token line; None if one has too few or too many columns."""
        if not np.all(self.breaks_inside == self.columns - 1):
            return None
        lengths = self._tabs(1) + 1 - self.row_starts
        chosen = np.repeat(self.row_starts - np.cumsum(lengths) + lengths, lengths)
        chosen += np.arange(len(chosen))
        keys: bytes = self.bytes[chosen].tobytes()
        return keys

    def sentence_starts(self) -> npt.NDArray[np.intp]:
        """Return the indices of the token lines that begin a sentence: the first, and those after an empty line."""
        empty_before = np.cumsum(self.empty)[self.rows]
        return np.flatnonzero(np.diff(empty_before, prepend=-1))

    def coded_rows(self) -> npt.NDArray[np.intp]:
        """Return the indices of the token lines that are not `*` in the last column."""
        bare = (self.row_ends - self._tabs(self.columns - 2) == 2) & (self.bytes[self.row_ends - 1] == _STAR)
        return np.flatnonzero(~bare)

    def lemmas(self, chosen: npt.NDArray[np.intp]) -> list[bytes]:
        """Return the third column of some token lines."""
        return self._between(self._tabs(1, chosen), self._tabs(2, chosen))

    def fields(self, chosen: npt.NDArray[np.intp]) -> list[bytes]:
        """Return the last column of some token lines."""
        return self._between(self._tabs(self.columns - 2, chosen), self.row_ends[chosen])

    def _tabs(self, number: int, chosen: npt.NDArray[np.intp] | slice = slice(None)) -> Places:
        """Return the offset of the tab with this number (from 0) in each of some token lines."""
        return self.breaks[self.ends[chosen] - (self.columns - 1 - number)]

    def _between(self, tabs: Places, ends: Places) -> list[bytes]:
        places = zip((self.start + 1 + tabs).tolist(), (self.start + ends).tolist(), strict=True)
        return [self.data[a:b] for a, b in places]
