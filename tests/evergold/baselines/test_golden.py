"""Every baseline on the golden items: its file is valid, and scores what is worked out here by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from evergold.baselines.baseline import UnknownBaseline
from evergold.baselines.catalogue import BASELINES, find_baseline, write_baseline
from evergold.scoring import InvalidItems, score, validate

GOLDEN = Path(__file__).parents[2] / "golden"
#: Items and gold of each task type; training data, where a baseline learns.
ITEMS = {
    "idiom-detection": "items.csv",
    "idiom-similarity": "items.csv",
    "meaning-matching": "items.csv",
    "idiomaticity-probing": "items.csv",
    "mwe-identification": "gold",
    "mwe-paraphrase": "items",
}
LABELLED = "MWE,Label\nbig fish,1\nBig fish,1\ncold feet,0\n"


def training_of(task: str, folder: Path) -> list[Path]:
    if task == "idiom-detection":
        (folder / "train.csv").write_text(LABELLED, encoding="utf-8")
        return [folder / "train.csv"]
    return [GOLDEN / task / "gold"]


def written(task: str, name: str, folder: Path, training: Sequence[Path] | None = None) -> Path:
    baseline = find_baseline(task, name)
    path = folder / f"submission{baseline.suffix}"
    given = training_of(task, folder) if training is None and baseline.learns else training or ()
    write_baseline(task, name, GOLDEN / task / ITEMS[task], path, given)
    return path


def scored(task: str, name: str, folder: Path) -> dict[str, float | None]:
    gold = GOLDEN / task / ("gold" if (GOLDEN / task / "gold").is_dir() else "gold.csv")
    return {f"{one.metric} {one.split}": one.value for one in score(task, gold, written(task, name, folder))}


@pytest.mark.parametrize(("task", "name"), [(task, one.name) for task, known in BASELINES.items() for one in known])
def test_file_of_every_baseline_is_valid_without_a_warning_and_the_same_each_time(
    tmp_path: Path, task: str, name: str
) -> None:
    path = written(task, name, tmp_path)
    content, items = path.read_bytes(), GOLDEN / task / ITEMS[task]
    warned = {warning.code for warning in validate(task, items, path)}
    assert warned <= ({"unchanged"} if (task, name) == ("mwe-paraphrase", "copy") else set())
    assert written(task, name, tmp_path).read_bytes() == content


@pytest.mark.parametrize(
    ("name", "f1", "accuracy"),
    [
        # Gold: 1, 3, 4 not idiomatic (1), 2, 5, 6 idiomatic (0). All alike: F1s 2*3/(6+3) and 0.
        ("idiomatic", 1 / 3, 1 / 2),
        ("not-idiomatic", 1 / 3, 1 / 2),
        ("majority", 1 / 3, 1 / 2),  # 1 is there twice, 0 once
        # big fish is 1 (items 1, 3), cold feet 0 (2, 4), pé frio unknown: 1 (5, 6). Label 1: 2*2/(3+4), label 0:
        # 2*1/(3+2); three are right.
        ("frequency", (4 / 7 + 2 / 5) / 2, 1 / 2),
    ],
)
def test_labels_score_as_counted(tmp_path: Path, name: str, f1: float, accuracy: float) -> None:
    found = scored("idiom-detection", name, tmp_path)
    for setting in ("zero_shot", "one_shot"):
        assert found[f"macro_f1 {setting}/all"] == pytest.approx(f1)
        assert found[f"accuracy {setting}/all"] == pytest.approx(accuracy)


def test_word_overlap_of_sentences_scores_as_counted(tmp_path: Path) -> None:
    """STS: shared words 1/5, 2/5, 2/4 against 0.2, 0.8, 0.5: ranks 1, 2, 3 and 1, 3, 2: rho = 1 - 6*2/(3*8).

    Idioms: Sims 1/3, 1/2, 1/3 against 1, the pair 9's 1/3 and the pair 8's 1/6: 1.5, 3, 1.5 and 3, 2, 1: covariance 0.
    """
    found = scored("idiom-similarity", "word-overlap", tmp_path)
    assert found["spearman pre_train/en/sts"] == pytest.approx(0.5)
    assert found["spearman fine_tune/en/idiom"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("name", "f1", "accuracy", "sentences"),
    [
        # Gold: of 7 pairs 1, 5, 6 fit.
        ("none", (8 / 11) / 2, 4 / 7, 0),
        ("all", (6 / 10) / 2, 3 / 7, 0),
        # 2 and 5 share " a " with their sentences, 6 is the first of two that share nothing: two of three are right.
        ("nearest", (2 * 2 / 6 + 2 * 3 / 8) / 2, 5 / 7, 2 / 3),
    ],
)
def test_meanings_score_as_counted(tmp_path: Path, name: str, f1: float, accuracy: float, sentences: float) -> None:
    found = scored("meaning-matching", name, tmp_path)
    values = [found[f"{metric} zero_shot/all"] for metric in ("macro_f1", "accuracy", "sentence_accuracy")]
    assert values == pytest.approx([f1, accuracy, sentences])


def test_probes_that_say_the_same_in_the_compound_are_the_same_at_its_level(tmp_path: Path) -> None:
    """The golden probes put a word before the sentence, and leave the compound as it is: `(syn) Este é um peixe grande`
    shares 5 of 6 words with its original, and all of the compound's."""
    rows = written("idiomaticity-probing", "word-overlap", tmp_path).read_text(encoding="utf-8").splitlines()
    assert rows[1:3] == ["pt,neut,peixe grande,syn,sent,0.833333", "pt,neut,peixe grande,syn,nc,1.000000"]


