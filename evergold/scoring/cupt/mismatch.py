"""Report how a predicted CUPT file deviates from the blind file: sentences, tokens, columns, languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evergold.scoring.characters import difference
from evergold.scoring.cupt.codes import UNANNOTATED, read_codes
from evergold.scoring.cupt.corpus import CuptItems
from evergold.scoring.cupt.lines import Sentence, note_columns, noter, sentence_id
from evergold.scoring.cupt.reader import PredictionReader, rows_of
from evergold.scoring.errors import shorten

#: Distance, in sentences, within which a missing or additional sentence is looked for. Affects only messages.
RESYNCHRONISE_WITHIN = 50


def explain_mismatch(remaining: list[Sentence], reader: PredictionReader, others: Mapping[str, CuptItems]) -> None:
    """Report how the sentences deviate from the items, starting at the first one that differs."""
    keys = [_key(sentence, reader) for sentence in remaining]
    swapped = _swapped(keys, reader, others)
    if swapped:
        message = f"these are the sentences of {swapped}: are the languages swapped?"
        reader.problems.add("swapped-language", message, file=reader.file, line=remaining[0].lines[0])
        return
    expected, index = [reader.items.key(number) for number in range(len(reader.items))], 0
    while index < len(keys) and reader.position < len(expected):
        if reader.accept(remaining[index]):
            index += 1
            continue
        missing, additional = _shift(keys, index, expected, reader.position)
        if missing:
            note_missing(reader, reader.position, reader.position + missing, remaining[index])
        elif additional:
            _note_additional(reader, remaining[index : index + additional])
        else:
            _note_difference(reader, remaining[index], keys[index])
            missing = additional = 1
        reader.position += missing
        index += additional
    _note_additional(reader, remaining[index:])
    note_missing(reader, reader.position, len(expected), None)


def _key(sentence: Sentence, reader: PredictionReader) -> bytes:
    """Return the tokens of a sentence in the form of the items; of a line with too few columns, those that it has."""
    cut = [(row + b"\t\t").split(b"\t", 2) for row in reader.comparable(sentence)]
    return b"".join([b"%s\t%s\t" % (token_id, form) for token_id, form, _ in cut])


def _swapped(keys: Sequence[bytes], reader: PredictionReader, others: Mapping[str, CuptItems]) -> str | None:
    """Return the language whose first sentences the file begins with, if it is another one than expected; else None."""
    if reader.position:
        return None
    for name, items in others.items():
        if keys[:3] == [items.key(number) for number in range(min(3, len(items)))]:
            return name
    return None


def _shift(keys: Sequence[bytes], index: int, expected: Sequence[bytes], position: int) -> tuple[int, int]:
    """Return how many sentences are missing and how many are additional here; (0, 0) if one sentence differs from its
    item.
    """
    following = [*keys[index + 1 : index + 2]]
    if following and following == [*expected[position + 1 : position + 2]]:
        return 0, 0
    for distance in range(1, RESYNCHRONISE_WITHIN + 1):
        if position + distance < len(expected) and keys[index] == expected[position + distance]:
            return distance, 0
        if index + distance < len(keys) and keys[index + distance] == expected[position]:
            return 0, distance
    return 0, 0


def note_missing(reader: PredictionReader, start: int, end: int, before: Sentence | None) -> None:
    """Report items[start:end] as missing before a sentence of the file, or (None) at its end."""
    if start == end:
        return
    names = reader.items.sentence_ids
    count = end - start
    which = (
        f"sentence {names[start]} is" if count == 1 else f"{count} sentences, {names[start]} to {names[end - 1]}, are"
    )
    if before is None:
        message = f"the file ends too early: {which} missing at the end (of {len(names)} sentences in all)"
        reader.problems.add("truncated-file", message, file=reader.file, line=reader.line_count)
    else:
        line = before.lines[0]
        reader.problems.add("missing-sentence", f"{which} missing before this line", file=reader.file, line=line)


def _note_additional(reader: PredictionReader, additional: Sequence[Sentence]) -> None:
    if additional:
        count = f"{len(additional)} sentences that are" if len(additional) > 1 else "a sentence that is"
        name, line = sentence_id(additional[0].comments), additional[0].lines[0]
        message = f"{count} not in the blind file" + (f" (sentence {name})" if name else "")
        reader.problems.add("unknown-sentence", message, file=reader.file, line=line)


def _note_difference(reader: PredictionReader, sentence: Sentence, key: bytes) -> None:
    """Report the differences in one sentence: lines with a wrong number of columns, or else the first wrong token."""
    name = reader.items.sentence_ids[reader.position]
    sound = note_columns(sentence, reader.header, reader.file, reader.problems, name)
    _check_codes(reader, sentence)
    if not sound:
        return
    found, expected = rows_of(key), rows_of(reader.items.key(reader.position))
    shared = min(len(found), len(expected))
    row = next((row for row in range(shared) if found[row] != expected[row]), shared)
    if row < shared:
        message = f"the token is {_shown(found[row])}, in the blind file it is {_shown(expected[row])}"
        why = difference(_form(found[row]), _form(expected[row]))
        message += f": {why}" if why else ""
    else:
        message = f"the sentence has {len(found)} token lines, in the blind file it has {len(expected)}"
    line = sentence.lines[min(row, len(found) - 1)]
    reader.problems.add("token-mismatch", f"{message} (sentence {name})", file=reader.file, line=line)


def _check_codes(reader: PredictionReader, sentence: Sentence) -> None:
    """Report malformed codes even where the tokens are wrong, so that a team sees everything at once."""
    note = noter(reader.problems, reader.file, sentence.lines, reader.items.sentence_ids[reader.position])
    for row, line in enumerate(sentence.rows):
        if line.count(b"\t") == len(reader.header.names) - 1:
            field = line.split(b"\t")[reader.header.mwe]
            if field != UNANNOTATED:
                read_codes(field, row, note)


def _shown(key: bytes) -> str:
    token_id = key.partition(b"\t")[0].decode("utf-8", "replace")
    return f"{shorten(token_id)} “{shorten(_form(key))}”"


def _form(key: bytes) -> str:
    return key.partition(b"\t")[2].rstrip(b"\t").decode("utf-8", "replace")
