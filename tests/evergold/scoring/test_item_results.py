"""Results of single items: by hand for the golden cases, as JSON, and without an influence on the score."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidGold
from evergold.scoring.task import AnyTask, ItemResult, item_results, read_options
from evergold.scoring.tasks import TASKS
from evergold.scoring.tasks.mwe_paraphrase import Prediction

GOLDEN = Path(__file__).parents[2] / "golden"
#: Gold and prediction of every task type that says something of single items.
CASES = {
    "idiom-detection": ("gold.csv", "prediction.csv"),
    "idiom-similarity": ("gold.csv", "prediction.csv"),
    "meaning-matching": ("gold.csv", "prediction.csv"),
    "multi-label": ("gold.csv", "prediction.csv"),
    "ranking": ("gold.csv", "prediction.run"),
    "sequence-labelling": ("gold.conll", "prediction.conll"),
    "mwe-identification": ("gold", "prediction"),
    "idiomaticity-probing": ("gold.csv", "prediction.csv"),
    "table": ("gold.csv", "prediction.csv"),
}
#: Those whose scores come from an encoder: from their outcomes.
ENCODED = {"mwe-paraphrase", "text-generation"}


def near(number: float) -> Any:
    """Return what pytest compares with a number, which has no type for the type checker."""
    return pytest.approx(number)


def results(name: str, gold: Path | None = None, prediction: Path | None = None, **options: Any) -> list[ItemResult]:
    """Return the item results of a golden case, or of these files."""
    task: AnyTask = TASKS[name]
    chosen = read_options(task, options)
    answers = task.read_gold(gold or GOLDEN / name / CASES[name][0], chosen)
    file = prediction or GOLDEN / name / CASES[name][1]
    checked = task.read_prediction(file, task.items_of(answers, chosen), chosen)
    assert task.item_results is not None
    return task.item_results(answers, checked, chosen)


def test_idiom_detection_says_of_every_label_whether_it_is_right() -> None:
    # gold 1,3,4 are label 1, predicted 1,4,6; one_shot was not entered
    en, pt = ("zero_shot/en",), ("zero_shot/pt",)
    assert results("idiom-detection") == [
        ItemResult("1", en, "1", "1", is_right=True),
        ItemResult("2", en, "0", "0", is_right=True),
        ItemResult("3", en, "1", "0", is_right=False),
        ItemResult("4", en, "1", "1", is_right=True),
        ItemResult("5", pt, "0", "0", is_right=True),
        ItemResult("6", pt, "0", "1", is_right=False),
    ]


def test_idiom_similarity_has_signed_errors_where_gold_has_a_value() -> None:
    found = {one.item: one for one in results("idiom-similarity")}
    assert list(found) == ["1", "2", "3", "4", "5", "6", "11", "12", "13"], "the scored rows, in gold's order"
    assert found["1"] == ItemResult("1", ("pre_train/en/idiom",), 1.0, 0.9, error=near(-0.1))
    assert found["12"] == ItemResult("12", ("pre_train/pt/sts",), 0.4, 0.2, error=near(-0.2))
    assert found["13"].error == pytest.approx(0.2)
    assert found["2"] == ItemResult("2", ("pre_train/en/idiom",), None, 0.3), "its target is the system's own"


def test_meaning_matching_is_about_pairs() -> None:
    # zero_shot: gold 1,0,0,0,1,1,0, predicted 1,1,0,1,0,0,0; one_shot: predicted 1,1,0,0,1,0,1
    found = results("meaning-matching")
    right = {one: [r.is_right for r in found if r.splits[0].startswith(one)] for one in ("zero_shot", "one_shot")}
    assert right["zero_shot"] == [True, False, True, False, False, False, True]
    assert right["one_shot"] == [True, False, True, True, True, False, False]
    assert found[0] == ItemResult("1", ("zero_shot/en",), "1", "1", is_right=True)


def test_mwe_identification_counts_by_sentence() -> None:
    # expected.json says what is found in which sentence; HR was not submitted
    assert results("mwe-identification") == [
        ItemResult("fr-1", ("fr",), 1, 1, True, 0, matched=1),
        ItemResult("fr-2", ("fr",), 1, 1, False, 2, matched=0),
        ItemResult("fr-3", ("fr",), 1, 1, True, 0, matched=1),
        ItemResult("fr-4", ("fr",), 2, 2, False, 4, matched=0),
    ]


def test_sets_of_labels_are_right_where_they_are_the_same() -> None:
    assert results("multi-label")[:3] == [
        ItemResult("1", (), "joy|trust", "joy|trust", is_right=True),
        ItemResult("2", (), "", "", is_right=True),
        ItemResult("3", (), "fear", "joy", is_right=False),
    ]


def test_rankings_count_the_relevant_documents_on_top() -> None:
    """Check that q1 has two relevant documents, a and c; b and x are first. q3 has none, so nothing is wrong there."""
    assert results("ranking") == [
        ItemResult("q1", (), 2, 2, False, 4, matched=0),
        ItemResult("q2", (), 1, 1, True, 0, matched=1),
        ItemResult("q3", (), 0, 0, True, 0, matched=0),
    ]


def test_sequence_labelling_counts_by_sentence() -> None:
    """Check against expected.json, which lists the spans; only PER of the second sentence is exactly the same."""
    assert results("sequence-labelling") == [
        ItemResult("sentence 1", (), 2, 2, False, 4, matched=0),
        ItemResult("sentence 2", (), 2, 1, False, 1, matched=1),
        ItemResult("sentence 3", (), 0, 1, False, 1, matched=0),
    ]


def test_the_found_of_all_sentences_are_the_found_of_the_scores() -> None:
    found = results("mwe-identification")
    assert (sum(one.matched or 0 for one in found), sum(float(one.gold or 0) for one in found)) == (2, 5)


def test_labels_of_a_table_stand_in_their_groups() -> None:
    found = results("table", groups={"language": ["en", "pt"], "domain": ["news", "web"]})
    assert found[1] == ItemResult("2", ("language/en", "domain/web"), "a", "b", is_right=False)
    assert [one.is_right for one in found] == [True, False, True, True, False, True]


def test_numbers_of_a_table_have_errors(tmp_path: Path) -> None:
    gold, ours = tmp_path / "gold.csv", tmp_path / "ours.csv"
    gold.write_text("id,label\n1,1\n2,2.5\n")
    ours.write_text("id,label\n2,2\n1,3\n")
    assert results("table", gold, ours, metrics=["mae"]) == [
        ItemResult("1", (), 1.0, 3.0, error=2.0),
        ItemResult("2", (), 2.5, 2.0, error=-0.5),
    ]


def test_texts_of_a_table_are_right_only_where_that_is_asked(tmp_path: Path) -> None:
    gold, ours = tmp_path / "gold.csv", tmp_path / "ours.csv"
    gold.write_text("id,label,other\n1,A cat,The cat\n2,A dog,\n")
    ours.write_text(f"id,label\n1,the cat\n2,{'x' * 600}\n")
    options: dict[str, Any] = {"references": ["other"], "lowercase": True}
    exact = results("table", gold, ours, metrics=["exact_match"], **options)
    assert [(one.gold, one.is_right) for one in exact] == [("A cat", True), ("A dog", False)]
    assert exact[1].predicted == "x" * 500
    assert [one.is_right for one in results("table", gold, ours, metrics=["chrf"], **options)] == [None, None]


@pytest.mark.parametrize("name", CASES)
def test_results_are_json_and_are_about_the_items_of_gold(name: str) -> None:
    found = results(name)
    assert json.loads(json.dumps([dataclasses.astuple(one) for one in found], allow_nan=False))
    assert len({(one.item, one.splits) for one in found}) == len(found)
    for one in found:
        assert one.is_right is None or one.gold is not None
        if one.matched is None and one.error is not None and name != "idiomaticity-probing":
            assert (one.error == 0) == (one.gold == one.predicted)


def test_every_task_type_says_what_items_came_to_and_dear_ones_from_their_outcomes() -> None:
    assert {name for name, task in TASKS.items() if task.item_results is not None} == set(CASES)
    assert {name for name, task in TASKS.items() if task.item_results_from_outcomes is not None} == ENCODED
    assert {name for name, task in TASKS.items() if not task.has_item_results} == {"program"}


def test_compounds_have_their_affinity_beside_its_ideal() -> None:
    """Sim(Syn) - Sim(Rand), as expected.json has them for both: 9/10 - 1/5, 7/10 - 1/10, 1/2 - 0, …"""
    found = results("idiomaticity-probing", languages=["pt"], levels=["nc"], standardised=False)
    assert len(found) == 5
    assert {one.splits for one in found} == {("pt/neut/nc",)}
    by_name = {one.item: (one.gold, one.predicted, one.error) for one in found}
    assert by_name["peixe grande"] == (1.0, near(0.7), near(-0.3))
    assert by_name["sala cirúrgica"] == (1.0, near(0.5), near(-0.5))
    assert sorted(float(one.predicted) for one in found) == pytest.approx([0.1, 0.1, 0.5, 0.6, 0.7])


def test_paraphrases_stand_beside_both_references_with_what_their_score_lacks() -> None:
    """Check made-up outcomes: no encoder is used. en-2 keeps its MWE, so that its score is 0."""
    task = TASKS["mwe-paraphrase"]
    options = read_options(task, {"language": "en"})
    answers = task.read_gold(GOLDEN / "mwe-paraphrase/gold/EN/test.json", options)
    items = [item.id for item in answers.languages["en"].items]
    texts = {id_: f"paraphrase of {id_}" for id_ in items}
    scores = [0.75, 0.0, 1.0, 0.5][: len(items)]
    outcomes = {"languages": {"en": {"predicted": {"bertscore": scores}}}}
    found = item_results(task, answers, Prediction({"en": texts}), options, outcomes)
    assert found is not None
    first = answers.languages["en"].items[0]
    assert found[0] == ItemResult(
        first.id,
        (f"en/type/{first.mwe_type}",),
        f"{first.minimal} / {first.creative}",
        f"paraphrase of {first.id}",
        error=-0.25,
    )
    assert [one.error for one in found] == [score - 1 for score in scores]


def test_texts_of_text_generation_have_what_their_bertscore_lacks(tmp_path: Path) -> None:
    task = TASKS["text-generation"]
    for metrics, expected in ((["chrf"], [-0.5, -0.25, 0.0]), (["exact_match"], [None, None, None])):
        options = read_options(task, {"metrics": metrics})
        answers = task.read_gold(GOLDEN / "text-generation/gold.csv", options)
        file = GOLDEN / "text-generation/prediction.csv"
        checked = task.read_prediction(file, task.items_of(answers, options), options)
        outcomes = {"statistics": {"bertscore_f1": [[0.5], [0.75], [1.0]]}}
        found = item_results(task, answers, checked, options, outcomes)
        assert found is not None
        assert [one.error for one in found] == expected
        right = [False, False, True] if metrics == ["exact_match"] else [None] * 3
        assert [one.is_right for one in found] == right


@pytest.mark.parametrize("name", ["idiom-detection", "idiom-similarity", "meaning-matching", "table"])
def test_a_prediction_for_other_items_is_refused_as_for_scores(name: str, tmp_path: Path) -> None:
    task: AnyTask = TASKS[name]
    options = read_options(task)
    gold = GOLDEN / name / "gold.csv"
    header, first, *_ = gold.read_text("utf-8").splitlines()
    other = tmp_path / "gold.csv"
    other.write_text(f"{header}\nelsewhere,{first.split(',', 1)[1]}\n", encoding="utf-8")
    answers, elsewhere = task.read_gold(gold, options), task.read_gold(other, options)
    items = task.items_of(elsewhere, options)
    empty = task.template(items, options) or ""
    value = header.split(",").index("Label") if "Label" in header else None
    filled = first.split(",")[value] if value is not None else "1" if name == "idiom-similarity" else "a"
    file = tmp_path / "prediction.csv"
    file.write_text("\n".join(line if n == 0 else line + filled for n, line in enumerate(empty.splitlines())) + "\n")
    checked = task.read_prediction(file, items, options)
    assert task.item_results is not None
    with pytest.raises(InvalidGold):
        task.item_results(answers, checked, options)
