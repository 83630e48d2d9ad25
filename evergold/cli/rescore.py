"""`evergold rescore`, `rescorings`: score submissions again in parallel to the current scores; compare, publish or
drop.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.connection import ServerOption, logged_in
from evergold.cli.output import (
    WHILE_IT_RUNS,
    Code,
    CommandError,
    JsonOption,
    count,
    print_json,
    print_table,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.client import Client
    from evergold.client.results import Json

commands = typer.Typer()
rescore = typer.Typer(no_args_is_help=True, help="Rescore submissions as a set, and publish or drop it.")
commands.add_typer(rescore, name="rescore", rich_help_panel=WHILE_IT_RUNS)

SetArgument = Annotated[
    str, typer.Argument(metavar="COMPETITION/SET", help="COMPETITION/SET, as listed by `evergold rescorings`.")
]
#: Interval at which `publish --wait` polls whether the set is ready.
ASK_SECONDS = 5.0


@rescore.command()
def start(
    place: Annotated[str, typer.Argument(metavar="COMPETITION[/PHASE[/TASK]]", help="Submissions to rescore.")],
    note: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown to teams once the set is published.")],
    also: Annotated[
        list[str] | None, typer.Option(metavar="PHASE[/TASK]", help="Also rescore this part of the same competition.")
    ] = None,
    gold: Annotated[
        int | None, typer.Option(min=1, metavar="VERSION", help="The version of sealed gold; default: the newest.")
    ] = None,
    with_rejected: Annotated[bool, typer.Option("--with-rejected", help="Also try rejected files again.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a set: a second run for every scored submission. No board changes until it is published."""
    competition, _, tasks = place.strip("/").partition("/")
    form = {
        "tasks": [*([tasks] if tasks else []), *(also or [])],
        "note": note,
        "gold_version": gold,
        "with_rejected": with_rejected,
    }
    with logged_in(server) as (client, address):
        document = client.send("POST", _sets(competition), json=form).json()
    _show(document, as_json)
    remark(f"Started: {address}{document['page']}")


@commands.command(rich_help_panel=WHILE_IT_RUNS)
def rescorings(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the rescoring sets of a competition, the newest first."""
    with logged_in(server) as (client, _):
        listed = client.document(_sets(competition))
    if as_json:
        print_json(listed)
        return
    if not listed["rescorings"]:
        say("There are no rescoring sets.")
        return
    rows = [(str(one["number"]), one["state"], _done(one), _tasks(one), one["note"]) for one in listed["rescorings"]]
    print_table(["Set", "State", "Scored", "Tasks", "Why"], rows, numbers=["Set"])


@rescore.command()
def status(place: SetArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Show a set and its progress."""
    with logged_in(server) as (client, _):
        document = client.document(_set(place))
    _show(document, as_json)


@rescore.command()
def diff(place: SetArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Show who moves by how much, board by board, largest moves first."""
    with logged_in(server) as (client, _):
        document = client.document(f"{_set(place)}/diff")
    if as_json:
        print_json(document)
        return
    for board in document["boards"]:
        moves = board["moves"]
        say(f"{board['title']}: {count(len(moves), 'row')} of {len(moves) + board['unchanged']} changed.")
        if moves:
            rows = [_move(move) for move in moves]
            headings = ["Before", "After", f"{board['column']} before", f"{board['column']} after", "Cells"]
            print_table(["Team", *headings, "What happens"], rows, numbers=headings)
    progress = document["progress"]
    if progress["waiting"] or progress["failed"]:
        remark(f"So far: {progress['waiting']} are not rescored yet, {progress['failed']} failed on our side.")


@rescore.command()
def publish(
    place: SetArgument,
    tell_teams: Annotated[
        bool, typer.Option("--tell-teams", help="Notify teams whose rank changed on a board that they can see.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is scored.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish a set: the new scores replace the old ones, on all boards at once."""
    with logged_in(server) as (client, _):
        document = _published(client, place, tell_teams=tell_teams, wait=wait)
    _show(document, as_json)


@rescore.command()
def drop(place: SetArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Drop a set without changing any board."""
    with logged_in(server) as (client, _):
        document = client.send("POST", f"{_set(place)}/drop").json()
    _show(document, as_json)


# ------------------------------------------------------------------------------------------------------------- helpers


def _published(client: Client, place: str, *, tell_teams: bool, wait: bool) -> Json:
    from evergold.client import Refused

    while True:
        try:
            document: Json = client.send("POST", f"{_set(place)}/publish", params={"tell_teams": tell_teams}).json()
        except Refused as error:
            # Failed runs wait until somebody fixes the cause.
            if not wait or error.code != "rescoring_not_ready" or error.details.get("failed"):
                raise
        else:
            return document
        time.sleep(ASK_SECONDS)


def _sets(competition: str) -> str:
    from urllib.parse import quote

    return f"/competitions/{quote(competition.strip('/'), safe='')}/rescorings"


def _set(place: str) -> str:
    """Return the API path of a rescoring set, given as `COMPETITION/SET`."""
    parts = place.strip("/").split("/")
    if len(parts) != 2 or not parts[0] or not (parts[1].isascii() and parts[1].isdecimal()):
        raise CommandError(f"'{place}' is not COMPETITION/SET; `evergold rescorings` lists them.", Code.USAGE)
    return f"{_sets(parts[0])}/{int(parts[1])}"


def _show(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    say(f"Set {document['number']} of {document['competition']}, {document['state']}: {document['note']}")
    rows = [(f"{one['phase']}/{one['task']}", str(one["gold_version"] or "plain gold")) for one in document["tasks"]]
    print_table(["Task", "Gold version"], rows)
    if document["progress"]:
        say(f"Rescored: {_done(document)}.")


def _done(document: dict[str, Any]) -> str:
    progress = document["progress"]
    return f"{progress['scored'] + progress['rejected']} of {progress['of']}" if progress else ""


def _tasks(document: dict[str, Any]) -> str:
    return ", ".join(f"{one['phase']}/{one['task']}" for one in document["tasks"])


def _move(move: dict[str, Any]) -> tuple[str, ...]:
    ranks = ["–" if move[name] is None else str(move[name]) for name in ("rank_before", "rank_after")]
    scores = ["–" if move[name] is None else f"{move[name]:.4f}" for name in ("score_before", "score_after")]
    return (move["team"], *ranks, *scores, str(move["cells_changed"]), move["words"])
