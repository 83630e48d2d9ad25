"""`evergold judge`: rounds of human judgement on a server, for the organisers of a competition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.connection import ServerOption, chosen, connected, parse_place, quoted
from evergold.cli.output import (
    WHILE_IT_RUNS,
    Code,
    CommandError,
    JsonOption,
    count,
    print_json,
    print_problems,
    print_table,
    read_text,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.client import Client
    from evergold.client.results import Json

commands = typer.Typer()
judge = typer.Typer(no_args_is_help=True, help="Human judgement: rounds, marks, and their results.")
commands.add_typer(judge, name="judge", rich_help_panel=WHILE_IT_RUNS)

PlaceArgument = Annotated[str, typer.Argument(metavar="COMPETITION/PHASE/TASK")]
RoundArgument = Annotated[str, typer.Argument(metavar="COMPETITION/ROUND")]
NameOption = Annotated[str, typer.Option(help="The name of the round.")]


@judge.command()
def start(
    place: PlaceArgument,
    name: NameOption = "human",
    items: Annotated[int | None, typer.Option(help="Number of items per language; default: all.")] = None,
    seed: Annotated[int | None, typer.Option(help="Number for drawing and shuffling; default: a random one.")] = None,
    submission: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="ID of a submission to judge; default: all entries of the boards."),
    ] = None,
    annotator: Annotated[
        list[str] | None, typer.Option(metavar="LANGUAGE:USER", help="An annotator of a language.")
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Markdown for the annotators.")
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a round that annotators judge in the browser."""
    annotators = [_annotator(text) for text in annotator or []]
    form = {
        "name": name,
        "items": items,
        "seed": seed,
        "submissions": submission or [],
        "annotators": annotators,
        "guidelines": read_text(guidelines) if guidelines else "",
    }
    with _organiser(server) as (client, address):
        wanted = parse_place(place, "TASK")
        document = client.send("POST", f"{wanted.path('tasks')}/judging", json=form).json()
    _show(document, as_json)
    remark(f"Started: {address}{document['page']}")
    for language in sorted({one["language"] for one in annotators}):
        remark(f"Annotators of {language} judge at {address}{document['page']}/items/{language}")


@judge.command("import")
def import_marks(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)],
    to: Annotated[str, typer.Option("--to", metavar="COMPETITION/PHASE/TASK", help="The annotators' marks.")],
    name: NameOption = "human",
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import annotators' marks from a CSV file, as a whole or not at all; every problem is reported."""
    path = f"{parse_place(to, 'TASK').path('tasks')}/judging/marks"
    with _organiser(server, as_json) as (client, _), file.open("rb") as content:
        files = {"file": (file.name, content)}
        document = client.send("POST", path, params={"round": name}, files=files).json()
    if as_json:
        print_json(document)
    else:
        say(
            f"Round {document['round']}: {document['added']} added, {document['changed']} changed, "
            f"{document['unchanged']} unchanged."
        )


@judge.command()
def export(
    place: RoundArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: the standard output.")
    ] = None,
    server: ServerOption = None,
) -> None:
    """Print all marks of a round as CSV that can be imported again."""
    with _organiser(server) as (client, _):
        content = client.csv(f"{_round(place)}/marks.csv")
    if output is None:
        say(content.rstrip("\r\n"))
        return
    output.write_text(content, encoding="utf-8", newline="")
    remark(f"Wrote {output}.")


