"""`evergold questions`: questions to the organisers of a competition, and their answers."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.connection import ServerOption, chosen, connected, logged_in, quoted
from evergold.cli.output import TOGETHER, JsonOption, event_words, print_json, print_table, read_text, say

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()
questions = typer.Typer(no_args_is_help=True, help="Questions to the organisers of a competition.")
commands.add_typer(questions, name="questions", rich_help_panel=TOGETHER)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number shown by `evergold questions list`.")]
TextOption = Annotated[str, typer.Option("--text", metavar="FILE", help="A text file; - for the standard input.")]


@questions.command("list")
def show(
    competition: CompetitionArgument,
    waiting: Annotated[
        bool, typer.Option(("--open"), help="Only questions that are neither answered nor closed.")
    ] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the questions that you may see: public ones, your own; organisers see all."""
    address, token = chosen(server)
    with connected(address, token) as client:
        listed: list[Json] = client.document(_path(competition))["questions"]
    listed = [one for one in listed if not (waiting and one["closed_at"])]
    if as_json:
        print_json({"questions": listed})
        return
    rows = [
        (str(one["id"]), event_words(one["asked_at"]), one["asker"] or "", _state(one), one["title"], one["answer"])
        for one in listed
    ]
    print_table(["Number", "Asked", "By", "State", "Question", "Answer"], rows, numbers=["Number"])


@questions.command()
def ask(
    competition: CompetitionArgument,
    title: Annotated[str, typer.Option(help="Title, a few words.")],
    text: TextOption,
    show_name: Annotated[
        bool, typer.Option("--show-name", help="Show your name if the answer is made public.")
    ] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the organisers; their answer comes by mail."""
    form = {"title": title, "text": read_text(text), "shows_name": show_name}
    with logged_in(server) as (client, address):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        question = client.send("POST", _path(competition), json=form, headers=key).json()
    if as_json:
        print_json(question)
    else:
        say(f"Asked: {address}{question['page']}")


@questions.command()
def answer(
    competition: CompetitionArgument,
    number: NumberArgument,
    text: TextOption,
    public: Annotated[
        bool,
        typer.Option(("--public"), help="Make question and answer public; default: only the sender sees the answer."),
    ] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question as an organiser, or change the answer; the sender of the question is notified."""
    form = {"answer": read_text(text), "is_public": public}
    with logged_in(server) as (client, address):
        answered = client.send("PUT", f"{_path(competition)}/{number}/answer", json=form).json()
    if as_json:
        print_json(answered)
    else:
        say(f"Answered {'for everybody' if public else 'privately'}: {address}{answered['page']}")


@questions.command()
def close(competition: CompetitionArgument, number: NumberArgument, server: ServerOption = None) -> None:
    """Close a question without an answer, as an organiser; nobody gets a mail."""
    with logged_in(server) as (client, _):
        client.send("PUT", f"{_path(competition)}/{number}/closed")
    say(f"Closed question {number} of {competition}.")


@questions.command()
def reopen(competition: CompetitionArgument, number: NumberArgument, server: ServerOption = None) -> None:
    """Open a closed question again, as an organiser."""
    with logged_in(server) as (client, _):
        client.send("DELETE", f"{_path(competition)}/{number}/closed")
    say(f"Opened question {number} of {competition} again.")


def _path(competition: str) -> str:
    return f"/competitions/{quoted(competition)}/questions"


def _state(one: Json) -> str:
    if one["answered_at"]:
        return "public" if one["is_public"] else "private"
    return "closed" if one["closed_at"] else "waits"
