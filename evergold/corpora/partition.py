"""Partition of a corpus in train, dev and test by two successive splits, and the contents of each part.

Contents are those of Table 3 of PARSEME 1.2 (Ramisch et al. 2020).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.corpora.annotated import AnnotatedCorpus
from evergold.corpora.splitting import Mask, Plan, Split, choose_split, pool_of

TRAIN, DEV, TEST = "train", "dev", "test"
PARTS = (TRAIN, DEV, TEST)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Numbers of unseen MWEs wanted in test and dev (dev 0: no dev); repeats: the random splits tried."""

    unseen_test: int
    unseen_dev: int
    repeats: int
    seed: int


@dataclass(frozen=True, slots=True)
class Partition:
    """A finished partition.

    test: the split of the whole corpus.
    dev: that of the rest, None if no dev is wanted.
    parts: of n sentences, those in each part.
    """

    test: Split
    dev: Split | None
    parts: dict[str, Mask]


@dataclass(frozen=True, slots=True)
class Unseen:
    """MWEs of a part that are annotated nowhere in the named other parts.

    unseen: their number.
    ratio: their share of the part's MWEs (None: it has none).
    categories: their number in each category.
    """

    against: tuple[str, ...]
    unseen: int
    ratio: float | None
    categories: dict[str, int]


@dataclass(frozen=True, slots=True)
class Described:
    """A part: its size, its MWEs by category, those unseen against each of some other parts."""

    name: str
    sentences: int
    tokens: int
    mwes: int
    categories: dict[str, int]
    unseen: tuple[Unseen, ...]


def partition(corpus: AnnotatedCorpus, wanted: Wanted) -> Partition:
    """Split test from the corpus, then dev from the rest; units stay whole, at least one is left for training.

    Raises Unreachable, whose step is 0 for test, 1 for dev.
    """
    pool = pool_of(corpus)
    left_over = 2 if wanted.unseen_dev else 1
    test = choose_split(pool, Plan(wanted.unseen_test, wanted.repeats, wanted.seed, 0), pool.unit_count - left_over)
    dev, in_dev = None, np.zeros(pool.unit_count, np.bool_)
    if wanted.unseen_dev:
        rest = pool.without(test.part)
        dev = choose_split(rest, Plan(wanted.unseen_dev, wanted.repeats, wanted.seed, 1), rest.unit_count - 1)
        in_dev[~test.part] = dev.part
    units = {TRAIN: ~test.part & ~in_dev, DEV: in_dev, TEST: test.part}
    return Partition(test, dev, {name: part[corpus.units] for name, part in units.items() if name != DEV or dev})


def describe(corpus: AnnotatedCorpus, parts: dict[str, Mask]) -> list[Described]:
    """Describe each part: dev is compared with train, test with train and with train and dev."""
    against: dict[str, list[tuple[str, ...]]] = {
        TRAIN: [],
        DEV: [(TRAIN,)],
        TEST: [(TRAIN,), (TRAIN, DEV)] if DEV in parts else [(TRAIN,)],
    }
    return [_described(corpus, parts, name, against[name]) for name in PARTS if name in parts]


def _described(corpus: AnnotatedCorpus, parts: dict[str, Mask], name: str, against: list[tuple[str, ...]]) -> Described:
    chosen = parts[name]
    mwes = chosen[corpus.test.sentences]
    number = int(np.count_nonzero(mwes))
    return Described(
        name,
        int(np.count_nonzero(chosen)),
        int(corpus.words[chosen].sum()),
        number,
        _by_category(corpus, mwes),
        tuple(_unseen(corpus, parts, mwes, others) for others in against),
    )


def _unseen(
    corpus: AnnotatedCorpus, parts: dict[str, Mask], mwes: npt.NDArray[np.bool_], against: tuple[str, ...]
) -> Unseen:
    in_training = np.logical_or.reduce([parts[other] for other in against])
    known = np.zeros(corpus.lemma_count, np.bool_)
    known[corpus.training.lemmas[in_training[corpus.training.sentences]]] = True
    unseen = mwes & ~known[corpus.test.lemmas]
    number, of = int(np.count_nonzero(unseen)), int(np.count_nonzero(mwes))
    return Unseen(against, number, number / of if of else None, _by_category(corpus, unseen))


def _by_category(corpus: AnnotatedCorpus, mwes: npt.NDArray[np.bool_]) -> dict[str, int]:
    chosen = np.flatnonzero(mwes).tolist()
    return dict(sorted(Counter(corpus.test.categories[place] for place in chosen).items()))
