"""A slow, obvious evaluator of identified MWEs: reads everything into dictionaries, filters lists, tries all pairings.

Written from the definitions alone, sharing no code with `evergold.scoring`. Tests and the benchmark compare with it;
for that it works as the official evaluator does: every line is a dictionary of the fields that are not `_`, and
whenever a line's MWEs are needed, they are computed again from the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

Tokens = frozenset[int]
Pairing = Callable[[Sequence[Tokens], Sequence[Tokens]], int]


@dataclass(frozen=True)
class Annotated:
    """One MWE: the positions of its tokens and its category (None: none on its first token)."""

    tokens: Tokens
    category: str | None


def read_sentences(text: str) -> list[list[dict[str, str]]]:
    """Return every sentence as a list of lines, each a dictionary from column to value."""
    header, _, body = text.partition("\n")
    columns = header.split("=")[1].split()
    sentences = []
    for block in body.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith("#")]
        if lines:
            rows = [zip(columns, line.split("\t"), strict=True) for line in lines]
            sentences.append([{column: value for column, value in row if value != "_"} for row in rows])
    return sentences


def words_of(sentence: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the lines that have a position: words and empty nodes."""
    return [line for line in sentence if "-" not in line["ID"]]


def mwes_of(sentence: list[dict[str, str]], ranges_count: bool = True) -> list[Annotated]:
    """Return every MWE; the words of a range belong to the MWEs of the range."""
    ranges = [line for line in sentence if "-" in line["ID"] and ranges_count]
    tokens: dict[str, list[int]] = {}
    categories: dict[str, str | None] = {}
    for position, word in enumerate(words_of(sentence)):
        fields = [word["PARSEME:MWE"]]
        for contraction in ranges:
            first, last = contraction["ID"].split("-")
            if word["ID"].isdigit() and int(first) <= int(word["ID"]) <= int(last):
                fields.append(contraction["PARSEME:MWE"])
        codes: dict[str, str | None] = {}
        for field in fields:
            for code in field.split(";") if field != "*" else []:
                number, _, category = code.partition(":")
                codes[number] = codes.get(number) or category or None
        for number, first_category in codes.items():
            tokens.setdefault(number, []).append(position)
            categories.setdefault(number, first_category)
    return [Annotated(frozenset(positions), categories[number]) for number, positions in tokens.items()]


