"""The device on which a worker encodes: the best one or the named one; what it may use; where vectors are."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.base.config import get_settings
from evergold.scoring.bertscore.models import current_settings
from evergold.scoring.optional import MissingPackage
from evergold.scoring.tasks import TASKS
from workers import device
from workers.device import (
    CPU_TOKENS,
    GPU_TOKENS,
    NoSuchDevice,
    can_encode,
    choose_device,
    encoder_settings,
    go_offline,
    has_torch,
    ready_for,
    refuse_encoding,
    vectors_folder,
    versions,
)

PARAPHRASE, DETECTION = TASKS["mwe-paraphrase"], TASKS["idiom-detection"]


def use_torch(monkeypatch: pytest.MonkeyPatch, *, cuda: int = 0, mps: bool = False) -> None:
    """Replace torch by one that sees so many CUDA devices, and perhaps Apple's."""
    torch = SimpleNamespace(
        __version__="2.0",
        cuda=SimpleNamespace(is_available=lambda: cuda > 0, device_count=lambda: cuda),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
    )
    monkeypatch.setattr(device, "load_package", lambda *_: torch)


@pytest.mark.parametrize(
    ("machine", "chosen"),
    [({}, "cpu"), ({"cuda": 1}, "cuda"), ({"mps": True}, "mps"), ({"cuda": 2, "mps": True}, "cuda")],
    ids=str,
)
def test_the_best_device_is_chosen(monkeypatch: pytest.MonkeyPatch, machine: dict[str, Any], chosen: str) -> None:
    use_torch(monkeypatch, **machine)
    assert choose_device() == chosen


@pytest.mark.parametrize("named", ["cpu", "cuda", "cuda:1", "mps"])
def test_a_device_that_is_named_is_used_though_there_is_a_better_one(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    use_torch(monkeypatch, cuda=2, mps=True)
    assert choose_device(named) == named


@pytest.mark.parametrize("named", ["cuda", "cuda:1", "mps"])
def test_a_device_that_is_not_there_is_no_reason_to_take_another(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    use_torch(monkeypatch, cuda=int(named == "cuda:1"))
    with pytest.raises(NoSuchDevice, match=f"EVERGOLD_DEVICE is {named}, but torch 2.0 finds no such device here"):
        choose_device(named)


@pytest.mark.parametrize("named", ["gpu", "CUDA", "cuda:", "cuda:x", "cpu:0"])
def test_a_name_that_is_no_device_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    use_torch(monkeypatch, cuda=1)
    with pytest.raises(NoSuchDevice, match="it may be cpu, cuda, cuda:1 or mps"):
        choose_device(named)


def test_processes_share_the_processors_and_a_gpu_gets_larger_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_processors", lambda: 12)
    use_torch(monkeypatch)
    monkeypatch.setenv("EVERGOLD_PROCESSES", "5")
    settings = encoder_settings()
    assert (settings.device, settings.token_budget, settings.threads) == ("cpu", CPU_TOKENS, 2)
    use_torch(monkeypatch, cuda=1)
    monkeypatch.setenv("EVERGOLD_PROCESSES", "24")
    settings = encoder_settings()
    assert (settings.device, settings.token_budget, settings.threads) == ("cuda", GPU_TOKENS, 1)


def test_a_task_that_encodes_does_so_with_the_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_torch(monkeypatch, cuda=2)
    monkeypatch.setenv("EVERGOLD_DEVICE", "cuda:1")
    with ready_for(PARAPHRASE):
        assert current_settings() == encoder_settings()
        assert current_settings().device == "cuda:1"


def test_other_tasks_ask_for_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with ready_for(DETECTION):
        pass
    with pytest.raises(MissingPackage, match="torch is needed"), ready_for(PARAPHRASE):
        pass


# --------------------------------------------------------------------------------------------------------- may it?


def test_without_torch_only_the_others_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert not has_torch()
    assert not can_encode()
    assert "torch" not in versions()


def test_after_a_refused_self_check_only_the_others_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "has_torch", lambda: True)
    monkeypatch.setattr(device, "_refused", False)
    assert can_encode()
    refuse_encoding()
    assert not can_encode()


def test_whoever_scores_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "0")
    go_offline()
    assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"


# --------------------------------------------------------------------------------------------------------- folders


def test_vectors_of_gold_lie_in_the_data_folder_only_where_gold_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert vectors_folder() == get_settings().data_dir / "vectors"
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "workers-only"))
    assert vectors_folder() is None, "the web process may read the data folder"
    monkeypatch.setenv("EVERGOLD_VECTORS_DIR", str(tmp_path / "cache"))
    assert vectors_folder() == tmp_path / "cache"


@pytest.mark.gpu
def test_a_gpu_is_found_and_scores_what_was_recorded() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    from workers.selfcheck import check_machine

    found = check_machine()
    assert (found.device, found.words) == ("cuda", ())
