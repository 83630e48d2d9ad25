"""`evergold role`: who organises and who judges in a competition, in this server's database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, server_database
from evergold.cli.output import PANEL, Code, CommandError, JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from app.models import Role

commands = typer.Typer()
roles = typer.Typer(no_args_is_help=True, help="Who organises and who judges in a competition.")
commands.add_typer(roles, name="role", rich_help_panel=PANEL)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
UserArgument = Annotated[str, typer.Argument(metavar="USER", help="A user name or an e-mail address.")]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="organiser, annotator, tester or guest.")]


@roles.command("list")
def show(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List everyone with a role in a competition; administrators organise all competitions without one."""
    from app.competitions.find import find_competition
    from app.people.roles import list_roles
    from app.web.people.roles_schemas import role_out

    with server_database(data_dir) as session:
        found = [role_out(row) for row in list_roles(session, find_competition(session, competition))]
    if as_json:
        print_json({"roles": [one.model_dump(mode="json") for one in found]})
    else:
        rows = [(one.username, one.role, f"{one.granted_at:%Y-%m-%d %H:%M}") for one in found]
        print_table(["User", "Role", "Since (UTC)"], rows)


@roles.command()
def grant(
    competition: CompetitionArgument,
    user: UserArgument,
    role: RoleArgument,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a user a role."""
    from app.competitions.find import find_competition
    from app.people.roles import find_user, grant_role

    with server_database(data_dir) as session:
        found, theirs = find_competition(session, competition), find_user(session, user)
        changed = grant_role(session, found, theirs, _role(role), datetime.now(UTC))
        name = theirs.username
    _tell(as_json, name, role, changed, f"{name} is {role} of {competition}.", f"{name} was {role} already.")


@roles.command()
def revoke(
    competition: CompetitionArgument,
    user: UserArgument,
    role: RoleArgument,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a role back; an annotator can no longer judge, and marks already given stay."""
    from app.competitions.find import find_competition
    from app.people.roles import find_user, revoke_role

    with server_database(data_dir) as session:
        found, theirs = find_competition(session, competition), find_user(session, user)
        changed = revoke_role(session, found, theirs, _role(role), datetime.now(UTC))
        name = theirs.username
    _tell(as_json, name, role, changed, f"{name} is {role} of {competition} no more.", f"{name} was no {role}.")


def _role(name: str) -> Role:
    from app.models import Role

    try:
        return Role(name)
    except ValueError:
        raise CommandError(f"'{name}' is no role; there are {', '.join(Role)}.", Code.USAGE) from None


def _tell(as_json: bool, username: str, role: str, changed: bool, done: str, nothing: str) -> None:
    if as_json:
        print_json({"username": username, "role": role, "changed": changed})
    else:
        say(done if changed else nothing)
