"""Gold that can be recognised: tests put a mark into gold, and wherever the mark is found, gold has leaked.

Gold of a test that can contain a chosen word contains MARK; all answers to clients of `tests.web.site` are searched.
"""

from __future__ import annotations

from typing import Any

import httpx

MARK = "CANARY-"


class Visitor(httpx.Client):
    """A client that fails the test when an answer quotes gold; streamed answers are left to the test."""

    def send(self, request: httpx.Request, *, stream: bool = False, **more: Any) -> httpx.Response:
        answer = super().send(request, stream=stream, **more)
        if not stream:
            check(answer)
        return answer


def check(answer: httpx.Response) -> None:
    """Check that no gold is in the body or a header."""
    told = f"{answer.headers!r}{answer.text}"
    assert MARK not in told, f"{answer.request.method} {answer.request.url} quotes gold"
