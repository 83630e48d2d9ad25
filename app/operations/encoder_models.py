"""Encoder models on this machine: downloaded from the Hugging Face hub by an administrator, pinned, and listed.

This is the only code that downloads models; workers never do. It fetches only files that scoring reads: config,
tokenizer, safetensors.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from evergold.scoring.bertscore.models import CONFIG, MODEL_NAME, TOKENIZER_FILES, WEIGHTS, find_model, list_models
from evergold.scoring.errors import ScoringError
from evergold.scoring.optional import MissingPackage, load_package

#: The file with the origin of a model, next to its files.
ORIGIN = "evergold.json"


class CannotFetch(Exception):
    """A model could not be fetched. is_network: a retry may succeed."""

    def __init__(self, message: str, *, is_network: bool = False) -> None:
        super().__init__(message)
        self.is_network = is_network


def fetch_model(name: str, into: Path, *, repository: str, revision: str | None) -> dict[str, Any]:
    """Fetch a model to `into/name`, atomically, and return the content of its origin file. Raises CannotFetch.

    revision: a commit, branch or tag (None: the newest); the actual commit is recorded.
    """
    if not MODEL_NAME.fullmatch(name):
        raise CannotFetch(f"'{name}' is not a name of a model.")
    hub = _hub()
    with _in_words(repository, revision):
        commit = hub.HfApi().model_info(repository, revision=revision).sha
        known = origin_of(into / name)
        if known and (known.get("repository"), known.get("revision")) == (repository, commit):
            return known
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into, prefix=".fetching-") as folder:
            unfinished = Path(folder) / name
            wanted = [CONFIG, WEIGHTS, *TOKENIZER_FILES]
            hub.snapshot_download(repository, revision=commit, local_dir=str(unfinished), allow_patterns=wanted)
            shutil.rmtree(unfinished / ".cache", ignore_errors=True)
            files = find_model(name, Path(folder))
            origin = {
                "name": name,
                "repository": repository,
                "revision": commit,
                "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "weights": files.weights,
                "config": files.config,
                "tokenizer": files.tokenizer,
            }
            (unfinished / ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
            _put(unfinished, into / name, Path(folder))
    return origin


def models_here(folder: Path) -> list[dict[str, Any]]:
    """List name, origin and sha256 of every model in this folder, or its problem."""
    return [_described(name, folder) for name in list_models(folder)]


def origin_of(folder: Path) -> dict[str, Any] | None:
    """Return the recorded origin of a fetched model; None for models copied by hand or from a package."""
    try:
        document = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _described(name: str, folder: Path) -> dict[str, Any]:
    described: dict[str, Any] = {"name": name, "folder": None, "weights": None, "problem": None}
    try:
        files = find_model(name, folder)
        described |= {"folder": str(files.folder), "weights": files.weights}
    except ScoringError as error:
        described["problem"] = str(error)
    origin = origin_of(folder / name) or {}
    return described | {"repository": origin.get("repository"), "revision": origin.get("revision")}


def _put(unfinished: Path, place: Path, spare: Path) -> None:
    """Move the folder into place; an older one is deleted with the temporary folder."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.rename(spare / "replaced")
    unfinished.rename(place)


def _hub() -> Any:
    try:
        return load_package("huggingface_hub", "bertscore")
    except MissingPackage as missing:
        raise CannotFetch(f"{missing}.") from None


@contextmanager
def _in_words(repository: str, revision: str | None) -> Iterator[None]:
    errors = load_package("huggingface_hub.errors", "bertscore")
    try:
        yield
    except errors.OfflineModeIsEnabled:
        raise CannotFetch("HF_HUB_OFFLINE is set, so nothing can be downloaded. Unset it for this command.") from None
    except errors.RevisionNotFoundError:
        raise CannotFetch(f"'{repository}' has no revision '{revision}'.") from None
    except errors.RepositoryNotFoundError:
        message = f"The hub has no model '{repository}', or shows it only to those with a token (HF_TOKEN)."
        raise CannotFetch(message) from None
    except errors.HFValidationError:
        raise CannotFetch(f"'{repository}' is not a name of a repository.") from None
    except ScoringError as error:
        raise CannotFetch(f"What the hub has cannot be used: {error}.") from None
    except httpx.HTTPError as error:
        raise _unreachable(error) from None
    except OSError as error:
        if error.filename:
            raise CannotFetch(f"{error.filename}: {error.strerror}.") from None
        raise _unreachable(error) from None


def _unreachable(error: Exception) -> CannotFetch:
    """Return an error with a short message, because the libraries' own messages are very long."""
    message = (
        f"The Hugging Face hub cannot be reached from here ({type(error).__name__}). "
        "Fetch the model on a machine that can, and copy its folder."
    )
    return CannotFetch(message, is_network=True)
