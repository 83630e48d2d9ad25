"""Messages between the web process and its helper: a JSON document followed by bytes, each with its length."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

_LENGTHS = struct.Struct("!QQ")
_PIECE_BYTES = 256 * 1024

Message = tuple[dict[str, Any], bytes]


def send(connection: socket.socket, head: Mapping[str, Any], content: bytes = b"") -> None:
    """Send one message. Raises OSError if the reader is gone."""
    text = json.dumps(head).encode()
    connection.sendall(_LENGTHS.pack(len(text), len(content)) + text)
    connection.sendall(content)


def receive(connection: socket.socket) -> Message:
    """Return the next message. Raises EOFError if the connection ended before it was complete."""
    head_bytes, content_bytes = _LENGTHS.unpack(_exactly(connection, _LENGTHS.size))
    head: dict[str, Any] = json.loads(_exactly(connection, head_bytes))
    return head, _exactly(connection, content_bytes)


def _exactly(connection: socket.socket, count: int) -> bytes:
    whole = bytearray()
    while len(whole) < count:
        piece = connection.recv(min(_PIECE_BYTES, count - len(whole)))
        if not piece:
            raise EOFError("the other side has ended")
        whole += piece
    return bytes(whole)
