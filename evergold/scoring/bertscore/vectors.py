"""Vectors of many texts' tokens in one array, and a bounded cache of gold's vectors in memory and on disk.

Gold does not change between submissions, so half of the encoding is done once. A file that cannot be read, or was
changed, counts as absent; failure to write one is ignored.
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

from evergold.scoring.bertscore.encoders import Ids, Matrix
from evergold.scoring.bertscore.models import EncoderSettings

_ENDING = ".npz"
_ARRAYS = ("starts", "ids", "values")
# Raised by numpy and zipfile for a file that is damaged, truncated, or of another format.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, struct.error, zlib.error, zipfile.BadZipFile, NotImplementedError)


@dataclass(frozen=True)
class Vectors:
    """The tokens of n distinct texts, N in all.

    position: index of each text.
    starts: n + 1 offsets where a text's tokens begin and end.
    ids: N token ids.
    values: N vectors of length 1.
    """

    position: Mapping[str, int]
    starts: npt.NDArray[np.int64]
    ids: Ids
    values: Matrix

    @property
    def size_bytes(self) -> int:
        """Memory used by the arrays."""
        return int(self.starts.nbytes + self.ids.nbytes + self.values.nbytes)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each of the n texts."""
        return np.diff(self.starts)

    def places(self, texts: Sequence[str]) -> npt.NDArray[np.intp]:
        """Return the index of each text; KeyError for an unknown one."""
        return np.array([self.position[text] for text in texts], dtype=np.intp)


def make_vectors(texts: Sequence[str], ids: Sequence[Sequence[int]], values: Matrix) -> Vectors:
    """Return the vectors of n distinct texts with these token ids, `values` being in the same order."""
    lengths = [len(tokens) for tokens in ids]
    flat = np.fromiter((id_ for tokens in ids for id_ in tokens), dtype=np.int32, count=sum(lengths))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Vectors({text: place for place, text in enumerate(texts)}, starts, flat, values)


def join_vectors(first: Vectors, second: Vectors) -> Vectors:
    """Return the vectors of both in one object; no text may be in both."""
    shift = len(first.position)
    return Vectors(
        {**first.position, **{text: place + shift for text, place in second.position.items()}},
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
        np.concatenate([first.ids, second.ids]),
        np.concatenate([first.values, second.values]),
    )


def vectors_key(texts: Sequence[str], *parts: object) -> str:
    """Return the cache key of the vectors of these texts; parts: everything else that determines them (gold, model)."""
    digest = hashlib.sha256()
    for text in (*map(str, parts), *texts):
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


_memory: OrderedDict[str, Vectors] = OrderedDict()
_lock = Lock()


def find_vectors(key: str, texts: Sequence[str], settings: EncoderSettings) -> Vectors | None:
    """Return the vectors cached under this key, or None. texts: those given to `vectors_key`."""
    with _lock:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    found = _read(settings.vectors_dir / (key + _ENDING), texts) if settings.vectors_dir else None
    if found is not None:
        _remember(key, found, settings.memory_bytes)
    return found


def keep_vectors(key: str, vectors: Vectors, settings: EncoderSettings) -> None:
    """Cache vectors in memory and, if there is a folder for them, on disk; the least recently used are removed if space
    is short.
    """
    _remember(key, vectors, settings.memory_bytes)
    if settings.vectors_dir is None or vectors.size_bytes > settings.disk_bytes:
        return
    with contextlib.suppress(OSError):
        _write(settings.vectors_dir, key, vectors)
        _make_room(settings.vectors_dir, settings.disk_bytes)


def forget_vectors() -> None:
    """Empty the memory cache; the disk cache stays."""
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
        os.utime(path)  # marks it as recently used: see _make_room
    except _DAMAGED:
        return None
    vectors = Vectors({text: place for place, text in enumerate(texts)}, starts, ids, values)
    return vectors if _fits(vectors) else None


def _fits(vectors: Vectors) -> bool:
    """Return whether the arrays have the expected types, and lengths that match each other and the number of texts."""
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
    """Write under a temporary name first, so that no reader ever sees half a file. Only the owner can read it: it is
    gold's.
    """
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
    """Delete the least recently used files, including left-overs of killed processes, until the rest fits."""
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
