"""Gold that can be recognised: wherever the mark stands that tests put into gold, gold has leaked.

Gold of a test that can hold a word of its choice holds MARK; what a client of `tests.web.site` is answered is searched.
"""

from __future__ import annotations

from typing import Any

import httpx

MARK = "CANARY-"


class Visitor(httpx.Client):
    """A client that fails the test when an answer quotes gold; what is streamed is the test's own to look at."""

    def send(self, request: httpx.Request, *, stream: bool = False, **more: Any) -> httpx.Response:
        answer = super().send(request, stream=stream, **more)
        if not stream:
            check(answer)
        return answer


def check(answer: httpx.Response) -> None:
    """Nothing of gold in the body or a header."""
    told = f"{answer.headers!r}{answer.text}"
    assert MARK not in told, f"{answer.request.method} {answer.request.url} quotes gold"
