"""Is the MWE gone from a paraphrase, and which words are new in it? PARSEME 2.0's rules, by difflib's edits.

Works on texts that are already split into words; see `segmentation`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_PART = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_ELIDED = "d'"
_HYPHEN = "-"
#: Zero-width non-joiner and joiner (Persian needs them inside words), and both apostrophes.
_KEPT = frozenset("\u200c\u200d'\u2019")
_KEPT_KINDS = ("L", "N", "M", "Pd")


class Edits(NamedTuple):
    """The words of the sentence that are deleted or replaced, and the words of the paraphrase that are new there."""

    gone: tuple[str, ...]
    new: tuple[str, ...]


def find_edits(sentence: Sequence[str], paraphrase: Sequence[str]) -> Edits:
    """What difflib's SequenceMatcher, with its usual settings, says is not equal; both in order, repetitions kept."""
    gone: list[str] = []
    new: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, sentence, paraphrase).get_opcodes():
        if kind != "equal":
            gone += sentence[i:j]
            new += paraphrase[k:m]
    return Edits(tuple(gone), tuple(new))


def is_removed(mwe: Collection[str], edits: Edits) -> bool:
    """Whether any word of the MWE is gone: PARSEME 2.0 takes that as the whole MWE gone.

    mwe: its words, see `mwe_words`. The words of the sentence are compared without their punctuation, see `bare`; the
    MWE's are taken as they stand, upper and lower case are different.
    """
    return any(bare(word) in mwe for word in edits.gone)


def bare(word: str) -> str:
    """The word without characters that are not letters, digits, marks, joiners, apostrophes, hyphens or dashes."""
    if word.isalnum():
        return word
    return "".join(c for c in word if c in _KEPT or unicodedata.category(c).startswith(_KEPT_KINDS))


def mwe_words(marked: str) -> tuple[str, ...]:
    """The words inside `[[…]]`, all parts of a discontinuous MWE after each other; () where nothing is marked.

    Parts are split at white space. The corpora's tokens are put together as they are written: `d'` with the word after
    it, a word that begins with a hyphen with the word before it (`[[chambre d' hôtel]]`: chambre, d'hôtel).
    """
    words: list[str] = []
    for word in " ".join(_PART.findall(marked)).split():
        if words and (words[-1] == _ELIDED or word.startswith(_HYPHEN)):
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


def without_marks(marked: str) -> str:
    """The text without `[[` and `]]`, white space collapsed to single spaces."""
    return " ".join(marked.replace("[[", "").replace("]]", "").split())
