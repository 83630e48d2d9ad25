"""Decide whether an MWE is gone from a paraphrase, and which words are new in it: PARSEME 2.0's rules, by difflib's
edits.

Works on texts that are already split into words; see `segmentation`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_PART = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_ELIDED = "d'"
_HYPHEN = "-"
#: Zero-width non-joiner and joiner (Persian needs them inside words), both apostrophes, the backtick, and the dashes
#: that the official script lists: the hyphen-minus, U+2010 to U+2015, and U+05BE (maqaf).
_KEPT = frozenset("\u200c\u200d'\u2019`-\u2010\u2011\u2012\u2013\u2014\u2015\u05be")
_KEPT_KINDS = ("L", "N", "M")


class Edits(NamedTuple):
    """The words of the sentence that are deleted or replaced, and the words of the paraphrase that are new."""

    gone: tuple[str, ...]
    new: tuple[str, ...]


def find_edits(sentence: Sequence[str], paraphrase: Sequence[str]) -> Edits:
    """Return the parts that difflib's SequenceMatcher, with default settings, finds unequal; in order, repetitions
    kept.
    """
    gone: list[str] = []
    new: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, sentence, paraphrase).get_opcodes():
        if kind != "equal":
            gone += sentence[i:j]
            new += paraphrase[k:m]
    return Edits(tuple(gone), tuple(new))


def is_removed(mwe: Collection[str], edits: Edits) -> bool:
    """Return whether any word of the MWE is gone: PARSEME 2.0 counts that as the whole MWE gone.

    mwe: its words, see `mwe_words`. The words of the sentence are compared without their punctuation, see `bare`; the
    MWE's words are compared unchanged; case matters.
    """
    return any(bare(word) in mwe for word in edits.gone)


def bare(word: str) -> str:
    """Return the word without characters that are not letters, digits, marks, joiners, apostrophes, backticks, or
    dashes of the official script's list.
    """
    if word.isalnum():
        return word
    return "".join(c for c in word if c in _KEPT or unicodedata.category(c).startswith(_KEPT_KINDS))


def mwe_words(marked: str) -> tuple[str, ...]:
    """Return the words inside `[[…]]`, all parts of a discontinuous MWE in order; () if nothing is marked.

    Parts are split at white space; Japanese ones, which have none inside, are split later by `segmented`. The corpora's
    tokens are joined in pairs as they are written: `d'` with the word after it, a word that begins with a hyphen with
    the word before it (`[[chambre d' hôtel]]`: chambre, d'hôtel; `[[a -b -c]]`: a-b, -c, as the official script).
    """
    pieces = " ".join(_PART.findall(marked)).split()
    words: list[str] = []
    place = 0
    while place < len(pieces):
        pair = pieces[place : place + 2]
        is_pair = len(pair) == 2 and (pair[0] == _ELIDED or pair[1].startswith(_HYPHEN))
        words.append("".join(pair) if is_pair else pair[0])
        place += 1 + is_pair
    return tuple(words)


def segmented(mwe: Collection[str], segment: Callable[[str], list[str]]) -> frozenset[str]:
    """Split the words of an MWE like the sentence: each piece by itself, as the official script does."""
    return frozenset(word for piece in mwe for word in segment(piece))


def without_marks(marked: str) -> str:
    """Return the text without `[[` and `]]`, white space collapsed to single spaces."""
    return " ".join(marked.replace("[[", "").replace("]]", "").split())
