"""A single request to a verified address: connected to exactly that address, bounded in time and bytes.

Redirects are not followed, no proxy of the environment is used, and no more of the response is read than is stored.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpcore

from app.webhooks.addresses import Target

#: Time limit of a whole attempt, from the connection to the last byte that is read.
SECONDS = 10.0
#: Number of bytes of a response that are stored.
ANSWER_BYTES = 1024


class NotDelivered(Exception):
    """The request failed; the message is for the owner of the webhook."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of a receiver. text: its beginning."""

    status: int
    text: str

    @property
    def is_good(self) -> bool:
        """True if the status is 2xx."""
        return 200 <= self.status < 300


def send(
    target: Target, body: bytes, headers: Mapping[str, str], *, method: str = "POST", seconds: float = SECONDS
) -> Answer:
    """Send the request and return the response. Raises NotDelivered."""
    url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    backend = _ToOneAddress(target, time.monotonic() + seconds)
    own_headers: dict[bytes | str, bytes | str] = {
        "Host": _host_header(target),
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    own_headers |= {name: value for name, value in headers.items()}
    try:
        context = ssl.create_default_context()
        with (
            httpcore.ConnectionPool(ssl_context=context, network_backend=backend, max_connections=1) as pool,
            pool.stream(method, url, headers=own_headers, content=body, extensions=_timeouts(seconds)) as answer,
        ):
            return Answer(answer.status, _beginning(answer))
    except (httpcore.TimeoutException, TimeoutError):
        raise NotDelivered(f"No answer within {seconds:g} seconds.") from None
    except httpcore.ConnectError as error:
        match error.args:
            case (ssl.SSLCertVerificationError() as refused,):
                why = refused.verify_message.rstrip(".")
                raise NotDelivered(f"The receiver's certificate is not accepted: {why}.") from None
        raise NotDelivered(_sentence("No connection", error)) from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, ValueError) as error:
        raise NotDelivered(_sentence("The connection broke", error)) from None


def _beginning(answer: httpcore.Response) -> str:
    kept = bytearray()
    for part in answer.iter_stream():
        kept += part
        if len(kept) >= ANSWER_BYTES:
            break
    text = bytes(kept[:ANSWER_BYTES]).decode("utf-8", errors="replace")
    return "".join(one if one.isprintable() or one == "\n" else " " for one in text)


def _sentence(what: str, error: Exception) -> str:
    return f"{what}: {str(error)[:200] or type(error).__name__}."


def _host_header(target: Target) -> str:
    usual = {"https": 443, "http": 80}[target.scheme]
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == usual else f"{host}:{target.port}"


def _timeouts(seconds: float) -> dict[str, Any]:
    return {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)}


class _ToOneAddress(httpcore.NetworkBackend):
    """Connects to the verified address, even if the name resolves to another one by now; TLS verifies the host name."""

    def __init__(self, target: Target, until: float) -> None:
        self._target, self._until, self._network = target, until, httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._network.connect_tcp(self._target.ip, self._target.port, _left(self._until))
        return _Timely(stream, self._until)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.ConnectError("not to a socket of this machine")

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Timely(httpcore.NetworkStream):
    """A stream that ends with the time limit of the attempt; a plain timeout would start again with every byte."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._until))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Timely(self._stream.start_tls(ssl_context, server_hostname, _left(self._until)), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the attempt timed out")
    return left