def every_pairing(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> int:
    """Return the largest number of tokens shared under any one-to-one pairing, by trying all pairings."""
    if not gold:
        return 0
    first, others = gold[0], gold[1:]
    best = every_pairing(others, predicted)
    for place, candidate in enumerate(predicted):
        left = [*predicted[:place], *predicted[place + 1 :]]
        best = max(best, len(first & candidate) + every_pairing(others, left))
    return best


def munkres(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> int:
    """Return the same as `every_pairing`, as the official evaluator computes it: for sentences with many MWEs."""
    if not gold or not predicted:
        return 0
    shared = np.array([[len(one & other) for other in predicted] for one in gold])
    return int(shared[linear_sum_assignment(shared, maximize=True)].sum())


def evaluate(
    gold: str,
    prediction: str,
    train: Sequence[str] = (),
    pairing: Pairing = every_pairing,
    lemmas_of: str = "gold",
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return (split, `mwe` or `token`) -> how many are found, are in gold, are predicted.

    lemmas_of: whose lemmas decide whether a predicted MWE is seen: `gold` (Evergold's way) or `prediction` (the
    official way).
    """
    seen_lemmas, seen_spans = _training(train)
    result: Counter[tuple[str, str, int]] = Counter()
    for gold_sentence, predicted_sentence in zip(read_sentences(gold), read_sentences(prediction), strict=True):
        categories = {mwe.category for mwe in mwes_of(gold_sentence) + mwes_of(predicted_sentence)}
        in_gold, in_predicted = mwes_of(gold_sentence), mwes_of(predicted_sentence)
        own = gold_sentence if lemmas_of == "gold" else predicted_sentence
        splits = [("all", in_gold, in_predicted)]
        splits += [
            (
                f"category/{category or '<unlabeled>'}",
                [mwe for mwe in in_gold if mwe.category == category],
                [mwe for mwe in in_predicted if mwe.category == category],
            )
            for category in categories
        ]
        for view in _views(bool(train)):
            of_gold = [mwe for mwe in in_gold if _has(view, mwe, gold_sentence, seen_lemmas, seen_spans)]
            of_predicted = [mwe for mwe in in_predicted if _has(view, mwe, own, seen_lemmas, seen_spans)]
            splits.append((view, of_gold, of_predicted))
        for split, of_gold, of_predicted in splits:
            gold_sets = sorted({mwe.tokens for mwe in of_gold}, key=sorted)
            predicted_sets = sorted({mwe.tokens for mwe in of_predicted}, key=sorted)
            result[split, "mwe", 0] += len([tokens for tokens in gold_sets if tokens in predicted_sets])
            result[split, "mwe", 1] += len(gold_sets)
            result[split, "mwe", 2] += len(predicted_sets)
            result[split, "token", 0] += pairing(gold_sets, predicted_sets)
            result[split, "token", 1] += sum(len(tokens) for tokens in gold_sets)
            result[split, "token", 2] += sum(len(tokens) for tokens in predicted_sets)
    cells = sorted({(split, basis) for split, basis, _ in result})
    return {cell: (result[*cell, 0], result[*cell, 1], result[*cell, 2]) for cell in cells}


def found_types(gold: str, prediction: str) -> list[int]:
    """Return how often each multiset of lemmas was found correctly, sorted."""
    types: Counter[tuple[str, ...]] = Counter()
    for gold_sentence, predicted_sentence in zip(read_sentences(gold), read_sentences(prediction), strict=True):
        found = {mwe.tokens for mwe in mwes_of(gold_sentence)} & {mwe.tokens for mwe in mwes_of(predicted_sentence)}
        words = words_of(gold_sentence)
        types.update(tuple(sorted(words[token].get("LEMMA", "_") for token in tokens)) for tokens in found)
    return sorted(types.values())


def _views(with_training: bool) -> list[str]:
    views = ["continuous", "discontinuous", "multi_token", "single_token"]
    return [*views, "seen", "unseen", "variant", "identical"] if with_training else views


def _has(
    view: str,
    mwe: Annotated,
    sentence: list[dict[str, str]],
    seen_lemmas: list[list[str]],
    seen_spans: list[list[str]],
) -> bool:
    words, first, last = words_of(sentence), min(mwe.tokens), max(mwe.tokens)
    lemmas = sorted(words[token].get("LEMMA", "_") for token in mwe.tokens)
    forms = [words[token].get("FORM", "_") for token in range(first, last + 1)]
    seen, identical = lemmas in seen_lemmas, forms in seen_spans
    return {
        "continuous": all(token in mwe.tokens for token in range(first, last + 1)),
        "discontinuous": any(token not in mwe.tokens for token in range(first, last + 1)),
        "multi_token": len(mwe.tokens) >= 2,
        "single_token": len(mwe.tokens) == 1,
        "seen": seen,
        "unseen": not seen,
        "variant": seen and not identical,
        "identical": seen and identical,
    }[view]


def _training(train: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the lemmas and the forms (gaps filled) of every MWE in training data, where a lemma `_` is the form."""
    lemmas, spans = [], []
    for text in train:
        sentences = read_sentences(text)
        for sentence in sentences:
            words = words_of(sentence)
            for mwe in mwes_of(sentence, ranges_count=False):
                known = [words[token] for token in mwe.tokens]
                lemmas.append(sorted(word.get("LEMMA", word.get("FORM", "_")) for word in known))
        for sentence in sentences:
            words = words_of(sentence)
            for mwe in mwes_of(sentence, ranges_count=False):
                places = range(min(mwe.tokens), max(mwe.tokens) + 1)
                spans.append([words[place].get("FORM", "_") for place in places])
    return lemmas, spans
