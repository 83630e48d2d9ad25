"""`evergold register`, `login`, `logout`: an account, and a token for the other commands."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, chosen, connected
from evergold.cli.output import SUBMITTING, CommandError, JsonOption, ask, print_json, read_password, remark, say
from evergold.client import credentials

if TYPE_CHECKING:
    from evergold.client import Client
    from evergold.client.results import Json

commands = typer.Typer()


PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")]


@commands.command(rich_help_panel=SUBMITTING)
def register(
    server: ServerOption = None,
    username: Annotated[str, typer.Option(help="3 to 40 letters a-z, digits and . _ -; prompted for if missing.")] = "",
    email: Annotated[str, typer.Option(help="Your e-mail address; prompted for if missing.")] = "",
    display_name: Annotated[str, typer.Option(help="The name that boards show; default: the user name.")] = "",
    password_stdin: PasswordStdin = False,
    as_json: JsonOption = False,
) -> None:
    """Create an account and log in."""
    address, _ = chosen(server)
    username = username or ask("User name", "--username and --password-stdin")
    email = email or ask("E-mail address", "--email")
    password = read_password(password_stdin, confirm=True)
    with connected(address, None, is_log_in=True) as client:
        client.register(username=username, email=email, password=password, display_name=display_name)
        document = _log_in(client, address, username, password)
    _say_logged_in(document, as_json)


@commands.command(rich_help_panel=SUBMITTING)
def login(
    server: ServerOption = None,
    username: Annotated[str, typer.Option(help="User name or e-mail address; prompted for if missing.")] = "",
    password_stdin: PasswordStdin = False,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read a token, created on the account page, from stdin.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Log in; the server's address and a token are stored for the other commands."""
    address, _ = chosen(server)
    if token_stdin:
        document = _keep_token(address, sys.stdin.readline().strip())
    else:
        username = username or ask("User name or e-mail address", "--username and --password-stdin")
        password = read_password(password_stdin, confirm=False)
        with connected(address, None, is_log_in=True) as client:
            document = _log_in(client, address, username, password)
    _say_logged_in(document, as_json)


@commands.command(rich_help_panel=SUBMITTING)
def logout() -> None:
    """Log out: revoke the token and delete it here."""
    stored = credentials.load()
    if stored is None:
        say("You were not logged in.")
        return
    credentials.forget()
    try:
        with connected(stored.server, stored.token) as client:
            if stored.token_id is not None:
                client.revoke_token(stored.token_id)
    except CommandError as error:
        remark(f"The token was deleted here, but not revoked: {error.message} Revoke it on the account page.")
    say(f"Logged out of {stored.server}.")


def _log_in(client: Client, address: str, username: str, password: str) -> Json:
    made = client.create_token(username=username, password=password, name=f"evergold on {platform.node()}"[:100])
    return _keep(credentials.Credentials(address, made["secret"], made["username"], made["id"]))


def _keep_token(address: str, token: str) -> Json:
    with connected(address, token) as client:
        account = client.account()
    return _keep(credentials.Credentials(address, token, account["username"]))


def _keep(found: credentials.Credentials) -> Json:
    path = credentials.store(found)
    return {"server": found.server, "username": found.username, "credentials": str(path)}


def _say_logged_in(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        say(
            f"Logged in to {document['server']} as {document['username']}; the token is stored in "
            f"{document['credentials']}."
        )
