"""mwe-paraphrase: the files that teams send, and everything that can be wrong with them. Needs no torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidPrediction, Problem
from evergold.scoring.option_types import USUAL_CHARACTERS
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.tasks.mwe_paraphrase import TASK
from tests.evergold.scoring.paraphrase_files import (
    GOLDEN,
    OPTIONS,
    ROWS,
    SYSTEM,
    items,
    predicted,
    rejected,
    row,
    rows_with,
    zipped,
)

MISSING = "the key prediction is missing"
MARKS = "the marks of the blind file: write the sentence without them"
UNSEEN = "an invisible character that no sentence of this language has: remove it"


# --------------------------------------------------------------------------------------------------- what is submitted


def test_zip_with_extra_folders_and_what_desktops_add_is_read(tmp_path: Path) -> None:
    pt = (GOLDEN / "prediction" / "PT" / "test.system.json").read_bytes()
    members = {"my system/EN/test.system.json": ROWS, "my system/pt/test.system.json": pt, "__MACOSX/._x.json": b"\0"}
    found = predicted(tmp_path, {**members, "my system/README.txt": "hello"})
    assert found.languages == TASK.read_prediction(GOLDEN / "prediction", items(), OPTIONS).languages
    assert list(found.languages) == ["en", "pt"]
    assert found.languages["en"]["en-2"] == "My brother likes the late hours."
    assert [problem.code for problem in found.warnings if problem.file == "my system/README.txt"] == ["unexpected-file"]


def test_languages_may_be_left_out_but_not_all(tmp_path: Path) -> None:
    assert list(predicted(tmp_path, {SYSTEM: ROWS}).languages) == ["en"]
    with pytest.raises(InvalidPrediction, match=r"expected <LANG>/test.system.json, where <LANG> is one of en, pt"):
        predicted(tmp_path, {"README.txt": "hello"})


def test_order_of_items_does_not_matter(tmp_path: Path) -> None:
    turned = predicted(tmp_path, {SYSTEM: ROWS[::-1]}).languages
    assert turned == predicted(tmp_path, {SYSTEM: ROWS}).languages


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("DE/test.system.json", "unknown-language"),
        ("test.system.json", "unknown-language"),
        ("EN/predictions.json", "wrong-file-name"),
    ],
)
def test_file_in_the_wrong_place_is_rejected(tmp_path: Path, name: str, code: str) -> None:
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {name: ROWS})
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [(code, name)]


def test_two_files_for_a_language_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrediction, match="a second file for en, the first is EN/test.system.json"):
        predicted(tmp_path, {SYSTEM: ROWS, "second/en/test.system.json": ROWS})


def test_single_file_is_enough_where_there_is_one_language(tmp_path: Path) -> None:
    path = tmp_path / "whatever"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    with pytest.raises(InvalidPrediction, match="send a zip with <LANG>/test.system.json"):
        TASK.read_prediction(path, items(), OPTIONS)
    one = TASK.read_items(GOLDEN / "items" / "EN" / "test.blind.json", Options(language="en"))
    for upload in (path, zipped(tmp_path / "z", {"x.json": ROWS}), zipped(tmp_path / "y", {SYSTEM: ROWS})):
        assert list(TASK.read_prediction(upload, one, OPTIONS).languages) == ["en"]
    with pytest.raises(InvalidPrediction, match="2 files where one is expected: a.json, b.json"):
        TASK.read_prediction(zipped(tmp_path / "w", {"a.json": ROWS, "b.json": ROWS}), one, OPTIONS)


# ------------------------------------------------------------------------------------------------------------ bad input


def test_missing_ids_are_all_listed(tmp_path: Path) -> None:
    assert rejected(tmp_path, ROWS[:1]) == ["3 of 4 items are missing: en-2; en-3; en-4"]
    assert rejected(tmp_path, []) == ["4 of 4 items are missing: en-1; en-2; en-3; en-4"]


def test_unknown_and_duplicate_ids_are_named_by_line(tmp_path: Path) -> None:
    text = json.dumps([*ROWS, row("en-5"), row("en-1")], indent=1)
    assert rejected(tmp_path, text) == [
        "line 18, column 2: id en-5 is not an item of this language",
        "line 22, column 2: id en-1 appears twice, first on line 2",
    ]


def test_duplicate_id_in_a_file_of_one_line_is_found_by_its_column(tmp_path: Path) -> None:
    text = json.dumps([*ROWS, row("en-1")])
    assert rejected(tmp_path, text) == [
        f"line 1, column {text.rindex('{') + 1}: id en-1 appears twice, first on line 1, character 2"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"source_sent_id": "en-1", "prediction": "x"\n', "line 2, column 1: this is not JSON: the file ends in the"),
        ('[\n{"source_sent_id" "en-1"}]', "line 2, column 19: this is not JSON: Expecting ':' delimiter"),
        ('{"source_sent_id": "en-1"}', "line 1, column 1: this is an object, not a list"),
        ("", "the file is empty"),
        (b'[{"prediction": "\xe9"}]', "line 1: the byte 0xE9 is not UTF-8"),
    ],
)
def test_wrong_json_is_rejected_with_line_and_column(tmp_path: Path, text: str | bytes, said: str) -> None:
    (problem,) = rejected(tmp_path, text)
    assert problem.startswith(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source_sent_id": "en-1"}, MISSING),
        ({"source_sent_id": "en-1", "text": "x"}, MISSING),
        ({"source_sent_id": "en-1", "Prediction": "x"}, f"{MISSING}: is it called 'Prediction' here?"),
        (row(prediction=None), "prediction is null, not a text"),
        (row(prediction=3), "prediction is a number, not a text"),
        (row(prediction=["x"]), "prediction is a list, not a text"),
        (row(prediction=True), "prediction is true, not a text"),
        (row(prediction="x" * 1_048_576), "the prediction has 1,048,576 characters, at most 10,000 are allowed"),
        (row(prediction="She [[kicked the bucket."), f"the prediction of en-1 contains [[ or ]], {MARKS}"),
        (row(prediction="She kicked the bucket]]"), f"the prediction of en-1 contains [[ or ]], {MARKS}"),
        (row(prediction="kick\u200bed"), f"character 5 of the prediction is U+200B ZERO WIDTH SPACE, {UNSEEN}"),
        (row(prediction="a\u0000"), f"character 2 of the prediction is U+0000 without a name, {UNSEEN}"),
        (row(prediction="half \ud83d"), "a text has an unpaired surrogate: a \\ud… escape without its other half"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else str(value)[:40],
)  # fmt: skip
def test_wrong_prediction_is_rejected_by_line(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    assert rejected(tmp_path, rows_with(changed)) == [f"line 1, column 2: {said}"]


def test_object_without_id_is_rejected_and_its_item_missing(tmp_path: Path) -> None:
    text = json.dumps(
        [{"id": "en-1", "prediction": "x"}, {"source_sent_id": 2, "prediction": "x"}, *ROWS[2:]], indent=1
    )
    assert rejected(tmp_path, text) == [
        "2 of 4 items are missing: en-1; en-2",
        "line 2, column 2: the key source_sent_id is missing",
        "line 6, column 2: source_sent_id is a number, not a text",
    ]


def test_problems_of_all_languages_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {SYSTEM: ROWS[:3], "PT/test.system.json": "[", "XX/test.system.json": []})
    assert [(problem.file, problem.code) for problem in caught.value.problems] == [
        (SYSTEM, "missing-id"),
        ("PT/test.system.json", "wrong-json"),
        ("XX/test.system.json", "unknown-language"),
    ]


def test_files_of_two_languages_that_were_swapped_are_recognised(tmp_path: Path) -> None:
    pt = (GOLDEN / "prediction" / "PT" / "test.system.json").read_bytes()
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {SYSTEM: pt, "PT/test.system.json": ROWS})
    assert [problem.message for problem in caught.value.problems] == [
        "none of the 2 ids is an item of en; 2 are items of pt",
        "none of the 4 ids is an item of pt; 4 are items of en",
    ]


def test_file_for_another_phase_is_recognised(tmp_path: Path) -> None:
    (problem,) = rejected(tmp_path, [row("dev-1"), row("dev-2")])
    assert problem == "none of the 2 ids is an item of en: is it a file for another phase or data set?"


def test_many_problems_are_counted_and_the_missing_ids_still_told(tmp_path: Path) -> None:
    rows = [row("en-1"), *(row(f"x-{number}", None) for number in range(200))]
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {SYSTEM: rows})
    assert caught.value.problems[0].message == "3 of 4 items are missing: en-2; en-3; en-4"
    assert len(caught.value.problems) == 51
    assert caught.value.omitted == 350


def test_characters_that_the_sentences_have_are_allowed(tmp_path: Path) -> None:
    blind = [{"source_sent_id": "1", "raw_text": "soft\u00adhyphen"}, {"source_sent_id": "2", "raw_text": "x"}]
    path = tmp_path / "blind"
    path.write_text(json.dumps(blind), encoding="utf-8")
    rows = [row("1", "x"), row("2", "some\u00adthing")]
    upload = zipped(tmp_path / "upload", {"a.json": rows})
    assert (
        TASK.read_prediction(upload, TASK.read_items(path, OPTIONS), OPTIONS).languages["all"]["2"] == "some\u00adthing"
    )


# ------------------------------------------------------------------------------------------------------------- warnings


def warnings(tmp_path: Path, *changed: dict[str, Any]) -> list[tuple[str, int | None, str]]:
    found = predicted(tmp_path, {SYSTEM: json.dumps(rows_with(*changed), indent=1)}).warnings
    return [(problem.code, problem.line, problem.message) for problem in found if problem.severity == "warning"]


def test_prediction_that_is_the_sentence_scores_0_and_that_is_said(tmp_path: Path) -> None:
    same = [
        row("en-1", " She finally kicked  the bucket last winter. "),
        row("en-4", "They took the new rule into account."),
    ]
    (warning,) = warnings(tmp_path, *same)
    message = "the prediction is the sentence itself: its MWE is not removed, which scores 0 (2 times, lines 2, 14)"
    assert warning == ("unchanged", 2, message)


def test_what_becomes_of_an_empty_prediction_is_said(tmp_path: Path) -> None:
    (warning,) = warnings(tmp_path)
    message = "the prediction is empty: by the official rule the MWE counts as removed, and the BERTScore is 0"
    assert warning == ("empty", 14, message)


def test_more_keys_and_other_accents_are_noticed(tmp_path: Path) -> None:
    found = warnings(tmp_path, row("en-1", "cafe\u0301", model="x"), row("en-4", "x", prompt=None))
    assert [(code, line) for code, line, _ in found] == [("more-keys", 2), ("not-normalised", 2)]


def test_limit_of_a_prediction_is_inclusive(tmp_path: Path) -> None:
    assert predicted(tmp_path, {SYSTEM: rows_with(row(prediction="x" * USUAL_CHARACTERS))}).languages


def test_organisers_may_allow_longer_predictions(tmp_path: Path) -> None:
    options = OPTIONS.model_copy(update={"max_characters": USUAL_CHARACTERS + 1})
    longer = {SYSTEM: rows_with(row(prediction="x" * (USUAL_CHARACTERS + 1)))}
    assert predicted(tmp_path, longer, options).languages
    with pytest.raises(InvalidPrediction, match="the prediction has 10,001 characters, at most 10,000 are allowed"):
        predicted(tmp_path, longer)


def test_problem_holds_its_place_for_pages(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrediction) as caught:
        predicted(tmp_path, {SYSTEM: json.dumps(rows_with(row(prediction=None)), indent=1)})
    (problem,) = caught.value.problems
    assert problem == Problem("not-a-text", "prediction is null, not a text", SYSTEM, 2, "2")


def test_an_empty_file_to_fill_is_there_for_one_language_alone(tmp_path: Path) -> None:
    one = TASK.read_items(GOLDEN / "items" / "EN" / "test.blind.json", Options(language="EN"))
    rows = json.loads(str(TASK.template(one, Options(language="EN"))))
    assert [list(row) for row in rows] == [["source_sent_id", "prediction"]] * len(one.languages["en"].ids)
    assert [row["source_sent_id"] for row in rows] == list(one.languages["en"].ids)
    assert {row["prediction"] for row in rows} == {""}
    assert TASK.template(items(), OPTIONS) is None
