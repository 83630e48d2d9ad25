"""Shared code of the commands that connect to a server: its address and token, and errors as exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.output import Code, CommandError
from evergold.client import credentials

if TYPE_CHECKING:
    from evergold.client import Client, Place, Refused


ServerOption = Annotated[
    str | None,
    typer.Option(
        ("--server"), metavar="URL", help="The server; default: EVERGOLD_SERVER, otherwise that of the last log-in."
    ),
]
#: Message above a page's form whose fields are marked.
_LOOK_THERE = "Please correct the marked fields."
#: Refusals that are nobody's mistake: a limit, or a phase that is not open.
_REFUSALS = frozenset(
    {"limit_reached", "phase_not_open", "gold_missing", "no_choice", "not_withdrawable", "registration_needed"}
)


def chosen(server: str | None) -> tuple[str, str | None]:
    """Return the server's address, and the token for it if there is one."""
    try:
        return credentials.choose(server)
    except credentials.BadAddress as error:
        raise CommandError(str(error), Code.USAGE) from None


@contextmanager
def connected(address: str, token: str | None, *, is_log_in: bool = False) -> Iterator[Client]:
    """Yield a client for the server; errors inside become a CommandError with its exit code.

    is_log_in: there is no token yet, and the server's own words about the password are shown.
    """
    from evergold.client import Client, Refused, Unreachable

    try:
        with Client(address, token or "") as client:
            yield client
    except Unreachable as error:
        raise CommandError(f"Cannot reach {address}: {error}.", Code.NETWORK, name="network") from None
    except Refused as error:
        if error.status == 401 and not token and not is_log_in:
            raise _not_logged_in(address) from None
        raise refused(error, address) from None


def _not_logged_in(address: str) -> CommandError:
    return CommandError(f"You are not logged in to {address}: `evergold login`.", name="not_authenticated")


@contextmanager
def logged_in(server: str | None) -> Iterator[tuple[Client, str]]:
    """Yield a client with a token, and the server's address; raises CommandError if there is no token."""
    address, token = chosen(server)
    if not token:
        raise _not_logged_in(address)
    with connected(address, token) as client:
        yield client, address


def refused(error: Refused, address: str) -> CommandError:
    """Convert a server's error to one of the command line."""
    if error.code == "not_evergold":
        code = Code.NETWORK if error.status >= 500 else Code.ERROR
        return CommandError(
            (f"{address} is not an Evergold server, or has a problem: {error.message}"), code, name=error.code
        )
    message = error.message
    if error.status == 401:
        message += " (`evergold login` gets a token.)"
    fields = error.details.get("fields")
    if isinstance(fields, dict):
        message = _once(message, fields)
    code = Code.REFUSED if error.code in _REFUSALS else Code.ERROR
    return CommandError(message, code, name=error.code, details=error.details)


def _once(message: str, fields: Mapping[str, str]) -> str:
    """Append the errors of fields to the message, or replace one that only points to them."""
    further = [f"{name}: {sentence}" for name, sentence in fields.items() if sentence != message]
    return " ".join(further if further and message == _LOOK_THERE else [message, *further])


def quoted(name: str) -> str:
    """Quote a name as a part of a path."""
    from urllib.parse import quote

    return quote(name.strip("/"), safe="")


def parse_place(text: str, last: str) -> Place:
    """Parse `competition/phase/…`; `last` names the third part."""
    from evergold.client import Place

    try:
        return Place.parse(text)
    except ValueError:
        wanted = f"COMPETITION/PHASE/{last}"
        raise CommandError(f"'{text}' is not {wanted}; `evergold competitions` lists them.", Code.USAGE) from None
