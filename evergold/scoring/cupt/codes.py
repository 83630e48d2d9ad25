"""The PARSEME:MWE column of one sentence: codes like `1`, `2:VID` and `1;2:LVC.full`, and the MWEs they form."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from evergold.scoring.errors import Severity

#: A token with more codes is no annotation; broken real systems have given one 330.
MOST_CODES = 2_000
#: In the MWE column: in no MWE; not annotated (the blind file).
NO_MWE, UNANNOTATED = b"*", b"_"

#: One MWE code on one token: its number, and its category if given.
Code = tuple[int, str | None]
#: Positions of tokens in their sentence, from 0, ascending. Words and empty nodes have one, ranges have none.
Tokens = tuple[int, ...]
#: note(code, message, row in the sentence, severity): receives the problems of a sentence.
Note = Callable[[str, str, int, Severity], None]

_CODE = re.compile(rb"([1-9][0-9]{0,5})(?::([A-Za-z][A-Za-z0-9._+-]{0,39}))?")


def read_mwes(
    coded: Mapping[int, bytes], ranges: Sequence[int], ids: Sequence[bytes], note: Note
) -> list[tuple[Tokens, str | None]]:
    """Return the MWEs of one sentence, in the order in which their codes first appear: positions and category of each.

    coded: the MWE field of every token line where it is not `*`, by the line's index in the sentence, in order; ranges:
    the indices of the lines that are ranges, ascending; ids: the ID of every line, read only if a range has a code,
    which is then given to its words. The category is that of the first token bearing the code, None if it has none
    there. Reported as errors: malformed codes, tokens left `_`, two different categories for one code; as warnings: a
    code on a range, a code repeated on one token, a category that is missing or only on a later token, a gap in the
    numbering. Source: the official tsvlib; there, if a token repeats a code, the order of the codes decides whether its
    category is read; here a category anywhere on that token is.
    """
    given: dict[int, str] = {}
    codes_of: dict[int, Sequence[Code]] = {}
    for row, field in coded.items():
        codes_of[row] = read_codes(field, row, note)
        _note_conflicts(codes_of[row], given, row, note)
    if ranges and any(row in codes_of for row in ranges):
        codes_of = _with_ranges(ids, ranges, codes_of, note)
    members: dict[int, list[int]] = {}
    categories: dict[int, str | None] = {}
    for row, codes in codes_of.items():
        position = row - bisect_left(ranges, row)
        for number, category in codes:
            members.setdefault(number, []).append(position)
            categories.setdefault(number, category)
    if members:
        _note_numbering(categories, given, min(codes_of), note)
    return [(tuple(tokens), categories[number]) for number, tokens in members.items()]


def recurring_mwes(fields: tuple[bytes, ...]) -> tuple[tuple[Tokens, str | None], ...] | None:
    """Return the result of `read_mwes` for fields of words, not of ranges, none of them `*`; positions are field
    indices.

    None if `read_mwes` would report anything, or if the fields are too many or too long. Nearly every file repeats a
    few patterns, so each is read only once and cached.
    """
    usual = len(fields) <= _RECURRING_FIELDS and sum(map(len, fields)) <= _RECURRING_FIELDS * _RECURRING_BYTES
    return _recurring_pattern(fields) if usual else None


def read_codes(field: bytes, row: int, note: Note) -> tuple[Code, ...]:
    """Return the codes in the MWE field of one token, each number once; none if it is `*` or wrong, which is reported.

    field: content of the column; row: its index, passed on to `note`.
    """
    number = field.count(b";") + 1
    if number > MOST_CODES:
        note("too-many-codes", f"{number:,} MWE codes on one token; at most {MOST_CODES:,} are read", row, "error")
        return ()
    codes = _recurring_codes(field) if len(field) <= _RECURRING_BYTES else _parse_codes(field)
    if codes is not None:
        return codes if len(codes) == 1 else _without_repetitions(codes, row, note)
    if field == NO_MWE:
        return ()
    if field == UNANNOTATED:
        note(
            ("unannotated"),
            "`_` means that this token was not annotated: write `*` for a token outside of MWEs",
            row,
            "error",
        )
        return ()
    note("malformed-code", _MALFORMED.format(field[:60].decode("utf-8", "replace")), row, "error")
    return ()


def _parse_codes(field: bytes) -> tuple[Code, ...] | None:
    """Return the raw codes of one field, or None if it is malformed (or `*` or `_`)."""
    codes: list[Code] = []
    for part in field.split(b";"):
        match = _CODE.fullmatch(part)
        if match is None:
            return None
        number, category = match.groups()
        codes.append((int(number), None if category is None else category.decode("ascii")))
    return tuple(codes)


#: A few short fields (`1`, `1:VID`) make up nearly every file.
_RECURRING_BYTES = 24
_recurring_codes = lru_cache(maxsize=1024)(_parse_codes)
_RECURRING_FIELDS = 12


@lru_cache(maxsize=1024)
def _recurring_pattern(fields: tuple[bytes, ...]) -> tuple[tuple[Tokens, str | None], ...] | None:
    noted: list[str] = []
    found = read_mwes(dict(enumerate(fields)), (), (), lambda code, *_: noted.append(code))
    return None if noted else tuple(found)


_ON_RANGE = "an MWE code on the range {}: it is given to the words of the range, where it belongs"
_MALFORMED = "malformed MWE code `{}`: expected `*`, or codes like `1` and `1:VID` with `;` between"


def _without_repetitions(codes: Sequence[Code], row: int, note: Note) -> tuple[Code, ...]:
    kept: dict[int, str | None] = {}
    for number, category in codes:
        if number in kept:
            note("repeated-code", f"MWE {number} is repeated on one token: write it once", row, "warning")
            _note_conflicts([(number, category)], {number: kept[number] or category or ""}, row, note)
        kept[number] = kept.get(number) or category
    return tuple(kept.items())


def _note_conflicts(codes: Sequence[Code], given: dict[int, str], row: int, note: Note) -> None:
    """Report categories that differ from the one given earlier in the sentence for the same code; add new ones to
    `given`.
    """
    for number, category in codes:
        if category is not None and given.setdefault(number, category) != category:
            message = f"MWE {number} is a {category} here, a {given[number]} before: one MWE has one category"
            note("conflicting-category", message, row, "error")


def _with_ranges(
    ids: Sequence[bytes], ranges: Sequence[int], codes_of: Mapping[int, Sequence[Code]], note: Note
) -> dict[int, Sequence[Code]]:
    """Return the codes of every word, with those of the ranges around it; a category on either the word or the range is
    enough.
    """
    spans: list[tuple[int, int, Sequence[Code]]] = []
    for row in ranges:
        if codes_of.get(row):
            note("code-on-range", _ON_RANGE.format(ids[row].decode("ascii")), row, "warning")
            first, _, last = ids[row].partition(b"-")
            spans.append((int(first), int(last), codes_of[row]))
    merged: dict[int, Sequence[Code]] = {}
    for row, token_id in enumerate(ids):
        if row in ranges:
            continue
        codes = dict(codes_of.get(row, ()))
        inherited = [] if b"." in token_id else [more for first, last, more in spans if first <= int(token_id) <= last]
        for number, category in chain.from_iterable(inherited):
            codes[number] = codes.get(number) or category
        if codes:
            merged[row] = tuple(codes.items())
    return merged


def _note_numbering(categories: Mapping[int, str | None], given: Mapping[int, str], row: int, note: Note) -> None:
    if max(categories) != len(categories):
        numbers = ", ".join(map(str, sorted(categories)[:20]))
        note("gap-in-numbers", f"MWEs are numbered 1, 2, 3, … in each sentence; here: {numbers}", row, "warning")
    for number, category in categories.items():
        if category is None:
            where = f"; {given[number]} on a later one is not read" if number in given else ""
            note("no-category", f"MWE {number} has no category on its first token{where}", row, "warning")
