"""The demo's paraphrasing systems: small, real; what they know of language is demo/source/phrase_book.yaml.

A system gets a sentence and its language and knows nothing of where the idiom stands. The two baselines are the
organisers' own, and one of them is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import yaml

from demo.source import SOURCE

#: From a language and a sentence to its paraphrase.
Paraphraser = Callable[[str, str], str]

_MARKED = re.compile(r"\s*\[\[.*?\]\]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """An idiom, as a regular expression, and its meaning: as a dictionary has it, and fitting into the sentence."""

    idiom: re.Pattern[str]
    gloss: str | None
    fitting: str


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """The phrases of one language, in their order, and a synonym for some words in lower case."""

    phrases: Sequence[Phrase]
    synonyms: Mapping[str, str]


@cache
def read_phrase_book(language: str) -> PhraseBook:
    """What the teams know of a language."""
    found = yaml.safe_load((SOURCE / "phrase_book.yaml").read_text(encoding="utf-8"))[language]
    phrases = [
        Phrase(re.compile(rf"\b{row['idiom']}\b", re.IGNORECASE), row.get("gloss"), row["fitting"])
        for row in found["phrases"]
    ]
    return PhraseBook(phrases, found["synonyms"])


def copy(language: str, sentence: str) -> str:
    """A baseline: the sentence as it is, idiom and all."""
    return sentence


def deletion(marked: str) -> str:
    """A baseline that is told where the idiom stands: it leaves it out, and puts nothing in its place."""
    return _MARKED.sub("", marked).strip()


def glosses(language: str, sentence: str) -> str:
    """Magpie: looks the idiom up and writes down what the dictionary says, whether it fits or not."""
    for phrase in read_phrase_book(language).phrases:
        if phrase.gloss is not None and phrase.idiom.search(sentence):
            return phrase.idiom.sub(phrase.gloss, sentence)
    return sentence


def fitting_phrases(language: str, sentence: str) -> str:
    """Saudade Lab: knows some idioms more, and the form that the sentence needs."""
    for phrase in read_phrase_book(language).phrases:
        if phrase.idiom.search(sentence):
            return phrase.idiom.sub(phrase.fitting, sentence)
    return sentence


def synonyms_too(language: str, sentence: str) -> str:
    """Loureiro: the same, and then a synonym for every word that has one: more variety, less sense."""
    known = read_phrase_book(language).synonyms
    return re.sub(r"\w+", lambda word: known.get(word[0], word[0]), fitting_phrases(language, sentence))
