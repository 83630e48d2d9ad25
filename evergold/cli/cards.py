"""`evergold card`: show and change the method card of a submission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.connection import ServerOption, chosen, connected
from evergold.cli.output import (
    SUBMITTING,
    Code,
    CommandError,
    JsonOption,
    event_words,
    print_json,
    print_table,
    remark,
    say,
)

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()

#: The name of the system that the card describes.
SYSTEM = "system"
#: Fields of every card, named as in the server's forms.
PARTS = {
    "method": "Method",
    "summary": "Summary",
    "paper": "Paper",
    "code": "Code",
    "data": "Data used",
    "languages": "Languages",
}


@commands.command(rich_help_panel=SUBMITTING)
def card(
    submission_id: Annotated[str, typer.Argument(metavar="ID", help="A submission of your team.")],
    file: Annotated[
        Path | None,
        typer.Option(
            ("--from"), metavar="FILE", exists=True, dir_okay=False, help="A file with the whole card, as JSON or YAML."
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Field to change, the others stay; may be repeated."),
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the method card of a submission, or change it, until the official results are frozen."""
    if file and change:
        raise CommandError("--from gives a whole card, --set changes parts of it: use one of them.", Code.USAGE)
    address, token = chosen(server)
    with connected(address, token) as client:
        found = client.card(submission_id)
        if file or change:
            wanted = read_card(file) if file else _changed(found, change or [])
            found = client.edit_card(submission_id, wanted, found["version"])
            remark(f"Saved: {address}{found['page']}")
    if as_json:
        print_json(found)
    else:
        _show(found)


def read_card(path: Path) -> dict[str, Any]:
    """Read a card from a file of JSON or YAML: a mapping."""
    from evergold.yaml_lines import read_yaml

    try:
        node, faults = read_yaml(path, str(path))  # JSON is YAML, too
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.", Code.USAGE) from None
    for fault in faults:
        raise CommandError(f"{path}, line {fault.line}: {fault.message}.", Code.USAGE)
    found = node.plain() if node else None
    if not isinstance(found, dict):
        raise CommandError(f"{path} is not a card: write a mapping such as `code: https://…`.", Code.USAGE)
    return found


def _changed(found: Json, pairs: list[str]) -> dict[str, Any]:
    """Return the card with these parts changed; an empty value removes a part."""
    card, questions = found["card"], {field["name"]: field for field in found["form"]["fields"]}
    wanted = {part: card[part] for part in PARTS}
    fields = {one["name"]: one["value"] for one in card["answers"]}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise CommandError(f"--set {pair} is not NAME=VALUE.", Code.USAGE)
        if name == SYSTEM:
            wanted[name] = value
        elif name == "languages":
            wanted[name] = value.replace(",", " ").split()
        elif name in PARTS:
            wanted[name] = value
        elif name in questions:
            fields[name] = value
        else:
            known = ", ".join([SYSTEM, *PARTS, *questions])
            raise CommandError(f"This card has no field '{name}'; the fields are {known}.", Code.USAGE)
    return {**wanted, "fields": fields}


def _show(found: Json) -> None:
    card = found["card"]
    name = [("System", found[SYSTEM])] if found.get(SYSTEM) else []
    rows = [(title, _words(card[part])) for part, title in PARTS.items() if card[part]]
    rows += [(answer["title"], _words(answer["value"])) for answer in card["answers"]]
    print_table(["About", "Said"], [*name, *rows])
    for change in found["history"]:
        remark(f"{event_words(change['changed_at'])}, {change['changed_by']}: {', '.join(change['changed'])}")
    if found["frozen_at"]:
        remark("The official results are frozen, and the card with them.")
    elif not rows:
        say("The card is empty: `evergold card ID --set code=https://…`.")


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
