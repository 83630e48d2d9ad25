"""How fast a corpus of 280,000 tokens is split, beside a plain loop that counts every random split with sets.

Both sides use the same N random orders of the sentences, take every step of the method (a binary search for the size,
the mean ratio, the best of N; for test, then for dev) and must choose the same sentences. They run in one process,
seconds are the processor's. The corpus is made up from a seed, of the density of PARSEME 1.2's.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from bench._command import BenchParser, run
from evergold.corpora.annotated import AnnotatedCorpus, read_corpus
from evergold.corpora.splitting import Plan, SplitAims, partition, random_ranks

#: Of the corpus; the random splits have one of their own.
SEED = 1
TOKENS = 280_000
SENTENCE_TOKENS = 20
#: An MWE in about every third sentence.
MWE_SHARE = 0.3


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"tokens": 8_000, "unseen": 20, "repeats": 5})
    parser.add_argument("--tokens", type=int, default=TOKENS, help=f"size of the corpus (default: {TOKENS:,})")
    parser.add_argument("--unseen", type=int, default=300, help="MWEs of test; a third of them of dev (default: 300)")
    parser.add_argument("--repeats", type=int, default=100, help="random splits (default: 100)")
    chosen = parser.parse(argv)
    result = measure(chosen.tokens, SplitAims(chosen.unseen, chosen.unseen // 3, chosen.repeats, 7))
    print(json.dumps(result, indent=1) if chosen.json else table(result))


def measure(tokens: int, wanted: SplitAims) -> dict[str, Any]:
    """Return the seconds of reading, of splitting, and of the plain loop."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.cupt"
        path.write_text(made_up_corpus(tokens, random.Random(SEED)), encoding="utf-8")
        started = time.perf_counter()
        corpus = read_corpus([path])
        reading = time.perf_counter() - started
        started = time.perf_counter()
        ours = partition(corpus, wanted)
        splitting = time.perf_counter() - started
        started = time.perf_counter()
        theirs = plain_partition(corpus, wanted)
        plain = time.perf_counter() - started
    assert {name: set(np.flatnonzero(part).tolist()) for name, part in ours.parts.items()} == theirs
    sizes = {"tokens": int(corpus.words.sum()), "sentences": len(corpus.texts), "mwes": len(corpus.test.categories)}
    seconds = {"reading": reading, "splitting": splitting, "whole": reading + splitting, "plain": plain}
    return {**sizes, "repeats": wanted.repeats, "seconds": seconds, "ratio": plain / splitting}


def made_up_corpus(tokens: int, chance: random.Random) -> str:
    """Generate a corpus in which a few MWEs recur often, most hardly ever."""
    lines = ["# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"]
    for number in range(tokens // SENTENCE_TOKENS):
        lines.append(f"# source_sent_id = . made-up {number}")
        words = [f"w{chance.randrange(20_000)}" for _ in range(SENTENCE_TOKENS)]
        codes = ["*"] * SENTENCE_TOKENS
        if chance.random() < MWE_SHARE:
            words[3], words[5] = f"v{int(chance.paretovariate(0.5)) % 50_000}", "up"
            codes[3], codes[5] = "1:VPC.full", "1"
        for place, (word, code) in enumerate(zip(words, codes, strict=True), 1):
            lines.append(f"{place}\t{word}\t{word}\tNOUN\t_\tNumber=Sing\t0\troot\t_\t_\t{code}")
        lines.append("")
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------------ the plain loop


def plain_partition(corpus: AnnotatedCorpus, wanted: SplitAims) -> dict[str, set[int]]:
    """Choose the same sentences with sets and a loop over all MWEs for each random split of each size."""
    lemmas: list[list[int]] = [[] for _ in corpus.texts]
    for sentence, lemma in zip(corpus.test.sentences.tolist(), corpus.test.lemmas.tolist(), strict=True):
        lemmas[sentence].append(lemma)
    everything = list(range(len(lemmas)))
    test = plain_split(lemmas, everything, Plan(wanted.unseen_test, wanted.repeats, wanted.seed, 0))
    rest = [sentence for sentence in everything if sentence not in test]
    dev = plain_split(lemmas, rest, Plan(wanted.unseen_dev, wanted.repeats, wanted.seed, 1))
    return {"train": set(rest) - dev, "dev": dev, "test": test}


def plain_split(lemmas: Sequence[Sequence[int]], pool: Sequence[int], plan: Plan) -> set[int]:
    orders = []
    for number in range(plan.repeats):
        ranks = random_ranks(len(pool), plan, number).tolist()
        orders.append([pool[place] for place in sorted(range(len(pool)), key=ranks.__getitem__)])
    low, high = 0, len(pool)
    while high - low > 1:
        middle = (low + high) // 2
        if total_unseen(lemmas, orders, middle) < plan.unseen * plan.repeats:
            low = middle
        else:
            high = middle
    below, above = (total_unseen(lemmas, orders, size) for size in (low, high))
    size = low if low and plan.unseen * plan.repeats - below <= above - plan.unseen * plan.repeats else high
    while size > 1 and size == low and total_unseen(lemmas, orders, size - 1) == below:
        size = low = size - 1
    counts = [count_plainly(lemmas, order, size) for order in orders]
    ratio = fsum(unseen / mwes for unseen, mwes in counts) / plan.repeats
    costs = [abs(plan.unseen - unseen) / plan.unseen + abs(ratio - unseen / mwes) for unseen, mwes in counts]
    return set(orders[costs.index(min(costs))][:size])


def total_unseen(lemmas: Sequence[Sequence[int]], orders: Sequence[Sequence[int]], size: int) -> int:
    return sum(count_plainly(lemmas, order, size)[0] for order in orders)


def count_plainly(lemmas: Sequence[Sequence[int]], order: Sequence[int], size: int) -> tuple[int, int]:
    known = {lemma for sentence in order[size:] for lemma in lemmas[sentence]}
    inside = [lemma for sentence in order[:size] for lemma in lemmas[sentence]]
    return sum(lemma not in known for lemma in inside), len(inside)


def table(result: dict[str, Any]) -> str:
    seconds = result["seconds"]
    return "\n".join(
        [
            f"{result['tokens']:,} tokens, {result['sentences']:,} sentences, {result['mwes']:,} MWEs, "
            f"{result['repeats']} random splits",
            f"reading {seconds['reading']:.2f} s, splitting {seconds['splitting']:.2f} s: {seconds['whole']:.2f} s",
            f"a plain loop in place of splitting {seconds['plain']:.1f} s: {result['ratio']:.0f}x",
        ]
    )


if __name__ == "__main__":
    sys.exit(run(main))
