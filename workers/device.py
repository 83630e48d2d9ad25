"""The device and settings with which this worker encodes texts: CUDA, MPS or CPU, folders, share of the processors.

Encoding uses float32 unless a task's options choose a lower precision, which is then part of the signature; the device
is not. torch is imported only to choose a device, not to report what is installed.
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
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.base.config import get_settings
from evergold.scoring.bertscore.encoders import EXTRA
from evergold.scoring.bertscore.models import EncoderSettings, encoding_with
from evergold.scoring.errors import ScoringError
from evergold.scoring.optional import load_package
from evergold.scoring.task import AnyTask
from workers.gold import gold_folder
from workers.settings import settings_of

#: Packages that BERTScore needs.
NEEDED = ("torch", "transformers")
#: Packages whose versions a worker reports besides Python's: all that can affect a score.
_TOLD = (*NEEDED, "tokenizers", "numpy", "sudachipy")
#: Tokens per batch, halved when memory runs out (see `evergold.scoring.bertscore.encoders`); GPUs need larger ones.
CPU_TOKENS, GPU_TOKENS = 2048, 16_384
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")

_refused = False


class EncodingSettings(BaseSettings):
    """The encoding settings of this machine; read by workers only."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_", env_ignore_empty=True)

    device: str | None = Field(None, description="cpu, cuda, cuda:1 or mps; default: the best available")
    models_dir: Path | None = Field(None, description="the folder of encoder models; default: data_dir/models")
    vectors_dir: Path | None = Field(None, description="folder of vectors of gold; default: beside the gold")
    processes: int = Field(1, ge=1, description="how many processes of this worker share the processors")


class NoSuchDevice(ScoringError):
    """EVERGOLD_DEVICE names a device that this machine does not have."""


def has_torch() -> bool:
    """Return True if all packages for BERTScore are installed, without importing them."""
    return all(importlib.util.find_spec(package) is not None for package in NEEDED)


def refuse_encoding() -> None:
    """Make this process and its future children refuse BERTScore runs, because the self-check failed."""
    global _refused
    _refused = True


def can_encode() -> bool:
    """Return True if this worker may claim runs of tasks that need torch."""
    return has_torch() and not _refused


def choose_device(wanted: str | None = None) -> str:
    """Return `wanted`, or the best available device: CUDA, then MPS, then CPU. Raises MissingPackage, NoSuchDevice."""
    torch = load_package("torch", EXTRA)
    if wanted is None:
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if not _DEVICE.fullmatch(wanted):
        raise NoSuchDevice(f"EVERGOLD_DEVICE is {wanted!r}; it may be cpu, cuda, cuda:1 or mps")
    if not _is_there(torch, wanted):
        raise NoSuchDevice(f"EVERGOLD_DEVICE is {wanted}, but torch {torch.__version__} finds no such device here")
    return wanted


def encoder_settings() -> EncoderSettings:
    """Return the encoder settings of this worker. Raises MissingPackage, NoSuchDevice."""
    settings = settings_of(EncodingSettings)
    device = choose_device(settings.device)
    return EncoderSettings(
        models_dir=models_folder(),
        device=device,
        token_budget=CPU_TOKENS if device == "cpu" else GPU_TOKENS,
        threads=max(1, _processors() // settings.processes),
        vectors_dir=vectors_folder(),
    )


@contextmanager
def ready_for(task: AnyTask, *, gold_is_sealed: bool = False) -> Iterator[None]:
    """Configure encoding for this machine inside the block, if the task needs it.

    Vectors of sealed gold stay in memory unless EVERGOLD_VECTORS_DIR is set.
    """
    if not task.needs_gpu:
        yield
        return
    settings = encoder_settings()
    if gold_is_sealed:
        settings = replace(settings, vectors_dir=settings_of(EncodingSettings).vectors_dir)
    with encoding_with(settings):
        yield


def models_folder() -> Path:
    """Return the folder of models on this machine, which need not exist."""
    return settings_of(EncodingSettings).models_dir or get_settings().data_dir / "models"


def vectors_folder() -> Path | None:
    """Return the folder that caches vectors of gold between processes; None: cached only in memory.

    Vectors reveal much of their texts, so they are stored in the data folder only if the gold is there, too.
    """
    declared, data = settings_of(EncodingSettings).vectors_dir, get_settings().data_dir
    if declared is not None:
        return declared
    return data / "vectors" if gold_folder().resolve().is_relative_to(data.resolve()) else None


def go_offline() -> None:
    """Forbid downloads to this process and its children; libraries read these variables on import."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")


def versions() -> dict[str, str]:
    """Return the installed versions of all packages that affect scores, without missing or incomplete ones."""
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
    """Return the number of processors that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
