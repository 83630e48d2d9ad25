"""`evergold role`: roles in a competition, organisers' rights, and invitations, in this server's database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, command_line_act, server_database
from evergold.cli.output import PREPARING, Code, CommandError, JsonOption, print_json, print_table, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.models import Right, Role

commands = typer.Typer()
roles = typer.Typer(no_args_is_help=True, help="Roles in a competition, and invitations to them.")
commands.add_typer(roles, name="role", rich_help_panel=PREPARING)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
UserArgument = Annotated[str, typer.Argument(metavar="USER", help="A user name or an e-mail address.")]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="Role: organiser, annotator, tester or guest.")]
RightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--right", metavar="RIGHT", help="Right of an organiser: edit, submissions, gold or messages; default: all."
    ),
]


@roles.command("list")
def show(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List everyone with a role in a competition; administrators organise all competitions without one."""
    from app.competitions.find import find_competition
    from app.people.rights import list_roles

    with server_database(data_dir) as session:
        found = list_roles(session, find_competition(session, competition))
    if as_json:
        print_json({"roles": [one.model_dump(mode="json") for one in found]})
    else:
        rows = [(one.username, one.role, ", ".join(one.rights), moment_words(one.granted_at)) for one in found]
        print_table(["User", "Role", "Rights", "Since (UTC)"], rows)


@roles.command()
def grant(
    competition: CompetitionArgument,
    user: UserArgument,
    role: RoleArgument,
    right: RightOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a user a role."""
    from app.competitions.find import find_competition
    from app.competitions.organisers import give_role
    from app.people.rights import find_user

    wanted, rights = _role(role), _rights(right, role)
    with server_database(data_dir) as session:
        found, person = find_competition(session, competition), find_user(session, user)
        changed = give_role(command_line_act(session), found, person, wanted, rights)
        name = person.username
    _print_change(as_json, name, role, changed, f"{name} is {role} of {competition}.", f"{name} was {role} already.")


@roles.command()
def revoke(
    competition: CompetitionArgument,
    user: UserArgument,
    role: RoleArgument,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a role; an annotator can no longer judge, and marks already given stay."""
    from app.competitions.find import find_competition
    from app.competitions.organisers import take_role
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        found, person = find_competition(session, competition), find_user(session, user)
        changed = take_role(command_line_act(session), found, person, _role(role))
        name = person.username
    _print_change(
        as_json, name, role, changed, f"{name} is no longer {role} of {competition}.", f"{name} was no {role}."
    )


@roles.command("rights")
def change(
    competition: CompetitionArgument,
    user: UserArgument,
    rights: Annotated[
        list[str], typer.Argument(metavar="RIGHT...", help="Rights: edit, submissions, gold, messages, or all.")
    ],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set an organiser's permissions; the owner of a competition holds every right."""
    from app.competitions.find import find_competition
    from app.competitions.organisers import change_rights
    from app.models import rights_text
    from app.people.rights import find_user

    wanted = _rights(rights, "organiser")
    with server_database(data_dir) as session:
        found, person = find_competition(session, competition), find_user(session, user)
        changed = change_rights(command_line_act(session), found, person, wanted or ())
        name, held = person.username, rights_text(wanted or ()).split()
    if as_json:
        print_json({"username": name, "rights": held, "changed": changed})
    else:
        say(f"{name} may {', '.join(held)}." if changed else f"{name} already has exactly these rights.")


@roles.command()
def owner(
    competition: CompetitionArgument, user: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Hand a competition over to one of its organisers, in whose quota it counts from then on."""
    from app.administration.live import current_settings
    from app.base.config import get_settings
    from app.competitions.find import find_competition
    from app.competitions.organisers import hand_over, limits_of

    with server_database(data_dir) as session:
        found = find_competition(session, competition)
        limits = limits_of(current_settings(session, get_settings()))
        name = hand_over(command_line_act(session), found, user, limits).username
    if as_json:
        print_json({"owner": name})
    else:
        say(f"{name} owns {competition}.")


# -------------------------------------------------------------------------------------------------------- invitations


@roles.command()
def invite(
    competition: CompetitionArgument,
    whom: Annotated[str, typer.Argument(metavar="WHOM", help="An e-mail address, or a user name.")],
    role: RoleArgument,
    right: RightOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Invite somebody to a role by mail, with or without an account; another invitation replaces the first."""
    from app.competitions.find import find_competition
    from app.people import invitations

    wanted, rights = _role(role), _rights(right, role)
    with server_database(data_dir) as session:
        found = find_competition(session, competition)
        invited = invitations.invite(command_line_act(session), found, whom, wanted, rights=rights)
    if as_json:
        print_json(invited.model_dump(mode="json"))
    else:
        say(f"{invited.address} is invited until {moment_words(invited.expires_at)}.")


@roles.command("invitations")
def show_invitations(
    competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """List the invitations that nobody has answered yet."""
    from app.competitions.find import find_competition
    from app.people.invitations import open_invitations

    with server_database(data_dir) as session:
        listed = open_invitations(session, find_competition(session, competition), datetime.now(UTC))
    if as_json:
        print_json({"invitations": [one.model_dump(mode="json") for one in listed]})
        return
    rows = [
        (str(one.id), one.address or "(the link)", one.role, ", ".join(one.rights), moment_words(one.expires_at))
        for one in listed
    ]
    print_table(["Id", "Whom", "Role", "Rights", "Until (UTC)"], rows, numbers=["Id"])


@roles.command("take-back")
def take_back(
    competition: CompetitionArgument,
    invitation: Annotated[int, typer.Argument(metavar="ID", help="Number shown by `evergold role invitations`.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cancel an invitation."""
    from app.competitions.find import find_competition
    from app.people import invitations

    with server_database(data_dir) as session:
        found = find_competition(session, competition)
        invitations.take_back(command_line_act(session), found, invitation)
    if as_json:
        print_json({"id": invitation})
    else:
        say(f"Invitation {invitation} is cancelled.")


def _role(name: str) -> Role:
    from app.models import Role

    try:
        return Role(name)
    except ValueError:
        raise CommandError(f"'{name}' is not a role; there are {', '.join(Role)}.", Code.USAGE) from None


def _rights(names: Sequence[str] | None, role: str) -> list[Right] | None:
    """Return the rights; None if no names are given. Raises CommandError."""
    from app.models import Right

    if names and role != "organiser":
        raise CommandError("Only organisers have rights.", Code.USAGE)
    wrong = [name for name in names or () if name != "all" and name not in tuple(Right)]
    if wrong:
        raise CommandError(f"'{wrong[0]}' is not a right; there are {', '.join(Right)}.", Code.USAGE)
    if not names:
        return None
    return list(Right) if "all" in names else [Right(name) for name in names]


def _print_change(as_json: bool, username: str, role: str, changed: bool, done: str, nothing: str) -> None:
    if as_json:
        print_json({"username": username, "role": role, "changed": changed})
    else:
        say(done if changed else nothing)
