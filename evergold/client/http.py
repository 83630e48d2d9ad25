"""Requests to a server and their retries: repeatable requests are retried when the network fails; errors are raised."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from evergold.client.errors import Refused, Unreachable
from evergold.client.results import Json
from evergold.version import VERSION

#: Seconds before each retry: about a minute in all for requests that must arrive, a moment for reads.
PATIENT = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
BRIEF = (0.3, 1.0)
#: Responses of a proxy or an overloaded server, not of ours: worth another try.
_PASSING = frozenset({502, 503, 504})
#: Status for a client that waits for more responses than the server holds back per person; pause before the next try.
_CROWDED, CROWDED_SECONDS = 429, 5.0
TIMEOUT_SECONDS = 30.0
_CONNECT_SECONDS = 10.0

#: Called with the reason of a retry.
OnRetry = Callable[[str], None]
#: Called with the number of bytes sent, from 0 again at each try.
OnSent = Callable[[int], None]


def connection(server: str, token: str | None, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """Open connections to this server's API, with the token if there is one."""
    headers = {"User-Agent": f"evergold/{VERSION}"} | ({"Authorization": f"Bearer {token}"} if token else {})
    # Tokens are for the named server: a redirect to another one must not carry them along.
    return httpx.Client(base_url=f"{server}/api/v1", headers=headers, timeout=timeout(), transport=transport)


def timeout(more_seconds: float = 0.0) -> httpx.Timeout:
    """Return the timeout for a response that the server may delay by `more_seconds`."""
    return httpx.Timeout(TIMEOUT_SECONDS + more_seconds, connect=_CONNECT_SECONDS)


def send_once(http: httpx.Client, method: str, path: str, **arguments: Any) -> httpx.Response:
    """Send a request that must not be retried."""
    try:
        return checked(http.request(method, path, **arguments))
    except httpx.TransportError as error:
        raise Unreachable(_reason(error)) from None


def send_repeatedly(
    http: httpx.Client, method: str, path: str, pauses: Sequence[float] | None = None, **arguments: Any
) -> httpx.Response:
    """Send a request that may arrive more than once; pauses: seconds before each retry, default BRIEF."""
    return until_answered(lambda: http.request(method, path, **arguments), pauses=pauses)


def wait_for_news(http: httpx.Client, path: str, params: Json, wait_seconds: int) -> httpx.Response:
    """Get a response that the server may hold back; retry while the server already holds back too many for us."""
    params = {**params, "wait": wait_seconds}
    while True:
        try:
            return send_repeatedly(
                http, "GET", path, PATIENT, params=params, timeout=timeout(more_seconds=wait_seconds)
            )
        except Refused as refused:
            if refused.status != _CROWDED:
                raise
        time.sleep(CROWDED_SECONDS)


def until_answered(
    send: Callable[[], httpx.Response], on_retry: OnRetry | None = None, pauses: Sequence[float] | None = None
) -> httpx.Response:
    """Send a request again and again, with growing pauses, until the server itself responds, and return the response.

    pauses: seconds before each retry, default BRIEF. Raises Unreachable after the last.
    """
    for pause in (*(BRIEF if pauses is None else pauses), None):
        try:
            response = send()
        except httpx.UnsupportedProtocol as error:  # a retry cannot help
            raise Unreachable(_reason(error)) from None
        except httpx.TransportError as error:
            reason = _reason(error)
        else:
            if response.status_code not in _PASSING:
                return checked(response)
            reason = f"it answered {response.status_code}"
        if pause is None:
            break
        if on_retry:
            on_retry(reason)
        time.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads tries, protects no secret
    raise Unreachable(reason)


def download(http: httpx.Client, path: str, target: Path, **arguments: Any) -> int:
    """Download to this file, completely or not at all; return its size in bytes. Raises OSError."""
    part = target.with_name(f"{target.name}.part")
    try:
        with http.stream("GET", path, **arguments) as response, part.open("wb") as file:
            if not response.is_success:
                response.read()
                checked(response)
            for chunk in response.iter_bytes():
                file.write(chunk)
        part.replace(target)
    except httpx.TransportError as error:
        raise Unreachable(_reason(error)) from None
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def checked(response: httpx.Response) -> httpx.Response:
    """Return the response if it is not an error; else raise Refused."""
    if response.is_success:
        return response
    try:
        error = response.json()["error"]
        raise Refused(response.status_code, error["code"], error["message"], error.get("details") or {})
    except (ValueError, KeyError, TypeError):
        status = f"{response.status_code} {response.reason_phrase}".strip()
        moved = f" and points to {response.headers['Location']}" if response.has_redirect_location else ""
        raise Refused(response.status_code, "not_evergold", f"It answered {status}{moved}.") from None


def document(response: httpx.Response) -> Json:
    """Return the JSON object of a response; raises Refused if it has none."""
    try:
        content: Json = response.json()
    except ValueError:
        raise Refused(response.status_code, "not_evergold", "The answer is not that of an Evergold server.") from None
    return content


class CountedFile:
    """A file that reports how far it was read; it has all methods that httpx calls."""

    def __init__(self, file: BinaryIO, on_sent: OnSent) -> None:
        self._file = file
        self._on_sent = on_sent

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._on_sent(self._file.tell())
        return chunk

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.ConnectTimeout | httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
        return "no answer in time"
    return str(error) or type(error).__name__
