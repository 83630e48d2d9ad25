"""The quick way through a predicted CUPT file whose tokens are the expected ones: many lines at once, with numpy.

Whatever is out of the ordinary is left to `cupt_prediction`, which goes sentence by sentence and can say what is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.cupt import FORM, ID, LEMMA, MWE, CuptItems, Header

#: Blocks of whole sentences of at least this size are looked at together; more costs memory and gains no speed.
BLOCK_BYTES = 128 * 1024

_TAB, _NEWLINE, _HASH, _STAR = b"\t\n#*"


class CodedRow(NamedTuple):
    """A token line whose PARSEME:MWE column is not `*`: sentence and row in it (from 0), line in the file."""

    sentence: int
    row: int
    line: int
    lemma: bytes
    field: bytes


def scan(data: bytes, header: Header, items: CuptItems) -> list[CodedRow] | None:
    """The coded token lines of a file in order, or None where only a slower look can tell what is in it.

    data, header: as `cupt.opened` returns them. A list is returned if and only if the sentences and tokens are those of
    `items`, every line has as many columns as the header, the last one its end, and the columns stand as usual.
    """
    names = header.names
    if names[:3] != (ID, FORM, LEMMA) or names[-1] != MWE or len(names) < 4 or not data.endswith(b"\n"):
        return None
    expected = b"".join(items.tokens).replace(b"\n", b"")
    first_rows = np.cumsum([0, *(tokens.count(b"\n") + 1 for tokens in items.tokens)])
    coded: list[CodedRow] = []
    start, line, row, compared = data.index(b"\n") + 1, 2, 0, 0
    while start < len(data):
        end = data.find(b"\n\n", start + BLOCK_BYTES)
        block = _Block(data, start, end + 2 if end >= 0 else len(data))
        keys = block.keys(len(names))
        if keys is None or keys != expected[compared : compared + len(keys)]:
            return None
        here = first_rows[np.searchsorted(first_rows, row) : np.searchsorted(first_rows[:-1], row + block.size)]
        if not np.array_equal(here - row, block.sentence_starts()):
            return None
        coded += block.coded(first_rows, row, line)
        start, line, row, compared = block.end, line + block.lines, row + block.size, compared + len(keys)
    return coded if row == first_rows[-1] else None


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

    def coded(self, first_rows: npt.NDArray[np.int64], row: int, line: int) -> list[CodedRow]:
        """The token lines that are not `*`; row, line: the numbers of the first in this block."""
        bare = (self.row_ends - self.last_tab == 2) & (self.bytes[self.row_ends - 1] == _STAR)
        chosen = np.flatnonzero(~bare)
        sentences = np.searchsorted(first_rows, row + chosen, side="right") - 1
        tab = self.first_tab[chosen]
        columns = (
            sentences,
            row + chosen - first_rows[sentences],
            line + self.rows[chosen],
            self.start + self.tabs[tab + 1] + 1,
            self.start + self.tabs[tab + 2],
            self.start + self.last_tab[chosen] + 1,
            self.start + self.row_ends[chosen],
        )
        return [
            CodedRow(sentence, place, number, self.data[lemma:lemma_end], self.data[field:field_end])
            for sentence, place, number, lemma, lemma_end, field, field_end in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
