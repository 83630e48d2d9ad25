"""mwe-paraphrase: the golden case, what a score must hold, progress, signatures; with the encoder from a wheel."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from evergold import scoring
from evergold.cli import run
from tests.evergold.scoring.bert_files import MODEL, SETTINGS, upstream

# isort: split
# Behind the check of bert_files that torch is there.
from evergold.baselines.catalogue import write_baseline
from evergold.scoring.bertscore.encoders import load_encoder
from evergold.scoring.bertscore.models import ModelNotFound, encoding_with
from evergold.scoring.paraphrase.languages import METRIC_NAMES
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.paraphrase.scores import Paraphrased, summarise
from evergold.scoring.progress import progress_to, report_progress
from evergold.scoring.task import NOT_ENTERED, Score, read_options, score_with_outcomes
from evergold.scoring.tasks import mwe_paraphrase
from evergold.scoring.tasks.mwe_paraphrase import NAME, TASK, Gold, Prediction

GOLDEN = Path(__file__).parents[2] / "golden" / NAME
EXPECTED = json.loads((GOLDEN / "scores.json").read_text(encoding="utf-8"))
OPTIONS = Options(model=MODEL)


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    with encoding_with(SETTINGS):
        yield


def gold(options: Options = OPTIONS) -> Gold:
    return TASK.read_gold(GOLDEN / "gold", options)


def texts(*languages: str) -> dict[str, Mapping[str, str]]:
    found = TASK.read_prediction(GOLDEN / "prediction", TASK.items_of(gold(), OPTIONS), OPTIONS)
    return {language: found.languages[language] for language in languages or found.languages}


def scores(
    prediction: Mapping[str, Mapping[str, str]], options: Options = OPTIONS, answers: Gold | None = None
) -> dict[str, float | str | None]:
    found = TASK.score(answers or gold(options), Prediction(prediction), options)
    return {f"{one.metric} {one.split}": one.reason if one.value is None else one.value for one in found}


# ------------------------------------------------------------------------------------------------- the golden case


@pytest.mark.parametrize("items", [None, GOLDEN / "items"], ids=["items of gold", "blind files"])
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_scores_are_as_recorded_and_calculated_by_hand(items: Path | None, packed: bool, tmp_path: Path) -> None:
    prediction = GOLDEN / "prediction"
    if packed:
        prediction = tmp_path / "upload"
        with zipfile.ZipFile(prediction, "w") as archive:
            for language in ("EN", "PT"):
                name = f"{language}/test.system.json"
                archive.write(GOLDEN / "prediction" / name, f"system 1/{name}")
    found = scoring.score(NAME, GOLDEN / "gold", prediction, EXPECTED["options"], items)
    actual = {f"{one.metric} {one.split}": one.reason if one.value is None else one.value for one in found}
    assert list(actual) == list(EXPECTED["scores"])
    for name, value in EXPECTED["scores"].items():
        tolerance = 1e-5 if name.startswith("bertscore") else 1e-12
        assert actual[name] == (value if isinstance(value, str) else pytest.approx(value, abs=tolerance)), name


def test_command_line_scores_a_single_language(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [NAME, "--gold", str(GOLDEN / "gold/EN/test.json"), "--format", "json", "--option", f"model={MODEL}"]
    arguments += ["--prediction", str(GOLDEN / "prediction/EN/test.system.json"), "--option", "language=EN"]
    assert run(["score", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {f"{one['metric']} {one['split']}": one["value"] for one in document["scores"]}
    assert found["bertscore en"] == pytest.approx(EXPECTED["scores"]["bertscore en"], abs=1e-5)
    assert not any("macro" in name for name in found)
    assert [warning["code"] for warning in document["warnings"]] == ["empty"]


# --------------------------------------------------------------------------------------------------- what must hold


def test_a_reference_as_prediction_has_the_maximum() -> None:
    for kind in ("creative", "minimal"):
        perfect = {
            language: {item.id: getattr(item, kind) for item in file.items}
            for language, file in gold().languages.items()
        }
        found = scores(perfect)
        assert found["bertscore macro"] == pytest.approx(1, abs=1e-6)
        assert found["removed macro"] == 1
        assert all(value <= 1 for name, value in found.items() if "bertscore" in name and isinstance(value, float))


def test_the_sentences_themselves_score_0_and_have_no_new_word() -> None:
    same = {language: {item.id: item.sentence for item in file.items} for language, file in gold().languages.items()}
    found = scores(same)
    assert (found["bertscore macro"], found["removed macro"], found["variety macro"]) == (0, 0, 0)
    assert found["entropy en"] == "there is no new word"
    assert found["balance en"] == "there are fewer than two different new words"
    assert found["entropy macro"] == 0


def test_language_that_is_not_submitted_is_not_entered_and_counts_0() -> None:
    both, english = scores(texts()), scores(texts("en"))
    assert english["bertscore pt"] == english["removed pt/type/AdjID"] == NOT_ENTERED
    assert english["bertscore en"] == both["bertscore en"]
    assert english["bertscore macro"] == pytest.approx(both["bertscore en"] / 2)  # type: ignore[operator]
    assert english["bertscore macro/type/AdjID"] == both["bertscore en/type/AdjID"]
    assert english["languages macro"] == 1


def test_order_of_items_does_not_matter() -> None:
    found = scores(texts())
    answers = gold()
    shuffled = {
        language: replace(file, items=tuple(random.Random(3).sample(file.items, len(file.items))), sha256="other")
        for language, file in answers.languages.items()
    }
    turned = {language: dict(reversed(list(one.items()))) for language, one in texts().items()}
    other = scores(turned, answers=Gold(shuffled, in_folders=True))
    assert other == {
        name: value if isinstance(value, str) else pytest.approx(value, abs=1e-6) for name, value in found.items()
    }


def test_max_over_both_references_is_upstreams() -> None:
    (item,) = [item for item in gold().languages["en"].items if item.id == "en-2"]
    f1 = upstream(["My brother likes the late hours."] * 2, [[item.creative], [item.minimal]])[2]
    assert scores(texts())["bertscore en/type/NID"] == pytest.approx(max(f1), abs=1e-5)


@pytest.mark.parametrize("options", [{}, {"idf": True}, {"baseline": 0.25}], ids=str)
def test_the_reference_implementation_gives_the_same_scores_and_outcomes(options: dict[str, Any]) -> None:
    """Check the package's own batches, for which our numbers are known to be the package's."""
    together = Options(model=MODEL, compatibility="upstream-64", **options)
    package = Options(model=MODEL, implementation="reference", **options)
    expected = scores(texts(), together)
    assert scores(texts(), package) == {
        name: value if isinstance(value, str) else pytest.approx(value, abs=1e-6) for name, value in expected.items()
    }


def test_baseline_rescales_what_is_removed_and_leaves_0() -> None:
    usual, rescaled = scores(texts()), scores(texts(), Options(model=MODEL, baseline={"en": 0.5, "pt": 0.25}))
    x = EXPECTED["scores"]
    assert rescaled["bertscore en/type/AdjID"] == usual["bertscore en/type/AdjID"] == 0  # its MWE is still there
    assert rescaled["bertscore en/type/NID"] == pytest.approx((x["bertscore en/type/NID"] - 0.5) / 0.5, abs=2e-5)
    assert rescaled["bertscore pt/type/VID"] == pytest.approx((x["bertscore pt/type/VID"] - 0.25) / 0.75, abs=2e-5)


def test_items_can_be_counted_as_often_as_one_likes() -> None:
    """Check two items: one with F1 0.8 and the words a, b; one that keeps its MWE, with the word a."""
    import numpy as np

    outcome = Paraphrased(np.array([True, False]), (("a", "b"), ("a",)))
    summary = summarise(outcome, np.array([0.8, 0.0]), [0, 0, 1, 0])
    assert summary is not None
    assert (summary.items, summary.novel_words) == (4, 7)
    assert (summary.bertscore, summary.removed) == (pytest.approx(0.6), 0.75)
    assert summary.diversity.richness == 2
    assert summarise(outcome, None, []) is None


@pytest.mark.parametrize("marked", ["彼 は [[匙 を 投げ]] た 。", "彼は[[匙を投げ]]た。", "彼は[[匙]]を[[投げ]]た。"])
def test_japanese_mwe_is_looked_for_in_the_analysers_words(marked: str, tmp_path: Path) -> None:
    """Check text without white space: as one word, the sentence would always be replaced, and every MWE word missing
    from it.

    Real gold has no blanks inside its marks either, so they go through the analyser, too.
    """
    pytest.importorskip("sudachidict_core")
    sentence, label = "彼は匙を投げた。", ["Minimal: 彼は諦めた。"]
    rows = [{"source_sent_id": id_, "text": marked, "raw_text": sentence, "label": label} for id_ in ("1", "2")]
    path = tmp_path / "test.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    options = Options(model=MODEL, language="ja")
    answers = TASK.read_gold(path, options)
    found = TASK.score(answers, Prediction({"ja": {"1": "彼は諦めた。", "2": "彼女は匙を投げた。"}}), options)
    by_name = {f"{one.metric} {one.split}": one for one in found}
    assert by_name["removed ja"].value == 0.5
    assert by_name["variety ja"].value == 2  # by white space, as PARSEME counts: both texts are one new word each
    assert "|words:sudachipy-" in by_name["removed ja"].signature
    assert "|words:sudachipy-" in by_name["bertscore ja"].signature
    assert "|words:whitespace" in by_name["variety ja"].signature


# --------------------------------------------------------------------------------------------------------- progress


def test_progress_is_told_in_items_and_never_goes_back() -> None:
    told: list[tuple[int, int]] = []
    with encoding_with(replace(SETTINGS, token_budget=16)), progress_to(lambda done, total: told.append((done, total))):
        scores(texts())
    done = [one for one, _ in told]
    assert {total for _, total in told} == {6}
    assert done == sorted(done)
    assert done[-1] == 6
    assert len(set(done)) >= 4


def test_a_listener_may_stop_the_scoring() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress_to(stop):
        scores(texts())


def test_without_a_listener_reports_go_nowhere_and_inner_listeners_hear_alone() -> None:
    report_progress(1, 2)
    outer: list[int] = []
    inner: list[int] = []
    with progress_to(lambda done, total: outer.append(done)):
        report_progress(1, 3)
        with progress_to(lambda done, total: inner.append(done)):
            report_progress(2, 3)
        report_progress(3, 3)
    report_progress(4, 4)
    assert (outer, inner) == ([1, 3], [2])


# ------------------------------------------------------------------------------------------------------- signatures


def signatures(document: Mapping[str, Any], found: Mapping[str, Mapping[str, str]] | None = None) -> dict[str, str]:
    options = read_options(TASK, {"model": MODEL, **document})
    assert isinstance(options, Options)
    result: list[Score] = TASK.score(gold(options), Prediction(found or texts()), options)
    return {f"{one.metric} {one.split}": one.signature for one in result}


def test_signature_is_one_line_that_says_all() -> None:
    found = signatures({})
    assert found["bertscore en/type/VID"].startswith(
        f"{NAME}:2|bertscore|en/type/VID|edits:difflib|words:whitespace|not_removed:0|bertscore:evergold-1|model:{MODEL}"
        "|weights:53aa51172d142c89|"
    )
    assert found["bertscore macro"].endswith("|empty:0|several_references:max|baseline:none|macro:mean|languages:en,pt")
    assert found["entropy pt"] == f"{NAME}:2|entropy|pt|edits:difflib|words:whitespace"
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(
    "document",
    [
        {"layer": 5},
        {"precision": "bf16"},
        {"idf": True},
        {"baseline": 0.3},
        {"baseline": {"en": 0.3, "pt": 0.3}},
        {"compatibility": "upstream-64"},
        {"implementation": "reference"},
    ],
    ids=str,
)
def test_every_option_that_moves_bertscore_changes_its_signature_and_no_other(document: dict[str, Any]) -> None:
    usual, other = signatures({}), signatures(document)
    changed = {name for name in usual if usual[name] != other[name]}
    assert changed == {name for name in usual if name.startswith("bertscore")}


def test_the_reference_implementation_stands_in_the_signature_with_its_version_and_its_batches() -> None:
    signed = signatures({"implementation": "reference"})["bertscore en"]
    assert "|bertscore:bert-score-0.3.13|" in signed
    assert "|padding:upstream-64|" in signed
    ours = signatures({"compatibility": "upstream-64"})["bertscore en"]
    assert signed == ours.replace("evergold-1", "bert-score-0.3.13"), "the same model, layer, versions, rules"


def test_languages_are_in_the_signature_of_macro_alone() -> None:
    usual, english = signatures({}), signatures({"languages": "en"}, texts("en"))
    assert usual["bertscore en"] == english["bertscore en"]
    assert usual["bertscore macro"] != english["bertscore macro"]


def test_model_that_is_not_here_is_not_the_teams_fault(tmp_path: Path) -> None:
    with encoding_with(replace(SETTINGS, models_dir=tmp_path)), pytest.raises(ModelNotFound):
        scores(texts(), Options())


def test_columns_are_all_scored() -> None:
    options = Options(model=MODEL, languages=("en", "pt"))
    scored = {f"{one.metric} {one.split}" for one in TASK.score(gold(options), Prediction(texts()), options)}
    assert {f"{column.metric} {column.split}" for column in TASK.columns(options)} == scored
    assert tuple(TASK.metrics) == (*METRIC_NAMES, "languages")


# ----------------------------------------------------------------------------------------------------------- outcomes


def test_outcomes_give_every_score_again_and_cost_no_second_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    options = read_options(TASK, EXPECTED["options"])
    assert isinstance(options, Options)
    answers = gold(options)
    checked = TASK.read_prediction(GOLDEN / "prediction", TASK.items_of(answers, options), options)
    load = Mock(wraps=load_encoder)
    monkeypatch.setattr(mwe_paraphrase, "load_encoder", load)
    found, outcomes = score_with_outcomes(TASK, answers, checked, options)
    assert load.call_count == 1
    assert TASK.sample is not None
    again = TASK.sample(json.loads(json.dumps(outcomes, allow_nan=False))).scores()
    assert found == TASK.score(answers, checked, options)
    for one in found:
        assert again.pop((one.metric, one.split), None) == pytest.approx(one.value, abs=1e-12), (one.metric, one.split)
    assert not again


def test_a_language_that_was_not_submitted_counts_0_in_the_means_of_the_outcomes() -> None:
    answers = gold()
    found, outcomes = score_with_outcomes(TASK, answers, Prediction(texts("en")), OPTIONS)
    assert TASK.sample is not None
    assert outcomes is not None
    again = TASK.sample(outcomes).scores()
    for one in found:
        assert again.pop((one.metric, one.split), None) == pytest.approx(one.value, abs=1e-12), (one.metric, one.split)


# ---------------------------------------------------------------------------------------------------------- baselines


def baseline_scores(name: str, folder: Path) -> tuple[dict[str, float | str | None], dict[str, Mapping[str, str]]]:
    path = folder / f"{name}.zip"
    write_baseline(NAME, name, GOLDEN / "items", path, [GOLDEN / "gold"], {"model": MODEL})
    checked = TASK.read_prediction(path, TASK.items_of(gold(), OPTIONS), OPTIONS)
    return scores(checked.languages), dict(checked.languages)


def test_the_sentence_as_it_is_keeps_its_idiom_and_scores_nothing(tmp_path: Path) -> None:
    found, _ = baseline_scores("copy", tmp_path)
    assert {found[f"bertscore {split}"] for split in ("en", "pt", "macro")} == {0.0}


def test_without_its_idiom_a_sentence_scores_what_the_package_says(tmp_path: Path) -> None:
    """Trained on gold itself, deletion takes every idiom out; of two references the nearer one counts."""
    found, predicted = baseline_scores("deletion", tmp_path)
    means = []
    for language, file in gold().languages.items():
        assert found[f"removed {language}"] == 1
        pairs = [(predicted[language][item.id], item.creative, item.minimal) for item in file.items]
        texts, creative, minimal = zip(*pairs, strict=True)
        nearer = [upstream(texts, [[one] for one in references])[2] for references in (creative, minimal)]
        means.append(sum(map(max, *nearer)) / len(pairs))
        assert found[f"bertscore {language}"] == pytest.approx(means[-1], abs=1e-5)
    assert found["bertscore macro"] == pytest.approx(sum(means) / 2, abs=1e-5)
