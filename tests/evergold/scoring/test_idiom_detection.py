"""idiom-detection: the golden case, what a gold and the options may be, the submission template, signatures."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction
from evergold.scoring.tables.settings import Items
from evergold.scoring.task import NOT_ENTERED, read_options
from evergold.scoring.tasks.idiom_detection import TASK, Options
from tests.evergold.scoring.idiom_files import GOLDEN, HEADER, OPTIONS, SETTINGS, golden_items, rows, write


def scores(prediction: Path, gold: Path = GOLDEN / "gold.csv", options: Options = OPTIONS) -> dict[str, object]:
    answers = TASK.read_gold(gold, options)
    checked = TASK.read_prediction(prediction, TASK.items_of(answers, options), options)
    return {
        f"{score.metric} {score.split}": score.reason if score.value is None else score.value
        for score in TASK.score(answers, checked, options)
    }


def test_golden_scores_are_as_calculated_by_hand() -> None:
    expected = json.loads((GOLDEN / "expected.json").read_text())["scores"]
    actual = scores(GOLDEN / "prediction.csv")
    assert list(actual) == list(expected)
    for name, value in expected.items():
        assert actual[name] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-12))


def test_items_of_the_blind_file_and_of_gold_give_the_same_scores() -> None:
    gold = TASK.read_gold(GOLDEN / "gold.csv", OPTIONS)
    by_items = [
        TASK.score(gold, TASK.read_prediction(GOLDEN / "prediction.csv", items, OPTIONS), OPTIONS)
        for items in (golden_items(), TASK.items_of(gold, OPTIONS))
    ]
    assert by_items[0] == by_items[1]


def test_items_keep_the_blind_files_order_and_hide_golds() -> None:
    assert golden_items().ids == ("3", "1", "2", "4", "5", "6")
    assert TASK.read_items(GOLDEN / "gold.csv", OPTIONS).ids == ("1", "2", "3", "4", "5", "6")


def test_perfect_prediction_has_the_maximum_everywhere(tmp_path: Path) -> None:
    gold = (GOLDEN / "gold.csv").read_text().splitlines()[1:]
    lines = [f"{i},{lang},{s},{label}" for s in SETTINGS for i, _, lang, label in (row.split(",") for row in gold)]
    values = scores(write(tmp_path / "p", HEADER + "\n".join(lines)))
    assert set(values.values()) == {1.0}
    assert len(values) == 2 * 3 * 2


def test_absent_rows_and_empty_labels_are_the_same_not_entered(tmp_path: Path) -> None:
    half = write(tmp_path / "p", HEADER + "\n".join(rows(golden_items(), chosen=("one_shot",))))
    values = scores(half)
    assert values["macro_f1 zero_shot/all"] == NOT_ENTERED
    assert isinstance(values["macro_f1 one_shot/all"], float)
    mixed = rows(golden_items(), chosen=("one_shot",)) + rows(golden_items(), "", ("zero_shot",))[:2]
    assert scores(write(tmp_path / "q", HEADER + "\n".join(mixed))) == values


def test_prediction_in_a_zip_inside_a_folder_has_the_same_scores(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "upload", "w") as archive:
        archive.write(GOLDEN / "prediction.csv", "my submission/prediction.csv")
        archive.writestr("__MACOSX/my submission/._prediction.csv", b"x")
    assert scores(tmp_path / "upload") == scores(GOLDEN / "prediction.csv")


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_of_rows_and_columns_does_not_matter(tmp_path: Path, seed: int) -> None:
    shuffled = random.Random(seed)
    columns = ["ID", "Language", "Setting", "Label"]
    lines = [line.split(",") for line in (GOLDEN / "prediction.csv").read_text().splitlines()]
    order = shuffled.sample(range(4), 4)
    body = shuffled.sample(lines[1:], len(lines) - 1)
    text = "\n".join(",".join(line[place] for place in order) for line in [columns, *body])
    gold = (GOLDEN / "gold.csv").read_text().splitlines()
    mixed = write(tmp_path / "gold", "\n".join([gold[0], *shuffled.sample(gold[1:], len(gold) - 1)]))
    assert scores(write(tmp_path / "p", text), mixed) == scores(GOLDEN / "prediction.csv")


def test_template_is_the_empty_submission(tmp_path: Path) -> None:
    template = TASK.template(golden_items(), OPTIONS)
    assert template is not None
    assert template.splitlines()[:3] == ["ID,Language,Setting,Label", "3,EN,zero_shot,", "1,EN,zero_shot,"]
    assert template.splitlines()[7] == "3,EN,one_shot,"
    with pytest.raises(InvalidPrediction, match="every Label is empty"):
        TASK.read_prediction(write(tmp_path / "p", template), golden_items(), OPTIONS)
    filled = write(tmp_path / "q", template.replace("shot,\n", "shot,1\n"))
    assert TASK.read_prediction(filled, golden_items(), OPTIONS).values["one_shot"] is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ID,Language,Label\n1,EN,1\n2,EN,0\n1,EN,0\n", "line 4, column ID: id 1 appears twice, first on line 2"),
        ("ID,Language,Label\n1,EN,2\n", "line 2, column Label: '2' is not one of the labels 0, 1"),
        ("ID,Language,Label\n1,EN,\n", "line 2, column Label: '' is not one of the labels 0, 1"),
        (
            "ID,Language,Label\n,EN,1\n",
            "line 2, column ID: the id is empty; delete rows that hold nothing but commas (Excel writes them)",
        ),
        ("ID,Language,Label\n1,,1\n", "line 2, column Language: '' is not a language code"),
        ("ID,Language,Label\n1,all,1\n", "line 2, column Language: 'all' is not a language code"),
        ("ID,Language,Label\n", "the file has no items, only a header"),
        ("ID,Language\n1,EN\n", "line 1: the column Label is missing; the header must be ID,Language,Label"),
        ("", "the file is empty"),
    ],
)
def test_wrong_gold_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidGold) as caught:
        TASK.read_gold(write(tmp_path / "gold", text), OPTIONS)
    assert [str(problem) for problem in caught.value.problems] == [said]


def test_declared_languages_fix_those_of_gold_and_items() -> None:
    for declared, said in (
        ("en", "the language PT is not one of the options' languages: en"),
        ("en,pt,gl", "no item is in gl, although the options list it under languages"),
    ):
        options = Options.model_validate({"languages": declared})
        with pytest.raises(InvalidGold) as gold:
            TASK.read_gold(GOLDEN / "gold.csv", options)
        with pytest.raises(InvalidItems) as items:
            TASK.read_items(GOLDEN / "items.csv", options)
        with pytest.raises(InvalidItems):
            TASK.read_items(GOLDEN / "gold.csv", options)
        assert gold.value.problems[0].message == items.value.problems[0].message == said


def test_submission_file_is_no_items_file() -> None:
    with pytest.raises(InvalidItems, match="this is a submission file, with a column Setting"):
        TASK.read_items(GOLDEN / "prediction.csv", OPTIONS)


def test_gold_that_the_items_file_does_not_cover_is_refused() -> None:
    gold = TASK.read_gold(GOLDEN / "gold.csv", OPTIONS)
    for items, said in (
        (Items(("1", "2", "3", "4", "5"), ("EN",) * 4 + ("PT",)), "1 gold items are not in the items file: 6"),
        (Items(("1", "2", "3", "4", "5", "6"), ("EN",) * 5 + ("PT",)), "1 items have a different language in gold"),
    ):
        empty = TASK.items_of(gold, OPTIONS)
        prediction = type(TASK.read_prediction(GOLDEN / "prediction.csv", empty, OPTIONS))(
            items, dict.fromkeys(SETTINGS)
        )
        with pytest.raises(InvalidGold, match=said):
            TASK.score(gold, prediction, OPTIONS)


def test_items_beyond_gold_are_demanded_but_not_scored(tmp_path: Path) -> None:
    more = write(tmp_path / "items", (GOLDEN / "items.csv").read_text() + "7,EN,,,,\n")
    items = TASK.read_items(more, OPTIONS)
    with pytest.raises(InvalidPrediction, match="zero_shot: 1 of 7 items is missing"):
        TASK.read_prediction(GOLDEN / "prediction.csv", items, OPTIONS)
    text = (GOLDEN / "prediction.csv").read_text() + "7,EN,zero_shot,1\n"
    prediction = TASK.read_prediction(write(tmp_path / "p", text), items, OPTIONS)
    gold = TASK.read_gold(GOLDEN / "gold.csv", OPTIONS)
    assert TASK.score(gold, prediction, OPTIONS)[0].value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "document",
    [
        {"labels": ["1"]},
        {"labels": ["1", "1"]},
        {"labels": ["1", ""]},
        {"labels": ["1", " 2"]},
        {"settings": []},
        {"settings": ["zero_shot", "zero_shot"]},
        {"settings": ["zero/shot"]},
        {"settings": ["all"]},
        {"languages": []},
        {"languages": ["EN", "en"]},
        {"languages": ["all"]},
        {"languages": 3.5},
        {"average": "micro"},
    ],
)
def test_wrong_options_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(InvalidOptions, match="idiom-detection"):
        read_options(TASK, document)


def test_options_may_be_written_in_a_line_or_as_lists() -> None:
    lines = read_options(TASK, {"languages": "EN,pt", "labels": "0,1,2", "settings": "zero_shot"})
    lists = read_options(TASK, {"languages": ["en", "pt"], "labels": [0, 1, 2], "settings": ("zero_shot",)})
    assert lines == lists
    assert isinstance(lines, Options)
    assert lines.labels == ("0", "1", "2")


def test_columns_are_the_declared_languages_and_are_all_scored() -> None:
    assert [(c.metric, c.split) for c in TASK.columns(OPTIONS)] == [
        ("macro_f1", "zero_shot/all"),
        ("macro_f1", "one_shot/all"),
        ("accuracy", "zero_shot/all"),
        ("accuracy", "one_shot/all"),
    ]
    options = Options(languages=("en", "pt"))
    columns = TASK.columns(options)
    assert [c.title for c in columns[:3]] == ["Zero-shot all", "Zero-shot EN", "Zero-shot PT"]
    assert columns[6].title == "Zero-shot all, accuracy"
    gold = TASK.read_gold(GOLDEN / "gold.csv", options)
    prediction = TASK.read_prediction(GOLDEN / "prediction.csv", TASK.items_of(gold, options), options)
    scored = {(score.metric, score.split) for score in TASK.score(gold, prediction, options)}
    assert {(c.metric, c.split) for c in columns} == scored
    assert {metric for metric, _ in scored} == set(TASK.metrics)


def signatures(document: dict[str, object], gold: Path = GOLDEN / "gold.csv") -> set[str]:
    options = read_options(TASK, document)
    assert isinstance(options, Options)
    answers = TASK.read_gold(gold, options)
    items = TASK.items_of(answers, options)
    prediction = TASK.read_prediction(GOLDEN / "prediction.csv", items, OPTIONS)
    padded = {setting: prediction.values.get(setting) for setting in options.settings}
    return {s.signature for s in TASK.score(answers, type(prediction)(items, padded), options)}


def test_every_option_that_moves_a_number_changes_the_signature(tmp_path: Path) -> None:
    usual = signatures({})
    assert "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1|languages:en,pt|average:labels-present" in usual
    assert not usual & signatures({"labels": ["0", "1", "2"]})
    assert not usual & signatures({"labels": ["1", "0"]})
    # A setting's own numbers do not depend on which others there are; its name is in the split.
    assert signatures({"settings": ["one_shot"]}) == {s for s in usual if "one_shot" in s}
    # Languages fix what gold has: naming those it has anyway moves nothing, pooling others does.
    assert signatures({"languages": ["en", "pt"]}) == usual
    other = write(tmp_path / "gold", (GOLDEN / "gold.csv").read_text().replace("PT", "GL"))
    prediction = write(tmp_path / "p", (GOLDEN / "prediction.csv").read_text().replace("PT", "GL"))
    answers = TASK.read_gold(other, OPTIONS)
    checked = TASK.read_prediction(prediction, TASK.items_of(answers, OPTIONS), OPTIONS)
    pooled = {s.signature for s in TASK.score(answers, checked, OPTIONS) if s.split.endswith("/all")}
    assert pooled
    assert not pooled & usual
