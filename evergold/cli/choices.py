"""`evergold choose` and `evergold withdraw`: choose the submission that counts, or withdraw one."""

from __future__ import annotations

from typing import Annotated

import typer

from evergold.cli.connection import ServerOption, chosen, connected
from evergold.cli.output import SUBMITTING, JsonOption, print_json, say

commands = typer.Typer()


@commands.command(rich_help_panel=SUBMITTING)
def choose(
    submission_id: Annotated[str, typer.Argument(metavar="ID", help="A scored submission of your team.")],
    board: Annotated[
        str | None, typer.Option(metavar="NAME", help="Choose it only for this board; default: all boards.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the choice.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Choose the submission that counts, in a phase with the entry rule `chosen`; the last choice holds."""
    address, token = chosen(server)
    with connected(address, token) as client:
        submission = client.choose(submission_id, board=board, undo=undo).document
    if as_json:
        print_json(submission)
        return
    boards = ", ".join(submission["choice"]["boards"])
    say(f"This submission counts for your team on: {boards}." if boards else "This submission is no longer chosen.")


@commands.command(rich_help_panel=SUBMITTING)
def withdraw(
    submission_id: Annotated[str, typer.Argument(metavar="ID", help="A submission of your team.")],
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore it: it counts again.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Withdraw a submission, before its phase closes: it counts on no board, but still against your quota."""
    address, token = chosen(server)
    if not is_sure and not undo:
        typer.confirm("Withdraw it? It still counts against your quota.", abort=True, err=True)
    with connected(address, token) as client:
        submission = client.withdraw(submission_id, undo=undo).document
    if as_json:
        print_json(submission)
        return
    if undo:
        say("Restored: this submission counts again.")
        return
    say("Withdrawn: this submission counts on no board. Your team and the organisers still see it.")
