"""Uploads that are whole and not answered yet, by their Idempotency-Key: who sends one again waits for the first try.

Else a second try that comes after the deadline could be refused while the first, which came in time, is still on its
way to be stored. Tries of one upload come from one sender, so they are told apart by what that sender logs in with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope


@dataclass(eq=False, slots=True)
class Try:
    """One request. upload: the same for each try of it; None: it has no key, and is nobody's second try.

    is_refused: it would be, and only waits for what becomes of other tries.
    """

    upload: tuple[str, ...] | None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_refused: bool = False


class Tries:
    """Those that are whole and not answered yet, in the order in which they became whole."""

    def __init__(self) -> None:
        self._whole: dict[tuple[str, ...], list[Try]] = {}

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Try]:
        """The try that this request is; with its end it is answered, whatever the answer was."""
        one = scope.setdefault("state", {})["upload_try"] = Try(_upload_of(scope))
        try:
            yield one
        finally:
            one.answered.set()
            self._forget(one)

    def note_whole(self, current: Try) -> None:
        """Its last byte is here: whoever comes behind it waits for its answer."""
        if current.upload is not None and current not in self._whole.setdefault(current.upload, []):
            self._whole[current.upload].append(current)

    async def earlier_answered(self, current: Try) -> None:
        """Return when every try that was whole before this one has its answer."""
        for earlier in tuple(self._whole.get(current.upload or (), ())):
            if earlier is current:
                return
            await earlier.answered.wait()

    def on_their_way(self) -> frozenset[tuple[str, ...]]:
        """The uploads of which a try is whole, and may still be stored."""
        uploads = self._whole.items()
        return frozenset(upload for upload, tries in uploads if not all(one.is_refused for one in tries))

    def _forget(self, one: Try) -> None:
        whole = self._whole.get(one.upload or (), [])
        if one in whole:
            whole.remove(one)
        if not whole:
            self._whole.pop(one.upload or (), None)


def _upload_of(scope: Scope) -> tuple[str, ...] | None:
    """Programs name it in a header, the form in its address."""
    headers = Headers(scope=scope)
    of_form = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[0]
    key = headers.get("idempotency-key") or of_form
    return (headers.get("authorization", ""), headers.get("cookie", ""), key) if key else None
