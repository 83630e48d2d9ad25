"""`evergold invitations`: invitations to roles in competitions, to be accepted or declined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, chosen, connected
from evergold.cli.output import PREPARING, Code, CommandError, JsonOption, local_deadline, print_json, print_table, say

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()

_PATH = "/me/invitations"


@commands.command(rich_help_panel=PREPARING)
def invitations(
    accept: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Accept this invitation and get the role.")
    ] = None,
    decline: Annotated[int | None, typer.Option(metavar="NUMBER", help="Decline this invitation.")] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List invitations to a role in a competition that you have not answered; or answer one.

    They are for the address that you have confirmed on this server.
    """
    if accept is not None and decline is not None:
        raise CommandError("Give --accept or --decline, not both.", Code.USAGE)
    address, token = chosen(server)
    with connected(address, token) as client:
        if accept is not None:
            _say_answer(client.send("POST", f"{_PATH}/{accept}/accept").json(), as_json)
        elif decline is not None:
            client.send("POST", f"{_PATH}/{decline}/decline")
            _say_answer({"competition": None}, as_json)
        else:
            _show(client.document(_PATH)["invitations"], as_json)


def _say_answer(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
    elif document["competition"]:
        say(f"Accepted: you now have the role in {document['competition']}.")
    else:
        say("Declined.")


def _show(listed: list[Json], as_json: bool) -> None:
    if as_json:
        print_json({"invitations": listed})
        return
    rows = [
        (
            str(one["id"]),
            one["competition"],
            one["role"],
            ", ".join(one["rights"]),
            one["invited_by"] or "the server",
            local_deadline(one["expires_at"]),
        )
        for one in listed
    ]
    if rows:
        print_table(["Number", "Competition", "Role", "Rights", "By", "Until"], rows, numbers=["Number"])
    else:
        say("No invitations. They are sent to your confirmed address.")
