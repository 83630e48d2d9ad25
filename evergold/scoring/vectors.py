"""The vectors of many texts' tokens in one array, and where those of gold are kept: in memory and on disk, bounded.

Gold does not change between submissions, so half of the encoding is done once. A file that cannot be read, or was
changed, counts as not there; one that cannot be written is not missed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import tempfile
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from evergold.scoring.encoders import Ids, Matrix
from evergold.scoring.models import EncoderSettings

_ENDING = ".npz"
_ARRAYS = ("starts", "ids", "values")
# What numpy and zipfile raise on a file that is damaged, cut off, or none of theirs.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, struct.error, zlib.error, zipfile.BadZipFile, NotImplementedError)


@dataclass(frozen=True)
class Vectors:
    """The tokens of n distinct texts, N in all.

    position: which text is where; starts: n + 1 places where a text's tokens begin and end; ids: N token ids; values: N
    vectors of length 1.
    """

    position: Mapping[str, int]
    starts: npt.NDArray[np.int64]
    ids: Ids
    values: Matrix

    @property
    def size_bytes(self) -> int:
        """How much memory the arrays take."""
        return int(self.starts.nbytes + self.ids.nbytes + self.values.nbytes)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each of the n texts has."""
        return np.diff(self.starts)

    def places(self, texts: Sequence[str]) -> npt.NDArray[np.intp]:
        """Where each of the texts stands; KeyError for one that is not there."""
        return np.array([self.position[text] for text in texts], dtype=np.intp)


def make_vectors(texts: Sequence[str], ids: Sequence[Sequence[int]], values: Matrix) -> Vectors:
    """The vectors of n distinct texts with these token ids, `values` being in the same order."""
    lengths = [len(tokens) for tokens in ids]
    flat = np.fromiter((id_ for tokens in ids for id_ in tokens), dtype=np.int32, count=sum(lengths))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Vectors({text: place for place, text in enumerate(texts)}, starts, flat, values)


def join_vectors(first: Vectors, second: Vectors) -> Vectors:
    """Both together; no text may be in both."""
    shift = len(first.position)
    return Vectors(
        {**first.position, **{text: place + shift for text, place in second.position.items()}},
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
        np.concatenate([first.ids, second.ids]),
        np.concatenate([first.values, second.values]),
    )


def vectors_key(texts: Sequence[str], *parts: object) -> str:
    """The name under which the vectors of these texts are kept; parts: what else decides them (gold, model)."""
    digest = hashlib.sha256()
    for text in (*map(str, parts), *texts):
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


_memory: OrderedDict[str, Vectors] = OrderedDict()
_lock = Lock()


def find_vectors(key: str, texts: Sequence[str], settings: EncoderSettings) -> Vectors | None:
    """The vectors kept under this key, or None. texts: those that `vectors_key` was told."""
    with _lock:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    found = _read(settings.vectors_dir / (key + _ENDING), texts) if settings.vectors_dir else None
    if found is not None:
        _remember(key, found, settings.memory_bytes)
    return found


def keep_vectors(key: str, vectors: Vectors, settings: EncoderSettings) -> None:
    """Keep vectors in memory and, with a folder for them, on disk; those not used for longest make room."""
    _remember(key, vectors, settings.memory_bytes)
    if settings.vectors_dir is None or vectors.size_bytes > settings.disk_bytes:
        return
    with contextlib.suppress(OSError):
        _write(settings.vectors_dir, key, vectors)
        _make_room(settings.vectors_dir, settings.disk_bytes)


def forget_vectors() -> None:
    """Empty the memory; what is on disk stays."""
    with _lock:
        _memory.clear()


def _remember(key: str, vectors: Vectors, limit_bytes: int) -> None:
    with _lock:
        _memory[key] = vectors
        _memory.move_to_end(key)
        total = sum(kept.size_bytes for kept in _memory.values())
        while total > limit_bytes:
            _, dropped = _memory.popitem(last=False)
            total -= dropped.size_bytes


def _read(path: Path, texts: Sequence[str]) -> Vectors | None:
    try:
        with path.open("rb") as file:
            # The checksums first: numpy would believe a damaged header.
            if zipfile.ZipFile(file).testzip() is not None:
                return None
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                starts, ids, values = (arrays[name] for name in _ARRAYS)
        os.utime(path)  # used just now: see _make_room
    except _DAMAGED:
        return None
    vectors = Vectors({text: place for place, text in enumerate(texts)}, starts, ids, values)
    return vectors if _fits(vectors) else None


def _fits(vectors: Vectors) -> bool:
    """Whether the arrays belong together and to the texts."""
    arrays: tuple[tuple[npt.NDArray[Any], type, int], ...] = (
        (vectors.starts, np.int64, 1),
        (vectors.ids, np.int32, 1),
        (vectors.values, np.float32, 2),
    )
    if any(array.dtype != dtype or array.ndim != dimensions for array, dtype, dimensions in arrays):
        return False
    texts, tokens = len(vectors.position), len(vectors.ids)
    starts = vectors.starts
    return (
        len(starts) == texts + 1
        and len(vectors.values) == tokens
        and int(starts[0]) == 0
        and int(starts[-1]) == tokens
        and bool((np.diff(starts) > 0).all())
    )


def _write(folder: Path, key: str, vectors: Vectors) -> None:
    """Under another name first, so that no reader ever sees half a file. Readable by its owner only: it is gold's."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=_ENDING, delete=False) as file:
        try:
            np.savez(file, **{name: getattr(vectors, name) for name in _ARRAYS})
            file.close()
            os.replace(file.name, folder / (key + _ENDING))
        except BaseException:
            os.unlink(file.name)
            raise


def _make_room(folder: Path, limit_bytes: int) -> None:
    """Delete the files used longest ago, left-overs of killed processes included, until the rest fits."""
    files = []
    for path in folder.glob("*" + _ENDING):
        with contextlib.suppress(FileNotFoundError):  # another process makes room as well
            files.append((path.stat().st_mtime_ns, path.stat().st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size
