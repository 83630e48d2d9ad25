"""CSV responses: with the byte-order mark by which spreadsheets recognise UTF-8, or without it for `bom=0`."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterable, AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.datastructures import QueryParams
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


def _has_mark(scope: Scope) -> bool:
    return QueryParams(scope["query_string"]).get("bom") != "0"


class CsvStream(StreamingResponse):
    """A table generated while it is sent, with the byte-order mark unless the address has `bom=0`."""

    media_type = "text/csv"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        if _has_mark(scope):
            self.body_iterator = _marked(self.body_iterator)
        await super().__call__(scope, receive, send)


async def _marked(pieces: AsyncIterable[Any]) -> AsyncIterator[Any]:
    yield codecs.BOM_UTF8
    async for piece in pieces:
        yield piece


class CsvResponse(Response):
    """A table as CSV; when it is sent, the address decides whether it has the byte-order mark."""

    media_type = "text/csv"

    def render(self, content: str) -> bytes:
        """Return the body with the byte-order mark."""
        return codecs.BOM_UTF8 + content.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        if not _has_mark(scope):
            self.body = bytes(self.body).removeprefix(codecs.BOM_UTF8)
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def _byte_order_mark(
    bom: Annotated[
        int,
        Query(ge=0, le=1, description="0: CSV without the byte-order mark that Excel needs to recognise UTF-8"),
    ] = 1,
) -> None:
    """Declare the parameter for the API description; `CsvResponse` reads it."""


#: Dependencies of a route that responds with CSV.
TAKES_BOM = [Depends(_byte_order_mark)]
