"""The quick way through a predicted CUPT file whose tokens are the expected ones: many lines at once, with numpy.

Whatever is out of the ordinary is left to `cupt_prediction`, which goes sentence by sentence and can say what is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.cupt import FORM, ID, LEMMA, MWE, Header
from scoring.cupt_corpus import CuptItems

#: Blocks of whole sentences of at least this size are looked at together; more costs memory and gains no speed.
BLOCK_BYTES = 256 * 1024
#: A block much larger than that has no end of a sentence where one should be.
LARGEST_BLOCK_BYTES = 4 * BLOCK_BYTES

_TAB, _NEWLINE, _HASH, _STAR = b"\t\n#*"


class CodedToken(NamedTuple):
    """A token whose PARSEME:MWE column is not `*`: its sentence and position in it, its line in the file."""

    sentence: int
    position: int
    line: int
    lemma: bytes
    field: bytes


def scan(data: bytes, header: Header, items: CuptItems) -> list[CodedToken] | None:
    """The coded tokens of a file in order, or None where only a slower look can tell what is in it.

    data, header: as `cupt.opened` returns them. A list is returned if and only if the sentences and tokens are those of
    `items`, every line has as many columns as the header and the last one its end, the columns stand as usual, and no
    range has a code. Memory beyond the file itself stays below a few LARGEST_BLOCK_BYTES.
    """
    names = header.names
    if names[:3] != (ID, FORM, LEMMA) or names[-1] != MWE or len(names) < 4 or not data.endswith(b"\n"):
        return None
    first_rows = np.frombuffer(items.first_rows, np.int64)
    places: list[npt.NDArray[np.int64]] = []
    coded: list[tuple[int, bytes, bytes]] = []
    start, line, row, compared = data.index(b"\n") + 1, 2, 0, 0
    while start < len(data):
        end = data.find(b"\n\n", start + BLOCK_BYTES)
        end = end + 2 if end >= 0 else len(data)
        if end - start > LARGEST_BLOCK_BYTES:
            return None
        block = _Block(data, start, end)
        keys = block.keys(len(names))
        if keys is None or keys != items.keys[compared : compared + len(keys)]:
            return None
        here = first_rows[np.searchsorted(first_rows, row) : np.searchsorted(first_rows[:-1], row + block.size)]
        if not np.array_equal(here - row, block.sentence_starts()):
            return None
        chosen = block.coded_rows()
        places.append(row + chosen)
        coded += block.contents(chosen, line)
        start, line, row, compared = block.end, line + block.lines, row + block.size, compared + len(keys)
    return _placed(np.concatenate([*places, _NOWHERE]), coded, items) if row == first_rows[-1] else None


_NOWHERE = np.empty(0, np.int64)


def _placed(
    rows: npt.NDArray[np.int64], contents: list[tuple[int, bytes, bytes]], items: CuptItems
) -> list[CodedToken] | None:
    """Contents (line, lemma, field) with sentence and position, by their rows in the file; None if one is a range."""
    first_rows, ranges = np.frombuffer(items.first_rows, np.int64), np.frombuffer(items.range_rows, np.int64)
    if np.isin(rows, ranges).any():
        return None
    sentences = np.searchsorted(first_rows, rows, side="right") - 1
    firsts = first_rows[sentences]
    positions = rows - firsts - np.searchsorted(ranges, rows) + np.searchsorted(ranges, firsts)
    return [
        CodedToken(sentence, position, *content)
        for sentence, position, content in zip(sentences.tolist(), positions.tolist(), contents, strict=True)
    ]


class _Block:
    """Whole sentences, data[start:end]; of each token line the places of start, end and tabs, counted from `start`."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end
        self.bytes = np.frombuffer(data, np.uint8, end - start, start)
        line_ends = np.flatnonzero(self.bytes == _NEWLINE)
        line_starts = np.empty_like(line_ends)
        line_starts[:1], line_starts[1:] = 0, line_ends[:-1] + 1
        self.lines = len(line_ends)
        self.empty = line_starts == line_ends
        self.rows = np.flatnonzero(~self.empty & (self.bytes[line_starts] != _HASH))
        self.size = len(self.rows)
        self.row_starts, self.row_ends = line_starts[self.rows], line_ends[self.rows]
        self.tabs = np.flatnonzero(self.bytes == _TAB)
        self.first_tab = np.searchsorted(self.tabs, self.row_starts)

    def keys(self, columns: int) -> bytes | None:
        """`ID<tab>FORM<tab>` of every token line; None where one has too few or too many columns."""
        behind_last_tab = np.searchsorted(self.tabs, self.row_ends)
        if not np.all(behind_last_tab - self.first_tab == columns - 1):
            return None
        self.last_tab = self.tabs[behind_last_tab - 1]
        lengths = self.tabs[self.first_tab + 1] + 1 - self.row_starts
        shifts = self.row_starts - np.cumsum(lengths) + lengths
        keys: bytes = self.bytes[np.repeat(shifts, lengths) + np.arange(lengths.sum())].tobytes()
        return keys

    def sentence_starts(self) -> npt.NDArray[np.intp]:
        """Which token lines begin a sentence: the first, and those behind an empty line."""
        empty_before = np.cumsum(self.empty)[self.rows]
        return np.flatnonzero(np.diff(empty_before, prepend=-1))

    def coded_rows(self) -> npt.NDArray[np.intp]:
        """Which token lines are not `*` in the last column."""
        bare = (self.row_ends - self.last_tab == 2) & (self.bytes[self.row_ends - 1] == _STAR)
        return np.flatnonzero(~bare)

    def contents(self, chosen: npt.NDArray[np.intp], line: int) -> list[tuple[int, bytes, bytes]]:
        """Line, lemma and last column of some token lines; line: the number of the first line of this block."""
        tab = self.first_tab[chosen]
        columns = (
            line + self.rows[chosen],
            self.start + self.tabs[tab + 1] + 1,
            self.start + self.tabs[tab + 2],
            self.start + self.last_tab[chosen] + 1,
            self.start + self.row_ends[chosen],
        )
        places = zip(*(column.tolist() for column in columns), strict=True)
        return [(number, self.data[a:b], self.data[c:d]) for number, a, b, c, d in places]