def test_lexicon_finds_again_what_training_has_and_no_wider(tmp_path: Path) -> None:
    """Of five French MWEs two are found, and nothing else: prendre … décision, as wide as in training, and d c side by
    side. avoir … mal is seen in dev, but was one token apart there, and is three apart here."""
    found = scored("mwe-identification", "lexicon", tmp_path)
    parts = [found[f"mwe_{part} fr"] for part in ("precision", "recall", "f1")]
    assert parts == pytest.approx([1, 2 / 5, 2 * (2 / 5) / (7 / 5)])
    assert found["mwe_f1 hr"] == 0  # not one MWE in training
    nothing = scored("mwe-identification", "nothing", tmp_path)
    assert {nothing[f"mwe_f1 {split}"] for split in ("fr", "hr", "macro")} == {0.0}


def test_deletion_takes_out_what_trial_data_have_marked(tmp_path: Path) -> None:
    """Given the English gold as trial data, the Portuguese sentences stay as they are."""
    path = written("mwe-paraphrase", "deletion", tmp_path, [GOLDEN / "mwe-paraphrase" / "gold"])
    copied = tmp_path / "gold" / "EN"
    copied.mkdir(parents=True)
    (copied / "test.json").write_bytes((GOLDEN / "mwe-paraphrase/gold/EN/test.json").read_bytes())
    texts = predictions(path), predictions(written("mwe-paraphrase", "deletion", tmp_path, [tmp_path / "gold"]))
    assert texts[0]["EN/en-1"] == texts[1]["EN/en-1"] == "She finally last winter."
    assert (texts[0]["PT/pt-1"], texts[1]["PT/pt-1"]) == ("Ele na reunião.", "Ele chutou o balde na reunião.")


def predictions(path: Path) -> dict[str, str]:
    with ZipFile(path) as archive:
        return {
            f"{name.partition('/')[0]}/{row['source_sent_id']}": row["prediction"]
            for name in archive.namelist()
            for row in json.loads(archive.read(name))
        }


def test_what_cannot_be_learnt_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidItems, match="this baseline learns"):
        written("idiom-detection", "majority", tmp_path, [])
    with pytest.raises(UnknownBaseline, match="it has idiomatic, not-idiomatic, majority, frequency"):
        find_baseline("idiom-detection", "oracle")
