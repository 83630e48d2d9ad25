"""mwe-paraphrase: what organisers set: gold, blind files, options, columns; the report for pages. Needs no torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.task import read_options
from evergold.scoring.tasks.mwe_paraphrase import TASK, Gold, Prediction
from tests.evergold.scoring.paraphrase_files import GOLDEN, IDS, OPTIONS, items, zipped

TWO_LABELS = 'label must be a list ["Creative: …", "Minimal: …"], or one of the two'


# ---------------------------------------------------------------------------------------------------- organisers' files


def gold_row(**changed: Any) -> dict[str, Any]:
    usual = {
        "source_sent_id": "1",
        "text": "He [[kicked the bucket]] .",
        "raw_text": "He kicked the bucket.",
        "MWE_type": "VID",
        "label": ["Creative: He is no more.", "Minimal: He died."],
    }
    return {key: value for key, value in {**usual, **changed}.items() if value != "left out"}


def read_gold(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Gold:
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(list(rows), indent=1), encoding="utf-8")
    return TASK.read_gold(path, Options(**options))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source_sent_id": "left out"}, "the key source_sent_id is missing"),
        ({"raw_text": ""}, "raw_text is empty"),
        ({"raw_text": None}, "raw_text is null, not a text"),
        ({"text": "left out"}, "the key text is missing"),
        ({"text": "He kicked it."}, "text marks no MWE with [[…]]"),
        ({"MWE_type": "LVC"}, "MWE_type is 'LVC'; the types are VID, NID, AdjID"),
        ({"label": "left out"}, TWO_LABELS),
        ({"label": "Creative: x"}, TWO_LABELS),
        ({"label": ["He died."]}, TWO_LABELS),
        ({"label": ["Minimal: a", "Minimal: b"]}, TWO_LABELS),
        ({"label": ["Minimal: a", None]}, TWO_LABELS),
        ({"label": []}, "label has no reference paraphrase"),
        ({"label": ["Creative: ", "Minimal:"]}, "label has no reference paraphrase"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)  # fmt: skip
def test_wrong_gold_is_refused_by_line(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidGold) as caught:
        read_gold(tmp_path, gold_row(source_sent_id="0"), gold_row(**changed))
    assert [str(problem) for problem in caught.value.problems] == [f"gold.json, line 12, column 2: {said}"]


def test_duplicate_and_no_items_in_gold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidGold, match="line 12, column 2: id 1 appears twice, first on line 2"):
        read_gold(tmp_path, gold_row(), gold_row())
    with pytest.raises(InvalidGold, match="the list has no items"):
        read_gold(tmp_path)
    with pytest.raises(InvalidItems, match="the list has no items"):
        TASK.read_items(tmp_path / "gold.json", OPTIONS)


@pytest.mark.parametrize(
    ("label", "creative", "minimal"),
    [
        (["Creative: a b", "Minimal:c"], "a b", "c"),
        (["minimal: c: d", " CREATIVE : a"], "a", "c: d"),
        (["Creative: a"], "a", "a"),
        (["Minimal: c"], "c", "c"),
        (["Creative: ", "Minimal: c"], "c", "c"),
    ],
)
def test_reference_that_is_missing_is_replaced_by_the_other(
    tmp_path: Path, label: list[str], creative: str, minimal: str
) -> None:
    (item,) = read_gold(tmp_path, gold_row(label=label)).languages["all"].items
    assert (item.creative, item.minimal) == (creative, minimal)


def test_type_may_be_missing_and_marks_in_the_sentence_are_taken_out(tmp_path: Path) -> None:
    found = read_gold(tmp_path, gold_row(MWE_type="left out", raw_text=" He [[kicked]] it ."), language="EN")
    (item,) = found.languages["en"].items
    assert item.mwe_type is None
    assert item.sentence == "He kicked it ."
    assert TASK.items_of(found, OPTIONS).languages["en"].sentences == ("He kicked it .",)


def test_gold_in_folders_must_have_the_languages_that_options_name() -> None:
    assert list(TASK.read_gold(GOLDEN / "gold", Options(languages=("pt", "en"))).languages) == ["pt", "en"]
    with pytest.raises(InvalidGold, match=r"there is no FR/test.json in gold"):
        TASK.read_gold(GOLDEN / "gold", Options(languages=("en", "fr")))
    with pytest.raises(InvalidItems, match=r"there is no FR/test.json in items"):
        TASK.read_items(GOLDEN / "items", Options(languages=("en", "fr")))
    with pytest.raises(InvalidGold, match=r"there is no <LANG>/test.json in golden"):
        TASK.read_gold(GOLDEN.parent, OPTIONS)


def test_blind_files_and_gold_name_the_same_items() -> None:
    gold = TASK.read_gold(GOLDEN / "gold", OPTIONS)
    assert TASK.items_of(gold, OPTIONS) == items() == TASK.read_items(GOLDEN / "gold", OPTIONS)


# ------------------------------------------------------------------------------------------- options, columns, template


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"languages": "en,macro"}, "is the mean over languages"),
        ({"languages": "en", "language": "en"}, "not both"),
        ({"types": []}, "types must not be empty"),
        ({"types": ["VID", "a b"]}, "cannot be the name of a type"),
        ({"types": ["VID", "VID"]}, "occurs twice"),
        ({"model": "../secret"}, "is not a name of a model"),
        ({"model": "some/other-model"}, "give layer"),
        ({"layer": -1}, "layer must be at least 0, but is -1"),
        ({"precision": "int8"}, "one of fp32, bf16, fp16"),
        ({"baseline": 1}, "option baseline must be below 1, but is 1"),
        ({"compatibility": "upstream-32"}, "one of batch-independent, upstream-64"),
        ({"batch_size": 64}, "has no option batch_size"),
    ],
    ids=str,
)
def test_wrong_options_are_refused(document: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidOptions, match=said):
        read_options(TASK, document)


def test_official_setting_is_the_default() -> None:
    assert (OPTIONS.model, OPTIONS.used_layer, OPTIONS.idf) == ("bert-base-multilingual-cased", 9, False)
    assert (OPTIONS.baseline, OPTIONS.precision) == (None, "fp32")
    assert Options(model="some/other-model", layer=0).used_layer == 0


def test_baseline_by_language_must_name_golds_languages() -> None:
    fitting = Options(baseline={"en": 0.3, "pt": 0.4})
    assert TASK.read_gold(GOLDEN / "gold", fitting)
    with pytest.raises(InvalidOptions, match="the languages of gold are en, pt"):
        TASK.read_gold(GOLDEN / "gold", Options(baseline={"en": 0.3}))


def test_columns_begin_with_the_macro_bertscore() -> None:
    found = TASK.columns(Options(languages=("en", "pt")))
    assert (found[0].metric, found[0].split, found[0].title) == ("bertscore", "macro", "Macro BERTScore")
    titles = {f"{column.metric} {column.split}": column.title for column in found}
    assert titles["removed en/type/AdjID"] == "EN AdjID Removed"
    assert len(titles) == len(found) == 5 * 3 * 4 + 1
    assert TASK.columns(Options(language="EN"))[0].split == "en"
    assert {column.metric for column in found} == set(TASK.metrics)


def test_template_is_the_file_without_predictions(tmp_path: Path) -> None:
    assert TASK.template(items(), OPTIONS) is None
    one = TASK.read_items(GOLDEN / "items" / "EN" / "test.blind.json", OPTIONS)
    text = TASK.template(one, OPTIONS)
    assert text is not None
    assert [entry["source_sent_id"] for entry in json.loads(text)] == list(IDS)
    upload = zipped(tmp_path / "upload", {"x.json": text})
    assert [warning.code for warning in TASK.read_prediction(upload, one, OPTIONS).warnings] == ["empty"]


def test_report_tells_all_but_bertscore() -> None:
    assert TASK.report
    gold = TASK.read_gold(GOLDEN / "gold", OPTIONS)
    prediction = TASK.read_prediction(GOLDEN / "prediction", items(), OPTIONS)
    document = TASK.report(gold, Prediction({"en": prediction.languages["en"]}), OPTIONS)
    expected = json.loads((GOLDEN / "scores.json").read_text(encoding="utf-8"))["scores"]
    english = document["languages"]["en"]
    assert document["languages"]["pt"] is None
    for name in ("removed", "variety", "entropy", "balance"):
        assert english["all"][name] == pytest.approx(expected[f"{name} en"], abs=1e-12)
        assert english["NID"][name] == pytest.approx(expected[f"{name} en/type/NID"], abs=1e-12)
    assert english["all"]["items"] == 4
    assert english["all"]["novel_words"] == 7
    assert english["never_removed"] == 0
    # en-1 `died`, en-2 `person who stays up late.`, en-3 `ill`, en-4 `considered rule.`: 'account.' is another word
    minimal = document["references"]["minimal"]["en"]
    assert (minimal["removed"], minimal["variety"]) == (1.0, 9.0)
    assert set(document["references"]["creative"]) == {"en", "pt", "macro"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_mwe_that_nobody_can_remove_is_counted(tmp_path: Path) -> None:
    """Check that `d' origine` is joined, but this corpus writes it as two words: no word of the sentence is
    `d'origine`.
    """
    gold = read_gold(
        tmp_path,
        gold_row(text="une communauté [[d' origine]]", raw_text="une communauté d' origine"),
        gold_row(source_sent_id="2", text="une [[chambre d' hôtel]]", raw_text="une chambre d' hôtel"),
    )
    assert TASK.report
    report = TASK.report(gold, Prediction({"all": {"1": "autre chose", "2": "une pièce"}}), OPTIONS)
    assert report["languages"]["all"]["never_removed"] == 1
    assert report["languages"]["all"]["all"]["removed"] == 0.5


def test_gold_that_the_items_do_not_cover_is_refused() -> None:
    gold = TASK.read_gold(GOLDEN / "gold", OPTIONS)
    with pytest.raises(InvalidGold, match="en: 3 gold items are not in the items file, en-2 first"):
        TASK.score(gold, Prediction({"en": {"en-1": "x"}}), OPTIONS)
