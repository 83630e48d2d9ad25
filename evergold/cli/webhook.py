"""`evergold webhook`: news of a competition, a team or the whole server to a chat or a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, logged_in, quoted
from evergold.cli.output import WHILE_IT_RUNS, JsonOption, event_words, print_json, print_table, read_text, say

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()
webhook = typer.Typer(no_args_is_help=True, help="News of a competition, your team or the server to a chat or program.")
commands.add_typer(webhook, name="webhook", rich_help_panel=WHILE_IT_RUNS)

CompetitionOption = Annotated[
    str | None,
    typer.Option(
        ("--competition"),
        metavar="COMPETITION",
        help="Competition; default: webhooks of the server, for administrators.",
    ),
]
TeamOption = Annotated[bool, typer.Option("--team", help="Webhooks of your team in the competition.")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number shown by `evergold webhook list`.")]


@webhook.command("list")
def show(
    competition: CompetitionOption = None,
    team: TeamOption = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List webhooks, the oldest first."""
    with logged_in(server) as (client, _):
        found = client.document(_path(competition, team))
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(one["id"]),
            one["name"],
            one["form"],
            one["address"],
            one["audience"],
            ", ".join(one["kinds"]),
            _state(one),
        )
        for one in found["webhooks"]
    ]
    print_table(["Number", "Name", "Form", "Address", "Audience", "News", "State"], rows, numbers=["Number"])


@webhook.command()
def add(
    name: Annotated[str, typer.Option(help="A name to recognise it by.")],
    address: Annotated[str, typer.Option(metavar="URL", help="Address to send to; - reads it from stdin.")],
    news: Annotated[
        list[str], typer.Option(metavar="KIND", help="Kind of news, such as board.changed; may be repeated.")
    ],
    competition: CompetitionOption = None,
    team: TeamOption = False,
    form: Annotated[str, typer.Option(help="Form: standard, slack, discord, mattermost or matrix.")] = "standard",
    audience: Annotated[
        str | None, typer.Option(help="Who reads the messages: organisers (default), or public.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with the access token for Matrix; - for stdin.")
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set up a webhook, and print the secret that signs its messages."""
    form_sent = {
        "name": name,
        "address": read_text("-").strip() if address == "-" else address,
        "form": form,
        "audience": audience,
        "kinds": news,
        "bearer": read_text(token).strip() if token is not None else "",
    }
    with logged_in(server) as (client, base):
        made = client.send("POST", _path(competition, team), json=form_sent).json()
    if as_json:
        print_json(made)
        return
    say(f"Webhook {made['id']}: {base}{made['page']}")
    if made["form"] == "standard":
        say(f"Secret: {made['secret']}")


@webhook.command("test")
def send_test(number: NumberArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Send a test; `evergold webhook log` shows the outcome."""
    with logged_in(server) as (client, _):
        sent = client.send("POST", f"{_one(number)}/test").json()
    if as_json:
        print_json(sent)
    else:
        say(f"Delivery {sent['id']} is being sent.")


@webhook.command()
def log(number: NumberArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """List the latest deliveries, the newest first, with their outcome."""
    with logged_in(server) as (client, _):
        found = client.document(f"{_one(number)}/deliveries")
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(one["id"]),
            one["kind"],
            event_words(one["happened_at"]),
            one["status"],
            str(one["attempts"]),
            one["error"] or str(one["answered"] or ""),
        )
        for one in found["deliveries"]
    ]
    heads = ["Delivery", "News", "Happened", "Status", "Attempts", "Answer"]
    print_table(heads, rows, numbers=["Delivery", "Attempts"])


@webhook.command()
def replay(
    number: NumberArgument,
    first: Annotated[
        int | None, typer.Option(metavar="DELIVERY", help="First delivery to send; default: the first.")
    ] = None,
    last: Annotated[
        int | None, typer.Option(metavar="DELIVERY", help="Last delivery to send; default: the last.")
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send finished deliveries again, with what their readers may see now."""
    with logged_in(server) as (client, _):
        sent = client.send("POST", f"{_one(number)}/replay", json={"first": first, "last": last}).json()
    if as_json:
        print_json(sent)
    else:
        say(f"Deliveries sent again: {sent['again']}.")


@webhook.command()
def secret(number: NumberArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Create a new secret and print it; the previous one is valid for a day."""
    with logged_in(server) as (client, _):
        made = client.send("POST", f"{_one(number)}/secret").json()
    if as_json:
        print_json(made)
    else:
        say(f"Secret: {made['secret']}")


@webhook.command()
def remove(number: NumberArgument, server: ServerOption = None) -> None:
    """Remove a webhook with its log."""
    with logged_in(server) as (client, _):
        client.send("DELETE", _one(number))
    say(f"Removed webhook {number}.")


def _path(competition: str | None, team: bool) -> str:
    if competition is None:
        return "/webhooks"
    return f"/competitions/{quoted(competition)}{'/team' if team else ''}/webhooks"


def _one(number: int) -> str:
    return f"/webhooks/{number}"


def _state(one: Json) -> str:
    return "disabled" if one["disabled_at"] else "failing" if one["failing_since"] else "in use"