@judge.command()
def status(
    place: Annotated[str, typer.Argument(metavar="COMPETITION[/ROUND]")],
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the rounds of a competition, or show one: progress, scores, agreement, correlations."""
    with _organiser(server) as (client, _):
        if "/" in place.strip("/"):
            _show(client.document(_round(place)), as_json)
            return
        listed = client.document(f"/competitions/{quoted(place)}/judging")
    if as_json:
        print_json(listed)
        return
    rows = [
        (one["name"], f"{one['phase']}/{one['task']}", one["source"], "yes" if one["published_at"] else "no")
        for one in listed["rounds"]
    ]
    print_table(["Round", "Phase/task", "Marks from", "Published"], rows)


@judge.command()
def publish(
    place: RoundArgument,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Publish even if some paraphrases have no marks.")
    ] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Hide the round again instead.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish a round, also on boards, or hide it again; marks cannot change while it is public."""
    with _organiser(server) as (client, address):
        path = f"{_round(place)}/publication"
        if withdraw:
            document = client.send("DELETE", path).json()
        else:
            document = client.send("PUT", path, params={"unfinished": unfinished}).json()
    if as_json:
        print_json(document)
    else:
        say(f"Withdrawn: {place}." if withdraw else f"Published: {address}{document['page']}")


# ------------------------------------------------------------------------------------------------------------- helpers


@contextmanager
def _organiser(server: str | None, as_json: bool = False) -> Iterator[tuple[Client, str]]:
    """Yield a logged-in client; report the problems of an invalid file and exit with its own code."""
    from evergold.client import Refused

    address, token = chosen(server)
    if not token:
        raise CommandError(f"You are not logged in to {address}: `evergold login`.", name="not_authenticated")
    with connected(address, token) as client:
        try:
            yield client, address
        except Refused as error:
            if error.code != "invalid_marks":
                raise
            _show_problems(error.details, error.message, as_json)
            raise typer.Exit(Code.REJECTED) from None


def _show_problems(details: Json, message: str, as_json: bool) -> None:
    if as_json:
        print_json({"valid": False, **details})
        return
    print_problems(details["problems"], details["problems_omitted"])
    remark(message)


def _round(place: str) -> str:
    """Return the API path of a round, given as `COMPETITION/ROUND`."""
    parts = place.strip("/").split("/")
    if len(parts) != 2 or not all(parts):
        raise CommandError(f"'{place}' is not COMPETITION/ROUND; `evergold judge status` lists them.", Code.USAGE)
    return f"/competitions/{quoted(parts[0])}/judging/{quoted(parts[1])}"


def _annotator(text: str) -> dict[str, str]:
    language, colon, username = text.partition(":")
    if not (language and colon and username):
        raise CommandError(f"--annotator {text} is not LANGUAGE:USER.", Code.USAGE)
    return {"language": language.lower(), "username": username}


def _show(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    shown = "published" if document["published_at"] else "not published"
    say(f"Round {document['name']} of {document['competition']}/{document['phase']}/{document['task']}, {shown}.")
    if document["progress"]:
        rows = [
            (one["language"], one["annotator"], str(one["done"]), str(one["total"])) for one in document["progress"]
        ]
        print_table(["Language", "Annotator", "Judged", "Of"], rows, numbers=["Judged", "Of"])
    splits = list(document["correlations"])
    headings = [f"{kind} {split}" for split in splits for kind in ("human", document["metric"])]
    rows = [
        (one["team"], *(_percent(one[kind][split]) for split in splits for kind in ("human", "automatic")))
        for one in document["systems"]
    ]
    print_table(["System", *headings], rows, numbers=headings)
    _show_agreement(document)


def _show_agreement(document: Json) -> None:
    for language, measures in document["agreement"].items():
        found = measures["score"]
        alpha = f"{found['alpha']:.3f}" if found["alpha"] is not None else f"undefined ({found['reason']})"
        say(f"Alpha {language}: {alpha}, {count(document['annotators'][language], 'annotator')}.")
    for split, found in document["correlations"].items():
        say(f"Correlation {split}: {_correlation(found)}.")


def _correlation(found: dict[str, Any]) -> str:
    if found["reason"]:
        return f"undefined ({found['reason']})"
    named = [f"{name} {found[name]:.3f}" for name in ("pearson", "spearman", "kendall")]
    return f"{', '.join(named)} over {count(found['systems'], 'system')}"


def _percent(value: dict[str, Any]) -> str:
    return f"{100 * value['value']:.2f}" if value["value"] is not None else "–"
