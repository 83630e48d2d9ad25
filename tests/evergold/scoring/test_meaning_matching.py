"""meaning-matching: pairs of sentence and meaning, with and without Scores; every problem of both columns at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidPrediction
from evergold.scoring.task import NOT_ENTERED, Score
from evergold.scoring.tasks.meaning_matching import TASK, MatchingOptions

OPTIONS = MatchingOptions(settings=("zero_shot", "one_shot"))
GOLD = """ID,Language,SentenceID,Label
1,EN,s1,1
2,EN,s1,0
3,EN,s1,0
4,EN,s2,0
5,EN,s2,1
6,PT,s3,0
7,PT,s3,1
"""
RIGHT = {"1": "1", "2": "0", "3": "0", "4": "0", "5": "1", "6": "0", "7": "1"}
LANGUAGES = {id_: "EN" if id_ < "6" else "PT" for id_ in RIGHT}

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def file_of(labels: dict[str, str], scores: dict[str, str] | None = None, setting: str = "zero_shot") -> str:
    rows = [f"{id_},{LANGUAGES[id_]},{setting},{label}" for id_, label in labels.items()]
    if scores is None:
        return "\n".join(["ID,Language,Setting,Label", *rows]) + "\n"
    return "\n".join(["ID,Language,Setting,Label,Score", *(f"{row},{scores[row[0]]}" for row in rows)]) + "\n"


def scored(write: Write, text: str, gold: str = GOLD) -> dict[str, Score]:
    answers = TASK.read_gold(write("gold.csv", gold), OPTIONS)
    items = TASK.items_of(answers, OPTIONS)
    prediction = TASK.read_prediction(write("prediction.csv", text), items, OPTIONS)
    return {f"{score.metric} {score.split}": score for score in TASK.score(answers, prediction, OPTIONS)}


def refused(write: Write, text: str, code: str | None = None) -> list[str]:
    """Return the reported problems; code: the one that all must have."""
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, text)
    assert code is None or {problem.code for problem in caught.value.problems} == {code}
    return [str(problem) for problem in caught.value.problems]


def values(found: dict[str, Score], metric: str) -> Sequence[float | None]:
    return [found[f"{metric} zero_shot/{split}"].value for split in ("all", "en", "pt")]


def test_perfect_labels_reach_the_maximum(write: Write) -> None:
    found = scored(write, file_of(RIGHT))
    for metric in TASK.metrics:
        assert values(found, metric) == [1.0, 1.0, 1.0]
    assert {s.reason for n, s in found.items() if "one_shot" in n} == {NOT_ENTERED}


def test_labels_alone_decide_for_the_only_positive_meaning(write: Write) -> None:
    # s1: two positives, no decision. s2: only 5, right. s3: none, no decision.
    found = scored(write, file_of({**RIGHT, "2": "1", "7": "0"}))
    assert values(found, "sentence_accuracy") == [1 / 3, 1 / 2, 0.0]
    # English pairs: gold 1,5 positive, predicted 1,2,5: F1(1) = 4/5; gold 2,3,4 negative, predicted 3,4: F1(0) = 4/5.
    assert found["macro_f1 zero_shot/en"].value == pytest.approx(4 / 5)
    assert found["accuracy zero_shot/all"].value == pytest.approx(5 / 7)


def test_the_only_meaning_of_a_sentence_is_not_found_by_labelling_it_0(write: Write) -> None:
    gold = "ID,Language,SentenceID,Label\n1,EN,s1,1\n4,EN,s2,1\n"
    found = scored(write, file_of({"1": "0", "4": "1"}), gold)
    assert found["sentence_accuracy zero_shot/all"].value == 1 / 2


def test_scores_decide_for_the_highest_whatever_the_labels(write: Write) -> None:
    strengths = {"1": "0.2", "2": "0.1", "3": "-5", "4": "-2", "5": "-1e-3", "6": "3", "7": "2.5"}
    found = scored(write, file_of(dict.fromkeys(RIGHT, "0"), strengths))
    assert values(found, "sentence_accuracy") == [2 / 3, 1.0, 0.0]


def test_tie_for_the_highest_score_is_no_decision(write: Write) -> None:
    strengths = {"1": "0.5", "2": "0.5", "3": "0", "4": "0", "5": "1", "6": "0", "7": "0"}
    found = scored(write, file_of(RIGHT, strengths))
    assert values(found, "sentence_accuracy") == [1 / 3, 1 / 2, 0.0]


def test_order_of_rows_does_not_matter(write: Write) -> None:
    strengths = {id_: str(int(id_) % 4) for id_ in RIGHT}
    backwards = file_of(dict(reversed(RIGHT.items())), strengths)
    assert scored(write, file_of(RIGHT, strengths)) == scored(write, backwards)


def test_empty_score_column_is_as_good_as_none(write: Write) -> None:
    assert scored(write, file_of(RIGHT, dict.fromkeys(RIGHT, ""))) == scored(write, file_of(RIGHT))


def test_problems_of_both_columns_are_said_at_once(write: Write) -> None:
    strengths = {**dict.fromkeys(RIGHT, "1"), "2": "high", "4": "nan", "6": ""}
    found = refused(write, file_of({**RIGHT, "3": "2", "5": "1.0"}, strengths))
    assert found == [
        "line 4, column Label: invalid label '2': expected 0 or 1",
        "line 6, column Label: invalid label '1.0': expected 0 or 1; write 1, without spaces or decimals",
        "line 3, column Score: 'high' is not a finite number",
        "line 5, column Score: 'nan' is not a finite number",
        "line 7, column Score: zero_shot has Scores only for some rows; this is the first without: fill in all or none",
    ]


def test_a_row_that_belongs_nowhere_hides_no_bad_score_behind_it(write: Write) -> None:
    text = "ID,Language,Setting,Label,Score\n99,EN,zero_shot,1,1\n1,EN,few_shot,1,1\n" + "".join(
        f"{id_},{LANGUAGES[id_]},zero_shot,{label},{'high' if id_ == '7' else 1}\n" for id_, label in RIGHT.items()
    )
    found = refused(write, text)
    assert "line 10, column Score: 'high' is not a finite number" in found


def test_declared_languages_are_splits_in_their_order_and_no_others(write: Write) -> None:
    options = MatchingOptions(settings=("zero_shot",), languages=("PT", "EN"))
    answers = TASK.read_gold(write("gold.csv", GOLD), options)
    prediction = TASK.read_prediction(write("own.csv", file_of(RIGHT)), TASK.items_of(answers, options), options)
    splits = [score.split for score in TASK.score(answers, prediction, options) if score.metric == "accuracy"]
    assert splits == ["zero_shot/all", "zero_shot/pt", "zero_shot/en"]


def test_scores_without_labels_are_refused(write: Write) -> None:
    text = file_of(RIGHT) + "1,EN,one_shot,\n"
    text = "".join(f"{line},1\n" if "one_shot" in line else f"{line},\n" for line in text.splitlines()[1:])
    found = refused(write, "ID,Language,Setting,Label,Score\n" + text, code="empty-value")
    assert found == ["column Label: one_shot has Scores but no Labels: fill in both or neither"]


def test_half_filled_setting_is_refused(write: Write) -> None:
    assert "zero_shot" in refused(write, file_of({id_: label for id_, label in RIGHT.items() if id_ != "3"}))[0]


def test_unknown_column_is_refused(write: Write) -> None:
    assert refused(write, file_of(RIGHT).replace("Label", "label"))[0].startswith("line 1")


def test_sentence_without_a_right_meaning_is_wrong_gold(write: Write) -> None:
    with pytest.raises(InvalidGold, match="no meaning of the sentence s3 has the Label 1"):
        scored(write, file_of(RIGHT), GOLD.replace("7,PT,s3,1", "7,PT,s3,0"))


def test_gold_problems_are_said_by_line(write: Write) -> None:
    with pytest.raises(InvalidGold) as caught:
        scored(write, file_of(RIGHT), GOLD.replace("5,EN,s2,1", "5,EN,,yes") + "1,EN,s9,1\n")
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [
        (6, "Label"),
        (6, "SentenceID"),
        (9, "ID"),
    ]


def test_items_come_from_the_blind_file_or_from_gold(write: Write) -> None:
    from_gold = TASK.read_items(write("gold.csv", GOLD), OPTIONS)
    blind = "ID,Language,SentenceID,Sentence,Meaning\n" + "".join(
        f"{id_},{LANGUAGES[id_]},s,A sentence.,a meaning\n" for id_ in RIGHT
    )
    assert TASK.read_items(write("items.csv", blind), OPTIONS) == from_gold
    with pytest.raises(InvalidItems):
        TASK.read_items(write("items.csv", blind.replace("2,EN", "1,EN")), OPTIONS)


def test_template_filled_with_gold_is_perfect(write: Write) -> None:
    template = TASK.template(TASK.read_items(write("gold.csv", GOLD), OPTIONS), OPTIONS)
    assert template is not None
    lines = [line + RIGHT[line[0]] if "one_shot" in line else line for line in template.splitlines()[1:]]
    found = scored(write, "\n".join(["ID,Language,Setting,Label", *lines]) + "\n")
    assert found["macro_f1 one_shot/all"].value == 1.0
    assert found["macro_f1 zero_shot/all"].reason == NOT_ENTERED


def test_signatures_name_metric_split_and_languages(write: Write) -> None:
    found = scored(write, file_of(RIGHT))
    assert len({score.signature for score in found.values()}) == len(found)
    assert found["sentence_accuracy zero_shot/all"].signature == (
        "meaning-matching:1|sentence_accuracy|zero_shot/all|labels:0,1|languages:en,pt|decision:highest-score-or-only-positive"
    )


def test_submission_file_is_no_items_file(write: Write) -> None:
    with pytest.raises(InvalidItems, match="this is a submission file, with a column Setting"):
        TASK.read_items(write("items.csv", file_of(RIGHT)), OPTIONS)
