"""`evergold registrations`: registrations for a competition, in this server's database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, command_line_act, server_database
from evergold.cli.output import WHILE_IT_RUNS, Code, CommandError, JsonOption, print_json, print_table, remark, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from pathlib import Path

    from app.models import RegistrationStatus

commands = typer.Typer()
registrations = typer.Typer(no_args_is_help=True, help="Registrations for a competition.")
commands.add_typer(registrations, name="registrations", rich_help_panel=WHILE_IT_RUNS)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
UsersArgument = Annotated[list[str], typer.Argument(metavar="USER…", help="User names or e-mail addresses.")]


@registrations.command("list")
def show(
    competition: CompetitionArgument,
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help="Only unconfirmed, pending, approved or refused ones.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List who has registered, oldest first."""
    from app.competitions.find import find_competition
    from app.teams.registration import list_registrations
    from app.teams.views import RegisteredOut

    with server_database(data_dir) as session:
        rows = list_registrations(session, find_competition(session, competition), status=_status(status))
        found = [RegisteredOut.model_validate(row, from_attributes=True) for row in rows]
    if as_json:
        print_json({"registrations": [one.model_dump(mode="json") for one in found]})
    else:
        columns = ["User", "Name", "E-mail", "Status", "Registered (UTC)", "Answered by"]
        print_table(
            columns,
            [
                (
                    one.username,
                    one.display_name,
                    one.email,
                    one.status,
                    moment_words(one.registered_at),
                    one.decided_by or "",
                )
                for one in found
            ],
        )


@registrations.command()
def approve(
    competition: CompetitionArgument, users: UsersArgument, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Approve a person, even before they register; they get a mail."""
    _decide(competition, users, "approved", data_dir, as_json)


@registrations.command()
def refuse(
    competition: CompetitionArgument, users: UsersArgument, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Refuse a person, who gets a mail and can upload no more; earlier submissions stay."""
    _decide(competition, users, "refused", data_dir, as_json)


@registrations.command()
def code(
    competition: CompetitionArgument,
    end: Annotated[bool, typer.Option("--end", help="End the code; people who joined with it stay.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create the code by which a class joins, and print it once; the code before it ends."""
    from app.competitions.find import find_competition
    from app.models import RegistrationMode
    from app.teams.codes import end_code, make_code
    from app.teams.registration import rules_of

    with server_database(data_dir) as session:
        act, found = command_line_act(session), find_competition(session, competition)
        ended = end_code(act, found) if end else False
        made = None if end else make_code(act, found)
        by_code = rules_of(found).mode == RegistrationMode.CODE
    if as_json:
        print_json({"code": made, "ended": ended})
    elif made is None:
        say("The code has ended." if ended else "There was no code.")
    else:
        say(made)
        if not by_code:
            remark("The code is not used yet: set registration to a code (`mode: code`), under Edit or in phases.yaml.")


def _decide(competition: str, users: list[str], status: str, data_dir: Path | None, as_json: bool) -> None:
    from app.competitions.find import find_competition
    from app.models import RegistrationStatus
    from app.people.rights import find_user
    from app.teams.registration import decide

    decisions = []
    with server_database(data_dir) as session:
        found = find_competition(session, competition)
        for person in sorted((find_user(session, user) for user in users), key=lambda one: one.id):
            changed = decide(command_line_act(session), found, person, RegistrationStatus(status))
            decisions.append({"username": person.username, "status": status, "changed": changed})
    if as_json:
        print_json(decisions[0] if len(users) == 1 else {"decisions": decisions})
        return
    for one in decisions:
        name = one["username"]
        say(f"{name} is {status} in {competition}." if one["changed"] else f"{name} was {status} already.")


def _status(name: str | None) -> RegistrationStatus | None:
    from app.models import RegistrationStatus

    try:
        return RegistrationStatus(name) if name is not None else None
    except ValueError:
        known = ", ".join(RegistrationStatus)
        raise CommandError(f"'{name}' is not a status; there are {known}.", Code.USAGE) from None
