"""Where this worker encodes texts, and with which settings: CUDA, MPS or CPU, its folders, its share of the processors.

Everything is in float32 unless the options of a task ask for less, which then stands in the signature; the device does
not. torch is imported only where it is asked for a device: what is installed can be told without.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field

from app.base.config import get_settings
from app.base.environment import EnvironmentSettings
from evergold.scoring.encoders import EXTRA
from evergold.scoring.errors import ScoringError
from evergold.scoring.models import EncoderSettings, encoding_with
from evergold.scoring.optional import load_package
from evergold.scoring.task import AnyTask
from workers.gold import gold_folder

#: Without these no BERTScore is computed here.
NEEDED = ("torch", "transformers")
#: What is told of a worker beside Python: whatever can move a number.
_TOLD = (*NEEDED, "tokenizers", "numpy", "sudachipy")
#: Tokens of one batch. Out of memory halves it (see `evergold.scoring.encoders`); a GPU wants more at a time than a
#: processor.
CPU_TOKENS, GPU_TOKENS = 2048, 16_384
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")

_refused = False


class EncodingSettings(EnvironmentSettings):
    """How this machine encodes; a setting of workers alone."""

    prefix_of_variables = "EVERGOLD_"
    ignore_empty = True

    device: str | None = Field(None, description="cpu, cuda, cuda:1 or mps; default: the best that there is")
    models_dir: Path | None = Field(None, description="the folder of encoder models; default: data_dir/models")
    vectors_dir: Path | None = Field(None, description="where vectors of gold are kept; default: beside gold")
    processes: int = Field(1, ge=1, description="how many processes of this worker share the processors")


class NoSuchDevice(ScoringError):
    """EVERGOLD_DEVICE names what this machine does not have."""


def has_torch() -> bool:
    """Whether everything that BERTScore needs is installed; nothing is imported to find out."""
    return all(importlib.util.find_spec(package) is not None for package in NEEDED)


def refuse_encoding() -> None:
    """From now on this process, and those it forks, takes no BERTScore run: the self-check failed."""
    global _refused
    _refused = True


def can_encode() -> bool:
    """Whether this worker may take runs of tasks that need torch."""
    return has_torch() and not _refused


def choose_device(wanted: str | None = None) -> str:
    """`wanted`, or the best that there is: CUDA, then MPS, then CPU. Raises MissingPackage, NoSuchDevice."""
    torch = load_package("torch", EXTRA)
    if wanted is None:
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if not _DEVICE.fullmatch(wanted):
        raise NoSuchDevice(f"EVERGOLD_DEVICE is {wanted!r}; it may be cpu, cuda, cuda:1 or mps")
    if not _is_there(torch, wanted):
        raise NoSuchDevice(f"EVERGOLD_DEVICE is {wanted}, and torch {torch.__version__} finds no such device here")
    return wanted


def encoder_settings() -> EncoderSettings:
    """The settings of this worker; raises MissingPackage, NoSuchDevice."""
    told = EncodingSettings()
    device = choose_device(told.device)
    return EncoderSettings(
        models_dir=models_folder(),
        device=device,
        token_budget=CPU_TOKENS if device == "cpu" else GPU_TOKENS,
        threads=max(1, _processors() // told.processes),
        vectors_dir=vectors_folder(),
    )


@contextmanager
def ready_for(task: AnyTask, *, gold_is_sealed: bool = False) -> Iterator[None]:
    """Inside the block, a task that encodes does so as this machine can best.

    Vectors of sealed gold stay in memory, unless EVERGOLD_VECTORS_DIR says where they may lie.
    """
    if not task.needs_gpu:
        yield
        return
    settings = encoder_settings()
    if gold_is_sealed:
        settings = replace(settings, vectors_dir=EncodingSettings().vectors_dir)
    with encoding_with(settings):
        yield


def models_folder() -> Path:
    """The folder of models of this machine, which need not exist."""
    return EncodingSettings().models_dir or get_settings().data_dir / "models"


def vectors_folder() -> Path | None:
    """Where the vectors of gold are kept between processes; None: in memory alone.

    They tell much of the texts that they are of. So they lie in the data folder only where gold does, too.
    """
    told, data = EncodingSettings().vectors_dir, get_settings().data_dir
    if told is not None:
        return told
    return data / "vectors" if gold_folder().resolve().is_relative_to(data.resolve()) else None


def go_offline() -> None:
    """Nothing that scores may download, and this process neither: read by libraries when they are imported."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")


def versions() -> dict[str, str]:
    """The versions of what computes scores, as installed; what is not there, or not yet whole, is left out."""
    found = {}
    for package in _TOLD:
        with suppress(metadata.PackageNotFoundError):
            if importlib.util.find_spec(package) is not None:
                found[package] = metadata.version(package)
    return found


def _is_there(torch: Any, device: str) -> bool:
    kind, _, number = device.partition(":")
    if kind == "cuda":
        return bool(torch.cuda.is_available()) and int(number or 0) < torch.cuda.device_count()
    return kind == "cpu" or bool(torch.backends.mps.is_available())


def _processors() -> int:
    """Those that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
