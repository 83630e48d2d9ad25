"""Values of gold that look alike: refused with their lines by every reader, before a team is scored wrong by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidGold
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

NFD = "cafe\u0301"
TASKS_WITH_LABELS = {
    "table": "id,label\n1,{0}\n2,{1}\n",
    "multi-label": "id,labels\n1,{0}\n2,{1}\n",
    "sequence-labelling": "one\tB-{0}\ntwo\tB-{1}\n",
    "sequence-labelling, spans": '{{"id": "1", "spans": [[0, 1, "{0}"]]}}\n{{"id": "2", "spans": [[0, 1, "{1}"]]}}\n',
}


def refused(tmp_path: Path, type_: str, text: str, **options: Any) -> list[tuple[str, int | None]]:
    """The codes and lines of all problems."""
    path = tmp_path / "gold"
    path.write_text(text, encoding="utf-8")
    task = get_task(type_.partition(",")[0])
    try:
        task.read_gold(path, read_options(task, options))
    except InvalidGold as invalid:
        return [(problem.code, problem.line) for problem in invalid.problems]
    return []


def test_space_behind_a_label_is_no_third_class(tmp_path: Path) -> None:
    assert refused(tmp_path, "table", "id,label\n1,pos\n2,neg\n3,pos \n4,neg\n") == [("spaces-around-value", 4)]


@pytest.mark.parametrize("type_", TASKS_WITH_LABELS)
@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("joy", "Joy", "looks-like-another"),
        ("joy", "jo\u200by", "invisible-character"),
        ("caf\u00e9", NFD, "not-normalised"),
    ],
)
def test_labels_that_look_alike_are_refused_with_their_line(
    tmp_path: Path, type_: str, one: str, other: str, code: str
) -> None:
    line = 2 if type_.startswith("sequence") else 3
    assert refused(tmp_path, type_, TASKS_WITH_LABELS[type_].format(one, other)) == [(code, line)]


@pytest.mark.parametrize("type_", TASKS_WITH_LABELS)
def test_labels_that_are_declared_may_differ_by_case_alone(tmp_path: Path, type_: str) -> None:
    option = "types" if type_.startswith("sequence") else "labels"
    text = TASKS_WITH_LABELS[type_].format("joy", "Joy")
    assert refused(tmp_path, type_, text, **{option: ["joy", "Joy"]}) == []


ID_COLUMNS = {
    "table": "id,label\n{0},a\n{1},b\n",
    "multi-label": "id,labels\n{0},a\n{1},b\n",
    "idiom-detection": "ID,Language,Label\n{0},EN,0\n{1},EN,1\n",
    "idiom-similarity": "ID,DataID,Language,sim,otherID\n{0},t.EN.1.1,EN,0.5,\n{1},t.EN.2.1,EN,1,\n",
    "ranking": "q1 0 {0} 1\nq1 0 {1} 0\n",
    "sequence-labelling": '{{"id": "{0}", "spans": [[0, 1, "X"]]}}\n{{"id": "{1}", "spans": []}}\n',
}


@pytest.mark.parametrize("type_", ID_COLUMNS)
def test_ids_that_look_alike_are_refused_unless_they_differ_by_case(tmp_path: Path, type_: str) -> None:
    text = ID_COLUMNS[type_]
    first = 2 if "\n{1}" in text and "," in text.partition("\n")[0] and "{0}" not in text.partition("\n")[0] else 1
    assert refused(tmp_path, type_, text.format("caf\u00e9", NFD)) == [("looks-like-another", first + 1)]
    assert refused(tmp_path, type_, text.format("dQw4", "dqW4")) == []


def test_sentences_clusters_and_targets_that_look_alike_are_refused(tmp_path: Path) -> None:
    head = "ID,Language,SentenceID,Label\n"
    pairs = head + "1,EN,s1,1\n2,EN,s1 ,1\n"
    assert refused(tmp_path, "meaning-matching", pairs) == [("spaces-around-value", 3)]
    clusters = "id,label,document\n1,a,caf\u00e9\n2,b," + NFD + "\n"
    assert refused(tmp_path, "table", clusters, resample_by="document") == [("looks-like-another", 3)]
    similar = "ID,DataID,Language,sim,otherID\ncaf\u00e9,t.EN.1.1,EN,1,\n2,t.EN.2.1,EN,," + NFD + "\n"
    assert refused(tmp_path, "idiom-similarity", similar) == [("looks-like-another", 3)]


def test_compounds_and_ids_of_paraphrases_that_look_alike_are_refused(tmp_path: Path) -> None:
    scores = "language,compound,compositionality,class\nen,caf\u00e9 noir,1,\nen," + NFD + " noir,2,\n"
    assert refused(tmp_path, "idiomaticity-probing", scores, languages=["en"]) == [("looks-like-another", 3)]
    items = [
        {"source_sent_id": id_, "text": "It is [[red]] .", "raw_text": "It is red .", "label": ["Minimal: It is so ."]}
        for id_ in ("caf\u00e9", NFD)
    ]
    told = refused(tmp_path, "mwe-paraphrase", "[\n" + ",\n".join(map(json.dumps, items)) + "\n]\n")
    assert told == [("looks-like-another", 3)]


def test_row_of_sts_is_not_taken_for_an_idiom_because_of_its_case(tmp_path: Path) -> None:
    text = "ID,DataID,Language,sim,otherID\n1,t.EN.STS.1,EN,1,\n2,t.EN.sts.2,EN,0.5,\n"
    assert refused(tmp_path, "idiom-similarity", text) == [("looks-like-another", 2)]


def test_categories_that_differ_by_case_are_refused_unless_declared(tmp_path: Path) -> None:
    head = "# global.columns = ID FORM LEMMA PARSEME:MWE\n"
    text = head + "1\ta\ta\t1:VID\n2\tb\tb\t1\n\n1\ta\ta\t1:vid\n2\tb\tb\t1\n\n"
    assert refused(tmp_path, "mwe-identification", text) == [("looks-like-another", 5)]


def test_texts_that_no_prediction_would_equal_are_refused(tmp_path: Path) -> None:
    text = "id,label\n1,one\n2,two \n"
    assert refused(tmp_path, "table", text, metrics=["exact_match"]) == [("spaces-around-value", 3)]
    assert refused(tmp_path, "table", text, metrics=["chrf"]) == []


def test_message_says_what_differs_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "label": label}) + "\n" for n, label in enumerate(("a", "A"))))
    task = get_task("table")
    with pytest.raises(InvalidGold) as caught:
        task.read_gold(path, read_options(task, {}))
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column label: 'A' looks like 'a' on line 1: upper and lower case count; declare both under `labels` "
        "if both are meant"
    ]
