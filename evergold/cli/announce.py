"""`evergold announce`: announcements of organisers on the pages, in a feed, and by mail to a chosen group."""

from __future__ import annotations

import sys
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, chosen, connected, logged_in, quoted
from evergold.cli.output import (
    WHILE_IT_RUNS,
    Code,
    CommandError,
    JsonOption,
    event_words,
    print_json,
    print_table,
    read_text,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.client import Client
    from evergold.client.results import Json

commands = typer.Typer()
announce = typer.Typer(no_args_is_help=True, help="Announcements of a competition: on its page, in a feed, by mail.")
commands.add_typer(announce, name="announce", rich_help_panel=WHILE_IT_RUNS)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number shown by `evergold announce list`.")]


@announce.command("list")
def show(competition: CompetitionArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """List the announcements, the pinned ones first, then the newest."""
    address, token = chosen(server)
    with connected(address, token) as client:
        listed = _listed(client, competition)
    if as_json:
        print_json({"announcements": listed})
        return
    rows = [
        (str(one["id"]), event_words(one["published_at"]), "yes" if one["is_pinned"] else "", one["title"])
        for one in listed
    ]
    print_table(["Number", "Published", "Pinned", "Title"], rows, numbers=["Number"])


@announce.command()
def publish(
    competition: CompetitionArgument,
    title: Annotated[str, typer.Option(help="One line.")],
    text: Annotated[str, typer.Option(metavar="FILE", help="A file with Markdown; - for the standard input.")],
    pin: Annotated[bool, typer.Option("--pin", help="Pin it above the others.")] = False,
    mail: Annotated[
        str,
        typer.Option(
            metavar="GROUP",
            help="Group to mail: all, entered:PHASE, without-valid:PHASE or organisers; default: nobody.",
        ),
    ] = "",
    preview: Annotated[bool, typer.Option("--preview", help="Only count the people who would get the mail.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send the mails without confirmation.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Announce something, and send it by mail if a group is named."""
    form = {"title": title, "text": read_text(text), "is_pinned": pin, "mail": mail}
    with logged_in(server) as (client, address):
        if preview or (mail and not yes):
            counted = _count(client, competition, mail)
            if preview:
                print_json(counted) if as_json else say(_in_words(counted))
                return
            _ask_back(counted)
        key = {"Idempotency-Key": str(uuid.uuid4())}
        made = client.send("POST", _path(competition), json=form, headers=key).json()
    if as_json:
        print_json(made)
        return
    say(f"Announcement {made['id']} of {competition}: {address}{made['page']}")
    if mail:
        say(f"Mails written: {made['mailed_count']}.")


@announce.command()
def edit(
    competition: CompetitionArgument,
    number: NumberArgument,
    title: Annotated[str | None, typer.Option(help="New title; default: unchanged.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with Markdown, - for stdin; default: unchanged.")
    ] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Pin it above the others, or unpin it.")] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Edit an announcement; it shows when it was edited, and no mail goes out."""
    with logged_in(server) as (client, _):
        one = next((one for one in _listed(client, competition) if one["id"] == number), None)
        if one is None:
            raise CommandError(f"{competition} has no announcement {number}.", name="not_found")
        form = {
            "title": one["title"] if title is None else title,
            "text": one["text"] if text is None else read_text(text),
            "is_pinned": one["is_pinned"] if pin is None else pin,
        }
        changed = client.send("PUT", f"{_path(competition)}/{number}", json=form).json()
    if as_json:
        print_json(changed)
    else:
        say(f"Changed announcement {number} of {competition}.")


@announce.command()
def withdraw(competition: CompetitionArgument, number: NumberArgument, server: ServerOption = None) -> None:
    """Withdraw an announcement; mails that were sent cannot be recalled."""
    with logged_in(server) as (client, _):
        client.send("DELETE", f"{_path(competition)}/{number}")
    say(f"Withdrew announcement {number} of {competition}.")


def _path(competition: str) -> str:
    return f"/competitions/{quoted(competition)}/announcements"


def _listed(client: Client, competition: str) -> list[Json]:
    found: list[Json] = client.document(_path(competition))["announcements"]
    return found


def _count(client: Client, competition: str, group: str) -> Json:
    if not group:
        return {"group": "", "receivers": 0, "switched_off": 0}
    counted: Json = client.document(f"{_path(competition)}/receivers", params={"group": group})
    return counted


def _in_words(counted: Json) -> str:
    people = "1 person" if counted["receivers"] == 1 else f"{counted['receivers']} people"
    return f"{people} would get a mail, {counted['switched_off']} more have switched such mails off."


def _ask_back(counted: Json) -> None:
    """Confirm the mails; without a terminal, require --yes."""
    remark(_in_words(counted))
    if not sys.stdin.isatty():
        raise CommandError("Nothing was sent: use --yes to send mails without confirmation.", Code.USAGE)
    typer.confirm("Send them?", abort=True, err=True)
