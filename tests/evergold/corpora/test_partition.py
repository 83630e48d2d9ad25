"""Train, dev and test of a corpus: parts that share nothing, and numbers that the evaluator's own code agrees with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evergold.corpora.annotated import AnnotatedCorpus, KeepTogether, read_corpus
from evergold.corpora.splitting import DEV, TEST, TRAIN, Described, SplitAims, describe, partition
from evergold.scoring.cupt.corpus import read_gold, read_training
from evergold.scoring.mwe.counts import prepare
from tests.conformance import conformance
from tests.evergold.corpora.made_up import cupt, zipfian


def corpus_of(path: Path, text: str, together: KeepTogether = "sentence") -> AnnotatedCorpus:
    path.write_text(text, encoding="utf-8")
    return read_corpus([path], together)


def test_the_parts_of_a_tiny_corpus_counted_by_hand(tmp_path: Path) -> None:
    """Train knows a+b. Of dev's three MWEs c and d are unseen; of test's four c, e, e against train, e, e with dev."""
    sentences = [["VID:a+b"], ["VID:b+a", "LVC.full:c"], ["VID:d"], ["VID:c", "VID:e"], ["VID:e", "LVC.full:a+b"], []]
    corpus = corpus_of(tmp_path / "one.cupt", cupt(sentences))
    parts = {TRAIN: [0, 5], DEV: [1, 2], TEST: [3, 4]}
    train, dev, test = describe(corpus, {name: np.isin(np.arange(6), places) for name, places in parts.items()})
    assert (train.sentences, train.tokens, train.mwes, train.unseen) == (2, 4, 1, ())
    assert (dev.sentences, dev.tokens, dev.mwes) == (2, 6, 3)
    assert [(one.against, one.unseen, one.ratio) for one in dev.unseen] == [((TRAIN,), 2, 2 / 3)]
    assert dev.unseen[0].categories == {"LVC.full": 1, "VID": 1}
    assert test.categories == {"LVC.full": 1, "VID": 3}
    assert [(one.against, one.unseen, one.ratio) for one in test.unseen] == [
        ((TRAIN,), 3, 0.75),
        ((TRAIN, DEV), 2, 0.5),
    ]


@pytest.mark.parametrize("unseen_dev", [20, 0])
def test_unseen_is_what_the_scorer_calls_unseen_in_the_files_written(tmp_path: Path, unseen_dev: int) -> None:
    corpus = corpus_of(tmp_path / "one.cupt", cupt(zipfian(400, 2)))
    done = partition(corpus, SplitAims(40, unseen_dev, 10, 1))
    assert set(done.parts) == ({TRAIN, DEV, TEST} if unseen_dev else {TRAIN, TEST})
    assert (np.sum(list(done.parts.values()), axis=0) == 1).all()
    described = {part.name: part for part in describe(corpus, done.parts)}
    assert unseen_by_the_scorer(corpus, done.parts, TEST) == described[TEST].unseen[-1].unseen
    assert described[TEST].unseen[-1].unseen == done.test.unseen[done.test.number]
    assert described[TEST].unseen[-1].ratio == done.test.ratios[done.test.number]
    if done.dev:
        assert unseen_by_the_scorer(corpus, done.parts, DEV) == described[DEV].unseen[0].unseen
        assert described[DEV].unseen[0].unseen == done.dev.unseen[done.dev.number]


def unseen_by_the_scorer(corpus: AnnotatedCorpus, parts: dict[str, np.ndarray], name: str) -> int:
    """The size of gold's `unseen` when a part is scored with the others as training data, as files."""
    others = [TRAIN, DEV] if name == TEST and DEV in parts else [TRAIN]
    training = [read_training(corpus.written(parts[other])) for other in others]
    together = training[0] | training[-1]
    return prepare(read_gold(corpus.written(parts[name])), together).sizes["unseen", "mwe"]


def test_documents_stay_whole(tmp_path: Path) -> None:
    sentences = zipfian(400, 5)
    comments = [f"# newdoc id = d{place // 8}" if place % 8 == 0 else "# text = …" for place in range(400)]
    corpus = corpus_of(tmp_path / "one.cupt", cupt(sentences, comments), "document")
    done = partition(corpus, SplitAims(40, 20, 10, 1))
    assert corpus.unit_count == 50
    for part in done.parts.values():
        assert (part.reshape(50, 8).all(axis=1) == part.reshape(50, 8).any(axis=1)).all()
    assert done.parts[TEST].sum() == 8 * done.test.size


def test_another_seed_is_another_split_and_the_same_seed_the_same(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "one.cupt", cupt(zipfian(400, 2)))
    first, again, other = (partition(corpus, SplitAims(40, 20, 10, seed)).parts[TEST] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_irish_of_edition_1_2_is_described_as_the_official_evaluator_counts_it() -> None:
    """expected.perturbed.txt: `Unseen-in-train: MWE-proportion: gold=301/436=69%`, train being train and dev."""
    folder = conformance("parseme12", "GA")
    test = official_parts(folder)[TEST]
    assert (test.mwes, test.unseen[1].unseen) == (436, 301)


def official_parts(folder: Path) -> dict[str, Described]:
    """The organisers' own three files, described."""
    corpus = read_corpus([folder / f"{name}.cupt" for name in (TRAIN, DEV, TEST)])
    sizes = [len(read_corpus([folder / f"{name}.cupt"]).texts) for name in (TRAIN, DEV, TEST)]
    part_of = np.repeat(np.arange(3), sizes)
    described = describe(corpus, {name: part_of == place for place, name in enumerate((TRAIN, DEV, TEST))})
    return {part.name: part for part in described}


def test_irish_is_split_anew_into_parts_of_nearly_the_official_sizes() -> None:
    """300 unseen MWEs in test and 100 in dev were edition 1.2's targets, too."""
    folder = conformance("parseme12", "GA")
    official = official_parts(folder)
    corpus = read_corpus([folder / f"{name}.cupt" for name in (TRAIN, DEV, TEST)])
    ours = {part.name: part for part in describe(corpus, partition(corpus, SplitAims(300, 100, 20, 7)).parts)}
    for name in (DEV, TEST):
        assert ours[name].sentences == pytest.approx(official[name].sentences, rel=0.1)
        assert ours[name].unseen[-1].ratio == pytest.approx(official[name].unseen[-1].ratio, abs=0.05)
