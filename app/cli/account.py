"""`evergold register`, `login`, `logout`: an account, and a token for the other commands; `account reset-link`."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app import credentials
from app.cli.output import Code, CommandError, print_json, remark, say
from app.cli.remote import TEAM_PANEL, JsonOption, ServerOption, chosen, connected
from app.cli.settings import DataDirOption, use_settings

if TYPE_CHECKING:
    import httpx

    from app.client import Json

commands = typer.Typer()
account_commands = typer.Typer(no_args_is_help=True)
commands.add_typer(
    account_commands, name="account", help="The accounts of this server.", rich_help_panel="Running a server"
)

PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")]


@commands.command(rich_help_panel=TEAM_PANEL)
def register(
    server: ServerOption = None,
    username: Annotated[str, typer.Option(help="3 to 40 letters a-z, digits and . _ -; asked for if missing.")] = "",
    email: Annotated[str, typer.Option(help="Your e-mail address; asked for if missing.")] = "",
    display_name: Annotated[str, typer.Option(help="The name that boards show; default: the user name.")] = "",
    password_stdin: PasswordStdin = False,
    as_json: JsonOption = False,
) -> None:
    """Make an account and log in with it."""
    from app import client as api

    address, _ = chosen(server)
    username = username or ask("User name", "--username")
    email = email or ask("E-mail address", "--email")
    password = read_password(password_stdin, confirm=True)
    with connected(address, None) as client:
        api.register(client, username=username, email=email, password=password, display_name=display_name)
        document = _log_in(client, address, username, password)
    _say_logged_in(document, as_json)


@commands.command(rich_help_panel=TEAM_PANEL)
def login(
    server: ServerOption = None,
    username: Annotated[str, typer.Option(help="User name or e-mail address; asked for if missing.")] = "",
    password_stdin: PasswordStdin = False,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read a token, made on the account page, from stdin.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Log in: the server's address and a token are kept for the other commands."""
    address, _ = chosen(server)
    if token_stdin:
        document = _keep_token(address, sys.stdin.readline().strip())
    else:
        username = username or ask("User name or e-mail address", "--username")
        password = read_password(password_stdin, confirm=False)
        with connected(address, None) as client:
            document = _log_in(client, address, username, password)
    _say_logged_in(document, as_json)


@commands.command(rich_help_panel=TEAM_PANEL)
def logout() -> None:
    """Log out: the token is revoked, and forgotten here."""
    from app import client as api

    stored = credentials.load()
    if stored is None:
        say("You were not logged in.")
        return
    credentials.forget()
    try:
        with connected(stored.server, stored.token) as client:
            if stored.token_id is not None:
                api.revoke_token(client, stored.token_id)
    except CommandError as error:
        remark(f"The token is forgotten here, but was not revoked: {error.message} The account page can do it.")
    say(f"Logged out of {stored.server}.")


@account_commands.command("reset-link")
def reset_link(
    username: Annotated[str, typer.Argument(metavar="USER", help="User name or e-mail address.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a link with which somebody chooses a new password, to hand over yourself. It works once."""
    use_settings(data_dir)
    from datetime import UTC, datetime

    from app.config import get_settings
    from app.db import get_engine, writing
    from app.errors import NotFound
    from app.password_resets import make_link

    settings = get_settings()
    try:
        with writing(get_engine(settings.database_address)) as session:
            user, link = make_link(session, username, settings, datetime.now(UTC))
    except NotFound as error:
        raise CommandError(error.message) from None
    if as_json:
        print_json({"username": user.username, "link": link, "minutes": settings.password_reset_minutes})
    else:
        remark(f"For {user.username}, within {settings.password_reset_minutes} minutes:")
        say(link)


def ask(question: str, option: str) -> str:
    """An answer from the terminal, or, where there is none, an error that names the option."""
    if not sys.stdin.isatty():
        raise CommandError(f"There is no terminal to ask on; use {option}.", Code.USAGE)
    answer: str = typer.prompt(question, err=True)
    return answer


def read_password(from_stdin: bool, *, confirm: bool) -> str:
    """A password, asked for on the terminal, or the first line of stdin."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask for the password on; use --password-stdin.", Code.USAGE)
    password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=confirm, err=True)
    return password


def _log_in(client: httpx.Client, address: str, username: str, password: str) -> Json:
    from app import client as api

    made = api.create_token(client, username=username, password=password, name=f"evergold on {platform.node()}"[:100])
    return _keep(credentials.Credentials(address, made["secret"], made["username"], made["id"]))


def _keep_token(address: str, token: str) -> Json:
    from app import client as api

    with connected(address, token) as client:
        account = api.who_am_i(client)
    return _keep(credentials.Credentials(address, token, account["username"]))


def _keep(found: credentials.Credentials) -> Json:
    path = credentials.store(found)
    return {"server": found.server, "username": found.username, "credentials": str(path)}


def _say_logged_in(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        say(f"Logged in to {document['server']} as {document['username']}; kept in {document['credentials']}.")
