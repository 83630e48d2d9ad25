"""`evergold export …`: exports from this server's database for organisers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evergold.cli.connection import ServerOption, logged_in, quoted
from evergold.cli.output import PREPARING, CommandError, JsonOption, event_words, print_json, print_table, remark, say

commands = typer.Typer()
exports = typer.Typer(no_args_is_help=True, help="Export declarations, predictions or participants.")


commands.add_typer(exports, name="export", rich_help_panel=PREPARING)


@exports.command()
def predictions(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    phase: Annotated[str, typer.Option(metavar="NAME", help="Only this phase.")] = "",
    task: Annotated[str, typer.Option(metavar="NAME", help="Only this task.")] = "",
    entries: Annotated[bool, typer.Option("--entries", help="Only current entries of boards.")] = False,
    publishable: Annotated[bool, typer.Option("--publishable", help="Only teams that consent to publication.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; default: COMPETITION-predictions.zip."),
    ] = None,
    server: ServerOption = None,
) -> None:
    """Download all predictions and method cards of a competition as one zip, with a manifest."""
    target = output or Path(f"{competition.strip('/')}-predictions.zip")
    params = {"phase": phase, "task": task, "only": "entries" if entries else "all"}
    params |= {"publishable": "true"} if publishable else {}
    with logged_in(server) as (client, _):
        try:
            size_bytes = client.download(f"/competitions/{quoted(competition)}/predictions.zip", target, params=params)
        except OSError as error:
            raise CommandError(f"Cannot write {target}: {error.strerror}.") from None
    remark(f"Wrote {target} ({size_bytes:,} bytes).")


@exports.command()
def downloads(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    csv: Annotated[bool, typer.Option("--csv", help="Print all downloads as CSV, oldest first.")] = False,
    username: Annotated[str, typer.Option("--user", metavar="USER", help="Only downloads by this user.")] = "",
    file: Annotated[str, typer.Option(metavar="NAME", help="Only downloads of this file.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="Number of downloads to list, newest first.")] = 50,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List downloads of files for participants: who, when, which file."""
    path = f"/competitions/{quoted(competition)}/downloads"
    with logged_in(server) as (client, _):
        if csv:
            say(client.csv(f"{path}.csv").rstrip("\r\n"))
            return
        listed = client.document(path, params={"username": username, "file": file, "limit": limit})
    if as_json:
        print_json(listed)
        return
    columns = ("downloaded_at", "username", "phase", "task", "file")
    rows = [tuple(one[column] for column in columns) for one in listed["downloads"]]
    print_table(["When (UTC)", "User", "Phase", "Task", "File"], rows)


@exports.command()
def participants(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List who takes part: user name, e-mail address, team, and number of submissions."""
    path = f"/competitions/{quoted(competition)}/participants"
    with logged_in(server) as (client, _):
        if csv:
            say(client.csv(f"{path}.csv").rstrip("\r\n"))
            return
        listed = client.document(path)
    if as_json:
        print_json(listed)
        return
    rows = [
        (
            one["username"],
            one["email"],
            one["display_name"],
            one["team"],
            event_words(one["registered_at"]) if one["registered_at"] else "",
            ", ".join(f"{phase} {sent}" for phase, sent in one["submissions"].items() if sent),
        )
        for one in listed["participants"]
    ]
    print_table(["User", "E-mail", "Name", "Team", "Registered", "Sent"], rows)
