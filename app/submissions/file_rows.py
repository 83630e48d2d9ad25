"""Rows of a public file for pages: its columns, the number of rows, counts of values, and a search by words.

Files are read in the helper, under limits, and only their beginning if they are large; a summary is cached by the
file's sha256. Only files for everybody are shown: each download of the others is recorded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.base.errors import Busy
from app.base.storage import Storage, lent_file
from app.helper.process import Job, TooMuchWork, run
from app.models import PublicFile

_READ = Job("app.submissions.file_rows_child:read", processor_seconds=3, seconds=10, mebibytes=256)
#: Searches are not cached: they have a turn of their own, so that pages with first rows never wait for them.
_SEARCH = Job(_READ.function, _READ.processor_seconds, _READ.seconds, _READ.mebibytes, at_once=1, waiting=6)
#: Maximum number of rows that one search returns.
MOST_MATCHES = 50
_CACHED = 256


@dataclass(frozen=True, slots=True)
class Part:
    """A table: a whole file, or a member of an archive.

    - name: of the member; empty for a whole file.
    - noun: the kind of its rows: `row`, `sentence` or `line`.
    - rows: the first ones, or those with the words, each with its number (from 1) and its cells, truncated.
    - total: number of rows read; matches: number of those with the words, None without a search.
    - counts: columns with few distinct values, and the frequency of each value.
    - is_whole: false if only the beginning was read.
    """

    name: str
    noun: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    total: int
    matches: int | None
    counts: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Look:
    """A preview of a file. fault: a sentence with the reason if there are no parts; omitted: number of archive members
    left out.
    """

    parts: tuple[Part, ...] = ()
    omitted: int = 0
    fault: str = ""


def look_into(storage: Storage, file: PublicFile, words: str = "") -> Look:
    """Return the first rows or, if words are given, the rows that contain all of them. Raises Busy."""
    if words:
        return _read(storage, file, words)
    found = _CACHE.get(file.sha256)
    return found or _CACHE.keep(file.sha256, _read(storage, file, ""))


def look_if_free(storage: Storage, file: PublicFile) -> Look | None:
    """Return the first rows; None if the helper is busy, so that the page is shown without them."""
    try:
        return look_into(storage, file)
    except Busy:
        return None


def _read(storage: Storage, file: PublicFile, words: str) -> Look:
    try:
        with lent_file(storage, file.sha256) as path:
            head = {"path": str(Path(path).absolute()), "name": file.name, "words": words, "most": MOST_MATCHES}
            answer, _ = run(_SEARCH if words else _READ, head)
    except FileNotFoundError:
        return Look(fault="This file is missing from the server's storage; please contact the organisers.")
    except TooMuchWork:
        return Look(fault="This file is too large to be shown here. Download it instead.")
    return Look(tuple(_part(one) for one in answer["parts"]), answer["omitted"], answer["fault"])


def _part(one: dict[str, Any]) -> Part:
    return Part(
        one["name"],
        one["noun"],
        tuple(one["columns"]),
        tuple((number, tuple(cells)) for number, cells in one["rows"]),
        one["total"],
        one["matches"],
        tuple((column, tuple((value, count) for value, count in values)) for column, values in one["counts"]),
        one["is_whole"],
    )


class _Cache:
    """Summaries by sha256; the least recently used one is evicted first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, Look] = OrderedDict()

    def get(self, sha256: str) -> Look | None:
        with self._lock:
            if sha256 in self._found:
                self._found.move_to_end(sha256)
            return self._found.get(sha256)

    def keep(self, sha256: str, look: Look) -> Look:
        with self._lock:
            self._found[sha256] = look
            while len(self._found) > _CACHED:
                self._found.popitem(last=False)
        return look


_CACHE = _Cache()
