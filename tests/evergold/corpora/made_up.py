"""Small CUPT corpora of a test's own: a sentence is the list of its MWEs, each `CATEGORY:lemma+lemma`."""

from __future__ import annotations

import random
from collections.abc import Sequence

HEADER = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
REST = "\t".join(["_"] * 7)


def cupt(sentences: Sequence[Sequence[str]], comments: Sequence[str] = ()) -> str:
    """Return a CUPT file. comments: one line for each sentence, instead of its `source_sent_id`."""
    lines = [HEADER]
    for number, mwes in enumerate(sentences):
        lines.append(comments[number] if comments else f"# source_sent_id = . . s{number}")
        lines += tokens_of(mwes)
        lines.append("")
    return "\n".join(lines) + "\n"


def tokens_of(mwes: Sequence[str]) -> list[str]:
    """Return the token lines: the words of every MWE, then a word that belongs to none."""
    rows = []
    for code, mwe in enumerate(mwes, 1):
        category, _, lemmas = mwe.partition(":")
        for place, lemma in enumerate(lemmas.split("+")):
            rows.append((lemma, f"{code}:{category}" if place == 0 else str(code)))
    return [f"{n}\t{form}\t{form}\t{REST}\t{mwe}" for n, (form, mwe) in enumerate([*rows, ("end", "*")], 1)]


def zipfian(count: int, seed: int) -> list[list[str]]:
    """Return sentences with no, one or two MWEs; a few MWEs recur often and most hardly ever, as in texts."""
    chance = random.Random(seed)
    return [
        [f"{chance.choice(('VID', 'LVC.full'))}:w{int(chance.paretovariate(0.35)) % 50_000}+up" for _ in range(mwes)]
        for mwes in chance.choices((0, 1, 2), (2, 2, 1), k=count)
    ]
