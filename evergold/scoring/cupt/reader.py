"""Read a predicted CUPT file, whole or sentence by sentence, as long as its tokens are the expected ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

from evergold.scoring.cupt.codes import NO_MWE, UNANNOTATED, Tokens, read_mwes, recurring_mwes
from evergold.scoring.cupt.corpus import CuptItems, Mwe, lemma_key
from evergold.scoring.cupt.lines import Header, Sentence, noter
from evergold.scoring.errors import Problems

if TYPE_CHECKING:
    from evergold.scoring.cupt.scan import CodedTokens


#: Most MWE codes a file can have: this many per token, plus a constant. A real one has less than one per token.
MOST_CODES_TIMES, MOST_CODES_BESIDES = 10, 20_000


class PredictionReader:
    """State of reading one file: the next sentence of the items, and the results so far."""

    def __init__(self, items: CuptItems, header: Header, problems: Problems, file: str | None) -> None:
        self.items, self.header, self.problems, self.file = items, header, problems, file
        self.position = 0
        self.mwes: list[Mwe] = []
        self.lemmas: list[bytes] = []
        self.line_count = 0
        self.code_count = 0
        self.unannotated, self.first_unannotated = 0, 0
        #: First occurrence of each category: line and sentence.
        self.categories: dict[str, tuple[int, str]] = {}
        self._usual = (header.id, header.form, header.mwe) == (0, 1, len(header.names) - 1)

    def accept_all(self, coded: CodedTokens) -> None:
        """Add the MWEs of a file that was scanned."""
        if not self._is_bearable(coded.fields):
            return
        for first, end in pairwise([*coded.firsts, len(coded.fields)]):
            self.position = coded.sentences[first]
            positions, lemmas, fields = coded.positions[first:end], coded.lemmas[first:end], coded.fields[first:end]
            pattern = recurring_mwes(tuple(fields))
            if pattern is None:
                line_at = dict(zip(positions, coded.lines[first:end], strict=True))
                lemma_at = dict(zip(positions, lemmas, strict=True))
                self._take(dict(zip(positions, fields, strict=True)), (), line_at, lemma_at.__getitem__)
                continue
            for places, category in pattern:
                tokens = tuple([positions[place] for place in places])
                self._add(tokens, category, [lemmas[place] for place in places], coded.lines[first + places[0]])

    def accept(self, sentence: Sentence) -> bool:
        """Add the MWEs of the next sentence and return True; return False, with nothing done, if its tokens are not the
        expected ones.
        """
        if self.position == len(self.items):
            return False
        rows = self.comparable(sentence)
        expected = rows_of(self.items.key(self.position))
        columns = len(self.header.names) if self._usual else 3
        if len(rows) != len(expected) or not all(map(bytes.startswith, rows, expected)):
            return False
        if set(map(bytes.count, rows, repeat(b"\t"))) != {columns - 1}:
            return False
        if all(map(bytes.endswith, rows, repeat(b"\t" + NO_MWE))):  # as in most sentences
            self.position += 1
            return True
        fields = [row[row.rfind(b"\t") + 1 :] for row in rows]
        coded = {row: field for row, field in enumerate(fields) if field != NO_MWE}
        if self._is_bearable(coded.values()):
            ranges = self.items.ranges(self.position)
            self._take(coded, ranges, sentence.lines, cache(lambda row: self._lemma(sentence.rows[row])))
        self.position += 1
        return True

    def comparable(self, sentence: Sentence) -> list[bytes]:
        """Return the token lines with ID and FORM first and PARSEME:MWE last, as most files have them anyway."""
        if self._usual:
            return sentence.rows
        chosen = (self.header.id, self.header.form, self.header.mwe)
        tabs = len(self.header.names) - 1
        rows = (row.split(b"\t") if row.count(b"\t") == tabs else None for row in sentence.rows)
        return [b"\t".join([row[i] for i in chosen]) if row is not None else b"" for row in rows]

    def may_be_unbearable(self, data: bytes, lines: int) -> bool:
        """Return whether a file of this many lines could have more codes than allowed, by a quick upper bound;
        `_is_bearable` counts them.
        """
        return lines + data.count(b";") >= self._most_codes()

    def _most_codes(self) -> int:
        return MOST_CODES_TIMES * self.items.first_rows[-1] + MOST_CODES_BESIDES

    def _is_bearable(self, fields: Collection[bytes]) -> bool:
        """Add the codes in these fields to the file's count; return whether it is within the limit, and report it once
        if not.
        """
        most = self._most_codes()
        before, self.code_count = self.code_count, self.code_count + len(fields) + sum(map(_semicolons, fields))
        if before <= most < self.code_count:
            message = f"the file has more than {most:,} MWE codes, but the blind file has only "
            message += f"{self.items.first_rows[-1]:,} tokens"
            self.problems.add("too-many-codes", message, file=self.file)
        return self.code_count <= most

    def _take(
        self,
        coded: dict[int, bytes],
        ranges: Sequence[int],
        lines: Sequence[int] | Mapping[int, int],
        lemma: Callable[[int], bytes],
    ) -> None:
        """Add the MWEs of the sentence at `position`. lines: the line number of each token line, by its index. lemma:
        returns the lemma of a token line, given its index.
        """
        if UNANNOTATED in coded.values():
            unannotated = [row for row, field in coded.items() if field == UNANNOTATED]
            self.first_unannotated = self.first_unannotated or lines[unannotated[0]]
            self.unannotated += len(unannotated)
            coded = {row: field for row, field in coded.items() if field != UNANNOTATED}
        name = self.items.sentence_ids[self.position]
        ids = self.items.ids(self.position) if any(row in coded for row in ranges) else ()
        found = read_mwes(coded, ranges, ids, noter(self.problems, self.file, lines, name))
        row_of = _rows_of_words(ranges) if ranges else None
        for tokens, category in found:
            rows = [row_of(token) for token in tokens] if row_of else tokens
            self._add(tokens, category, [lemma(row) for row in rows], lines[rows[0]])

    def _add(self, tokens: Tokens, category: str | None, lemmas: list[bytes], line: int) -> None:
        self.mwes.append(Mwe(self.position, tokens, category))
        self.lemmas.append(lemma_key(lemmas))
        if category is not None and category not in self.categories:
            self.categories[category] = (line, self.items.sentence_ids[self.position])

    def _lemma(self, row: bytes) -> bytes:
        """Return the LEMMA column of a token line, which the official evaluator uses; `_` if there is none."""
        return UNANNOTATED if self.header.lemma is None else row.split(b"\t", self.header.lemma + 1)[self.header.lemma]


def rows_of(key: bytes) -> list[bytes]:
    """Return `ID<tab>FORM<tab>` of each token line of a sentence."""
    columns = key.split(b"\t")
    return [b"%s\t%s\t" % row for row in zip(columns[:-1:2], columns[1::2], strict=True)]


def _rows_of_words(ranges: Sequence[int]) -> Callable[[int], int]:
    """Return a function from a position to its token line, for a sentence with these ranges."""
    words_before = [row - number for number, row in enumerate(ranges)]
    return lambda token: token + bisect_right(words_before, token)


def _semicolons(field: bytes) -> int:
    return field.count(b";")
