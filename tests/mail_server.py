"""A mail server of the test's own on loopback: just enough SMTP, and ways to fail."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default


@dataclass
class MailServer:
    """A mail server. refused: unknown recipients (550); busy: recipients that must wait (451)."""

    port: int = 0
    received: list[EmailMessage] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    connections: int = 0

    @property
    def address(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def bodies(self) -> list[str]:
        return [message.get_content() for message in self.received]


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Yield a mail server that listens during the block."""
    found = MailServer()

    class Handler(_Conversation):
        told = found

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=False) as server:
        server.daemon_threads, server.allow_reuse_address = True, True
        server.server_bind()
        server.server_activate()
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


class _Conversation(socketserver.StreamRequestHandler):
    """RFC 5321 as far as smtplib speaks it."""

    told: MailServer

    def handle(self) -> None:
        self.told.connections += 1
        try:
            self._say("220 here")
            while line := self.rfile.readline():
                if not self._answer(line.decode().strip()):
                    return
        except (TimeoutError, ConnectionError):
            return

    def _answer(self, line: str) -> bool:
        word = line.partition(" ")[0].upper()
        address = line.partition("<")[2].partition(">")[0]
        if word == "RCPT" and address in self.told.refused:
            self._say("550 there is nobody of that name")
        elif word == "RCPT" and address in self.told.busy:
            self._say("451 later, please")
        elif word == "DATA":
            self._say("354 go on")
            self.told.received.append(self._message())
            self._say("250 thanks")
        elif word == "QUIT":
            self._say("221 bye")
            return False
        elif word in ("EHLO", "HELO", "MAIL", "RCPT", "RSET"):
            self._say("250 fine")
        else:
            self._say("502 no such command")
        return True

    def _message(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line[1:] if line.startswith(b"..") else line)
        return message_from_bytes(b"".join(lines).replace(b"\r\n", b"\n"), policy=default)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())
