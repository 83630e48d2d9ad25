"""In-flight uploads by Idempotency-Key: a repeated attempt waits for the result of the first one.

Otherwise a second attempt after the deadline could be refused while the first, which came in time, is still being
stored. All attempts of an upload come from one sender, so uploads are distinguished by the sender's credentials too.
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
    """One attempt, that is, one request.

    upload: identifies all attempts of an upload; None: no key, so never a repeated attempt. is_refused: it would be
    refused, and only waits for the results of other attempts.
    """

    upload: tuple[str, ...] | None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_refused: bool = False


class InFlightUploads:
    """Attempts that have fully arrived and have no response yet, in order of arrival."""

    def __init__(self) -> None:
        self._whole: dict[tuple[str, ...], list[Try]] = {}

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Try]:
        """Register this request as an attempt, and mark it as answered when the block ends, whatever the result."""
        one = scope.setdefault("state", {})["upload_try"] = Try(_upload_of(scope))
        try:
            yield one
        finally:
            one.answered.set()
            self._forget(one)

    def note_whole(self, current: Try) -> None:
        """Mark as fully received; later attempts wait for its result."""
        if current.upload is not None and current not in self._whole.setdefault(current.upload, []):
            self._whole[current.upload].append(current)

    async def earlier_answered(self, current: Try) -> None:
        """Wait until every attempt that had fully arrived before this one has a response."""
        for earlier in tuple(self._whole.get(current.upload or (), ())):
            if earlier is current:
                return
            await earlier.answered.wait()

    def on_their_way(self) -> frozenset[tuple[str, ...]]:
        """Return the uploads with an attempt that has fully arrived and may still be stored."""
        uploads = self._whole.items()
        return frozenset(upload for upload, tries in uploads if not all(one.is_refused for one in tries))

    def _forget(self, one: Try) -> None:
        whole = self._whole.get(one.upload or (), [])
        if one in whole:
            whole.remove(one)
        if not whole:
            self._whole.pop(one.upload or (), None)


def _upload_of(scope: Scope) -> tuple[str, ...] | None:
    """Return the sender's credentials and the key, from the header (programs) or the query string (the form)."""
    headers = Headers(scope=scope)
    of_form = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[0]
    key = headers.get("idempotency-key") or of_form
    return (headers.get("authorization", ""), headers.get("cookie", ""), key) if key else None
