"""`evergold allowance`: extensions for single teams, in this server's database."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.rows import database
from app.cli.settings import DataDirOption, command_line_act
from evergold.cli.output import WHILE_IT_RUNS, Code, CommandError, JsonOption, print_json, print_table, say
from evergold.moments import deadline_words

if TYPE_CHECKING:
    from app.competitions.views import AllowanceOut

commands = typer.Typer()
allowances = typer.Typer(no_args_is_help=True, help="Extension for one team.")
commands.add_typer(allowances, name="allowance", rich_help_panel=WHILE_IT_RUNS)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]


@allowances.command("list")
def show(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the extensions of a competition's teams."""
    from app.competitions.allowances import list_allowances
    from app.competitions.find import find_competition
    from app.competitions.views import describe_allowance

    with database(data_dir) as session:
        found = [describe_allowance(one) for one in list_allowances(session, find_competition(session, competition))]
    if as_json:
        print_json({"allowances": [one.model_dump(mode="json") for one in found]})
        return
    if not found:
        say("No team has an extension.")
        return
    rows = [(str(one.id), one.team, one.phase, _permission_text(one), one.reason) for one in found]
    print_table(["Id", "Team", "Phase", "Allowed", "Why"], rows, numbers=["Id"])


@allowances.command("grant")
def allow(
    place: Annotated[str, typer.Argument(metavar="COMPETITION/PHASE")],
    team: Annotated[str, typer.Option(metavar="NAME", help="Name of the team, as on boards.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; the team and all organisers can read it.")],
    until: Annotated[str, typer.Option(metavar="MOMENT", help="Later deadline, such as '2026-02-03 23:59 AoE'.")] = "",
    is_ranked: Annotated[bool, typer.Option("--ranked", help="Rank late submissions like all others.")] = False,
    extra_per_day: Annotated[int, typer.Option(metavar="N", min=0, help="Extra submissions per day.")] = 0,
    extra_total: Annotated[int, typer.Option(metavar="N", min=0, help="Extra submissions in total.")] = 0,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a team a later deadline or more submissions in each task of a phase."""
    from app.competitions.allowances import NewExtension, grant
    from app.competitions.find import find_competition
    from app.competitions.views import describe_allowance

    competition, _, phase = place.strip("/").partition("/")
    wanted = NewExtension(phase, team, _moment(until), is_ranked, extra_per_day, extra_total, reason)
    with database(data_dir) as session:
        found = find_competition(session, competition)
        made = grant(command_line_act(session), found, wanted)
        granted = describe_allowance(made)
    if as_json:
        print_json(granted.model_dump(mode="json"))
    else:
        say(f"In {place}, {granted.team} is allowed: {_permission_text(granted)}.")
        if made.late is not None:
            say(made.late.words)


@allowances.command("take-back")
def end(
    competition: CompetitionArgument,
    allowance_id: Annotated[int, typer.Argument(metavar="ID", help="Number shown by `evergold allowance list`.")],
    data_dir: DataDirOption = None,
) -> None:
    """Revoke an extension; submissions made with it stay."""
    from app.competitions.allowances import take_back
    from app.competitions.find import find_competition

    with database(data_dir) as session:
        take_back(command_line_act(session), find_competition(session, competition), allowance_id)
    say("Revoked.")


def _moment(text: str) -> datetime | None:
    from app.base.times import parse_moment

    try:
        return parse_moment(text) if text else None
    except ValueError as error:
        raise CommandError(f"{error}.", Code.USAGE) from None


def _permission_text(one: AllowanceOut) -> str:
    parts = [
        f"open until {deadline_words(one.until)}, {'ranked' if one.is_ranked else 'late entries without rank'}"
        if one.until
        else "",
        f"{one.extra_per_day} more a day" if one.extra_per_day else "",
        f"{one.extra_total} more in total" if one.extra_total else "",
    ]
    return "; ".join(part for part in parts if part)
