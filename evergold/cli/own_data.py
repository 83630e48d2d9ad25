"""`evergold my-data`, `consent`, `delete-account`: commands for one's own data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, logged_in, quoted
from evergold.cli.output import (
    SUBMITTING,
    Code,
    CommandError,
    JsonOption,
    local_deadline,
    print_json,
    read_password,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.client import Client
    from evergold.client.results import Json

commands = typer.Typer()

_ARCHIVE, _DELETION = "/me/archive", "/me/deletion"
#: Interval between questions whether the archive is ready.
_PAUSE_SECONDS = 2.0


@commands.command("my-data", rich_help_panel=SUBMITTING)
def my_data(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: evergold-USER.zip.")
    ] = None,
    wait_seconds: Annotated[
        int, typer.Option("--wait", min=0, metavar="SECONDS", help="How long to wait until the archive is ready.")
    ] = 600,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download everything that a server stores about you, as one zip; at most one per day is created."""
    with logged_in(server) as (client, _):
        archive = _wait_for_archive(client, wait_seconds)
        if archive["state"] == "ready":
            target = output or Path(f"evergold-{client.account()['username']}.zip")
            try:
                client.download(f"{_ARCHIVE}/file", target)
            except OSError as error:
                raise CommandError(f"Cannot write {target}: {error.strerror}.") from None
    if as_json:
        print_json(archive)
    elif archive["state"] == "ready":
        say(f"Wrote {target} ({archive['size_bytes']:,} bytes).")
    else:
        remark("The archive is not ready yet. Run the command again when you get the mail.")


def _wait_for_archive(client: Client, wait_seconds: int) -> Json:
    """Request the archive; return it once it is ready, or in its current state after `wait_seconds`."""
    end = time.monotonic() + wait_seconds
    archive: Json = client.send("POST", _ARCHIVE).json()
    while archive["state"] == "pending" and time.monotonic() < end:
        time.sleep(min(_PAUSE_SECONDS, max(0.0, end - time.monotonic())))
        archive = client.document(_ARCHIVE)
    return archive


@commands.command(rich_help_panel=SUBMITTING)
def consent(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    is_given: Annotated[
        bool | None,
        typer.Option("--give/--revoke", help="Default: show your consent.", show_default=False),
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let organisers publish your predictions, or revoke it; they need the consent of your whole team."""
    path = f"/competitions/{quoted(competition)}/publication-consent"
    with logged_in(server) as (client, _):
        if is_given is None:
            found = client.document(path)
        else:
            found = client.send("PUT", path, json={"consents": is_given}).json()
    if as_json:
        print_json(found)
    elif not found["is_asked"]:
        say("The organisers do not request consent, so nothing is published.")
    elif not found["consents"]:
        say("You do not consent, so nothing of your team is published.")
    elif found["team_consents"]:
        say("You consent, and so does your whole team.")
    else:
        say("You consent; not all members of your team do, so nothing is published.")


@commands.command("delete-account", rich_help_panel=SUBMITTING)
def delete_account(
    undo: Annotated[bool, typer.Option("--undo", help="Cancel the deletion.")] = False,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete your account, after some days to undo it; submissions that boards depend on stay, without your name."""
    with logged_in(server) as (client, _):
        if undo:
            found = client.send("DELETE", _DELETION).json()
        else:
            _check_nothing_stands_in_the_way(client)
            password = read_password(password_stdin, confirm=False)
            found = client.send("POST", _DELETION, json={"password": password}).json()
    if as_json:
        print_json(found)
    elif undo:
        say("Your account stays.")
    else:
        say(
            f"Your account will be deleted on {local_deadline(found['due_at'])}. Until then you can cancel this with "
            "--undo."
        )


def _check_nothing_stands_in_the_way(client: Client) -> None:
    """Raise CommandError with all obstacles to the deletion, before prompting for a password."""
    obstacles = client.document(_DELETION)["obstacles"]
    if obstacles:
        message = " ".join(one["message"] for one in obstacles)
        raise CommandError(message, Code.ERROR, name="account_needed", details={"obstacles": obstacles})
