"""Requests that the application answers in the test's own thread, without a socket or a server.

They are for tests that send thousands of requests. Such tests do not see what HTTP itself does to a request or an
answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar
from unittest import mock

import anyio.to_thread
import httpx
from fastapi import FastAPI

T = TypeVar("T")


class InProcess(httpx.BaseTransport):
    """A transport for httpx.Client: one request at a time, each answered before this returns."""

    def __init__(self, app: FastAPI) -> None:
        self._asgi = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._runner = asyncio.Runner()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with mock.patch.object(anyio.to_thread, "run_sync", _at_once):
            return self._runner.run(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self._asgi.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in answer.stream])
        return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body))

    def end(self) -> None:
        """End the application, once for all clients: each of them closes the transport when it is closed itself."""
        self._runner.close()


async def _at_once(work: Callable[..., T], *arguments: Any, **_: Any) -> T:
    """Call the function directly instead of in a thread, which each request would have to start: nobody else waits
    here.
    """
    return work(*arguments)
