"""Every baseline on the golden items: its file is valid, and has the scores computed here by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from evergold.baselines.baseline import UnknownBaseline, read_any_rows
from evergold.baselines.catalogue import BASELINES, find_baseline, first_baseline, write_baseline
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
    "table": "items.csv",
    "text-generation": "items.csv",
    "multi-label": "items.csv",
    "ranking": "items.csv",
    "sequence-labelling": "items.conll",
}
#: What makes these baselines fit, where no option does not.
OPTIONS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("table", "constant"): {"labels": ["b", "a", "c"]},
    ("table", "middle"): {"metrics": ["mae"], "minimum": 1, "maximum": 4},
    ("table", "mean"): {"metrics": ["mae"]},
    ("table", "copy"): {"metrics": ["exact_match"]},
    ("table", "lead"): {"metrics": ["exact_match"]},
}
LABELLED = "MWE,Label\nbig fish,1\nBig fish,1\ncold feet,0\n"


def training_of(task: str, name: str, folder: Path) -> list[Path]:
    if task == "idiom-detection":
        (folder / "train.csv").write_text(LABELLED, encoding="utf-8")
        return [folder / "train.csv"]
    if (task, name) == ("table", "mean"):
        (folder / "train.csv").write_text("id,label\n1,1.5\n2,\n3,3\n", encoding="utf-8")
        return [folder / "train.csv"]
    return [next(iter(sorted((GOLDEN / task).glob("gold*"))))]


def written(task: str, name: str, folder: Path, training: Sequence[Path] | None = None) -> Path:
    baseline = find_baseline(task, name)
    path = folder / f"submission{baseline.suffix}"
    given = training_of(task, name, folder) if training is None and baseline.learns else training or ()
    write_baseline(task, name, GOLDEN / task / ITEMS[task], path, given, OPTIONS.get((task, name)))
    return path


def scored(task: str, name: str, folder: Path) -> dict[str, float | None]:
    gold = next(iter(sorted((GOLDEN / task).glob("gold*"))))
    found = score(task, gold, written(task, name, folder), OPTIONS.get((task, name)))
    return {f"{one.metric} {one.split}": one.value for one in found}


@pytest.mark.parametrize(("task", "name"), [(task, one.name) for task, known in BASELINES.items() for one in known])
def test_file_of_every_baseline_is_valid_without_a_warning_and_the_same_each_time(
    tmp_path: Path, task: str, name: str
) -> None:
    path = written(task, name, tmp_path)
    content, items = path.read_bytes(), GOLDEN / task / ITEMS[task]
    warned = {warning.code for warning in validate(task, items, path, OPTIONS.get((task, name)))}
    known = {"unchanged"} if (task, name) == ("mwe-paraphrase", "copy") else set()
    assert warned - known <= {"undeclared-labels", "undeclared-types"}, "the golden tasks declare none"
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


def test_majority_is_the_label_seen_most_and_of_two_alike_the_first(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    for seen, label in (("1101", "1"), ("0010", "0"), ("10", "0")):
        path.write_text("Label\n" + "\n".join(seen) + "\n", encoding="utf-8")
        rows = lines(written("idiom-detection", "majority", tmp_path, [path]))
        assert {row.rpartition(",")[2] for row in rows[1:]} == {label}


def test_a_column_without_a_name_is_no_column(tmp_path: Path) -> None:
    """Tables have such a column if their rows were numbered when they were written."""
    path = tmp_path / "numbered.csv"
    path.write_text(",id,text\n0,1,a\n", encoding="utf-8")
    assert read_any_rows(path, ("id",)) == [{"id": "1", "text": "a"}]


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
    """Check probes that put a word before the sentence, and leave the compound as it is: `(syn) Este é um peixe grande`
    shares 5 of 6 words with its original, and all of the compound's.
    """
    rows = written("idiomaticity-probing", "word-overlap", tmp_path).read_text(encoding="utf-8").splitlines()
    assert rows[1:3] == ["pt,neut,peixe grande,syn,sent,0.833333", "pt,neut,peixe grande,syn,nc,1.000000"]


def test_lexicon_finds_again_what_training_has_and_no_wider(tmp_path: Path) -> None:
    """Check that of five French MWEs two are found, and nothing else.

    They are prendre … décision, as wide as in training, and d c side by side. avoir … mal is seen in dev, but was one
    token apart there, and is three apart here.
    """
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


# ------------------------------------------------------------------------------------------------ tables, sets, spans


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_tables_score_as_counted(tmp_path: Path) -> None:
    """Gold: a, a, b, b, c, a. All a: three of six are right, F1 2*3/(3+6) for a and 0 for b and c. All b: two are."""
    found = scored("table", "majority", tmp_path)
    assert [found["accuracy all"], found["macro_f1 all"]] == pytest.approx([1 / 2, 2 / 9])
    assert scored("table", "constant", tmp_path)["accuracy all"] == 1 / 3
    assert lines(written("table", "middle", tmp_path))[:2] == ["id,label", "1,2.500000"]
    assert lines(written("table", "mean", tmp_path))[1] == "1,2.250000", "of 1.5 and 3"
    assert lines(written("table", "copy", tmp_path))[1] == "1,Sentence 1."


def test_texts_are_copied_or_their_first_sentence_is(tmp_path: Path) -> None:
    items = tmp_path / "items.tsv"
    items.write_text("id\tnote\ttext\n1\t\tIt rained. Dr. Hu left!\n2\t\tAll dry\n", encoding="utf-8")
    for name, expected in (("copy", "1,It rained. Dr. Hu left!"), ("lead", "1,It rained.")):
        write_baseline("text-generation", name, items, tmp_path / f"{name}.csv")
        assert lines(tmp_path / f"{name}.csv") == ["id,text", expected, "2,All dry"]
    items.write_text("id\n1\n", encoding="utf-8")
    with pytest.raises(InvalidItems, match="item 1 has no text to copy"):
        write_baseline("text-generation", "copy", items, tmp_path / "own.csv")


def test_sets_of_labels_score_as_counted(tmp_path: Path) -> None:
    """Gold: joy|trust, none, fear, joy, joy|fear. joy is in three of five: of 5 predicted 3 hit, of 6 in gold."""
    found = scored("multi-label", "majority", tmp_path)
    assert found["micro_f1 all"] == pytest.approx(2 * 3 / 11)
    assert found["subset_accuracy all"] == 1 / 5
    nothing = scored("multi-label", "no-label", tmp_path)
    assert (nothing["micro_f1 all"], nothing["subset_accuracy all"]) == (0, 1 / 5)
    few = tmp_path / "few.jsonl"
    few.write_text('{"labels": ["b", "a"]}\n{"labels": ["c"]}\n{"labels": []}\n', encoding="utf-8")
    assert lines(written("multi-label", "majority", tmp_path, [few]))[1] == "3,a", "no half has any: the first of three"


def test_candidates_are_ranked_as_listed_or_by_their_words(tmp_path: Path) -> None:
    """Check the words: the second document has 2 of 4 words of both, the first 1 of 4."""
    items = tmp_path / "items.csv"
    texts = ["query,document,query_text,document_text", "q,d1,old blue car,red car", "q,d2,old blue car,A car: old!"]
    items.write_text("\n".join(texts) + "\n", encoding="utf-8")
    for name, first, second in (("as-listed", "1.000000", "0.000000"), ("word-overlap", "0.250000", "0.500000")):
        write_baseline("ranking", name, items, tmp_path / f"{name}.csv")
        assert lines(tmp_path / f"{name}.csv") == ["query,document,score", f"q,d1,{first}", f"q,d2,{second}"]
    assert lines(written("ranking", "as-listed", tmp_path))[1] == "q3,none,0.000000", "where any document may be ranked"
    assert scored("ranking", "as-listed", tmp_path)["mrr all"] == 0


def test_spans_seen_in_training_are_found_again_the_longest_first(tmp_path: Path) -> None:
    """Trained on the golden sentences themselves, every span is found; nothing else is one."""
    assert scored("sequence-labelling", "lexicon", tmp_path)["f1 all"] == 1
    assert scored("sequence-labelling", "nothing", tmp_path)["f1 all"] == 0
    train, items, path = tmp_path / "train.conll", tmp_path / "items.conll", tmp_path / "own.conll"
    train.write_text("New B-LOC\nYork I-LOC\n\nNew B-ORG\nNew B-ORG\nNew B-LOC\n", encoding="utf-8")
    items.write_text("in _\nNew _\nYork _\n\nNew _\nyork _\n", encoding="utf-8")
    write_baseline("sequence-labelling", "lexicon", items, path, [train])
    assert lines(path) == ["in\tO", "New\tB-LOC", "York\tI-LOC", "", "New\tB-ORG", "york\tO"]


def test_spans_of_texts_are_found_between_words(tmp_path: Path) -> None:
    train, items, path = tmp_path / "train.jsonl", tmp_path / "items.jsonl", tmp_path / "own.jsonl"
    train.write_text('{"id": "1", "text": "Ann in Rio", "spans": [[0, 3, "PER"], [7, 10, "LOC"]]}\n', encoding="utf-8")
    items.write_text('{"id": "7", "text": "Anna, Ann (Rio)"}\n{"id": "8", "text": "é"}\n', encoding="utf-8")
    write_baseline("sequence-labelling", "lexicon", items, path, [train])
    expected = ['{"id": "7", "spans": [[6, 9, "PER"], [11, 14, "LOC"]]}', '{"id": "8", "spans": []}']
    assert lines(path) == expected


def test_a_baseline_for_another_kind_of_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownBaseline, match="'mean' is not a baseline for a table with these options"):
        write_baseline("table", "mean", GOLDEN / "table/items.csv", tmp_path / "own.csv")
    chosen: tuple[dict[str, Any], ...] = ({"labels": "a,b"}, {"metrics": ["mae"]}, {"metrics": ["chrf"]}, {})
    first = [first_baseline("table", options) for options in chosen]
    assert [baseline and baseline.name for baseline in first] == ["constant", "middle", "copy", None]


def test_what_cannot_be_learnt_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidItems, match="this baseline learns"):
        written("idiom-detection", "majority", tmp_path, [])
    with pytest.raises(UnknownBaseline, match="it has idiomatic, not-idiomatic, majority, frequency"):
        find_baseline("idiom-detection", "oracle")
