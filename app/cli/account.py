"""`evergold account …`: accounts of this server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.settings import DataDirOption, command_line_act, server_database
from evergold.cli.output import (
    RUNNING,
    Code,
    CommandError,
    JsonOption,
    ask,
    print_json,
    print_table,
    read_password,
    remark,
    say,
)

if TYPE_CHECKING:
    from app.models import OrganisingRequest

commands = typer.Typer()
account_commands = typer.Typer(no_args_is_help=True)
commands.add_typer(account_commands, name="account", help="The accounts of this server.", rich_help_panel=RUNNING)


UserArgument = Annotated[str, typer.Argument(metavar="USER", help="User name or e-mail address.")]


@account_commands.command()
def create(
    username: Annotated[str, typer.Argument(metavar="USER", help="3 to 40 characters: a-z, digits, and . _ - inside.")],
    email: Annotated[str, typer.Option(help="The e-mail address; prompted for if missing.")] = "",
    display_name: Annotated[str, typer.Option(help="The name that boards show; default: the user name.")] = "",
    admin: Annotated[
        bool, typer.Option("--admin", help="Make the account an administrator, who organises every competition.")
    ] = False,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create an account with an address that you vouch for."""
    from app.people.auth import NewAccount, make_account

    email = email or ask("The e-mail address", "--email")
    password = read_password(password_stdin, confirm=True)
    with server_database(data_dir) as session:
        account = NewAccount(username, email, password, display_name)
        user = make_account(session, account, datetime.now(UTC), is_administrator=admin)
    if as_json:
        print_json({"username": user.username, "email": user.email, "is_administrator": user.is_administrator})
    else:
        say(f"{user.username} has an account" + (", and is an administrator." if admin else "."))


@account_commands.command()
def approve(
    username: UserArgument,
    take_back: Annotated[bool, typer.Option("--take-back", help="Revoke the permission.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let somebody create competitions in the browser, where EVERGOLD_ORGANISE is `approved`."""
    from app.people.auth import approve_organiser
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = approve_organiser(session, user, not take_back, datetime.now(UTC))
        name = user.username
    if as_json:
        print_json({"username": name, "is_approved_organiser": not take_back, "changed": changed})
    else:
        say(f"{name} {'may no longer create competitions' if take_back else 'may create competitions'}.")


@account_commands.command()
def promote(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Make a user an administrator, who organises every competition."""
    from app.people.auth import promote as make_administrator
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = make_administrator(session, user, datetime.now(UTC))
    if as_json:
        print_json({"username": user.username, "changed": changed})
    else:
        say(f"{user.username} is an administrator." if changed else f"{user.username} was an administrator already.")


@account_commands.command()
def demote(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Make an administrator a user like others; the last one who can log in stays."""
    from app.people.auth import demote as revoke_administration
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = revoke_administration(session, user, datetime.now(UTC))
        name = user.username
    if as_json:
        print_json({"username": name, "changed": changed})
    else:
        say(f"{name} is no longer an administrator." if changed else f"{name} was not an administrator.")


@account_commands.command()
def confirm(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Confirm a user's e-mail address for them, as the mailed link would; their tokens are revoked."""
    from app.people.audit import actor_name
    from app.people.email_confirmations import believe
    from app.people.rights import find_user
    from app.teams.registration import settle_confirmed

    with server_database(data_dir) as session:
        user, now = find_user(session, username), datetime.now(UTC)
        changed = believe(session, user, now, actor=actor_name(None))
        settle_confirmed(session, user, now)
    if as_json:
        print_json({"username": user.username, "email": user.email, "changed": changed})
    else:
        say(f"{user.email} is {user.username}'s." if changed else f"{user.email} was confirmed already.")


@account_commands.command("clear-second-factor")
def clear_second_factor(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Remove the second factor of a user who has lost it, and end their log-ins."""
    from app.base.config import get_settings
    from app.people.rights import find_user
    from app.people.second_factor import clear

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = clear(session, user, get_settings(), datetime.now(UTC), actor=None)
    if as_json:
        print_json({"username": user.username, "changed": changed})
    else:
        say(f"{user.username} {'logs in without a second factor now' if changed else 'had no second factor'}.")


@account_commands.command("reset-link")
def reset_link(
    username: UserArgument,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a link that lets a user choose a new password, once; you hand it over."""
    from app.base.config import get_settings
    from app.people.password_resets import make_link

    with server_database(data_dir) as session:
        settings = get_settings()
        user, link = make_link(session, username, settings, datetime.now(UTC))
    if as_json:
        print_json({"username": user.username, "link": link, "minutes": settings.password_reset_minutes})
    else:
        remark(f"For {user.username}, within {settings.password_reset_minutes} minutes:")
        say(link)


@account_commands.command()
def delete(
    username: UserArgument,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Delete now, without the days in which the deletion can be undone.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Cancel the deletion.")] = False,
    is_sure: Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete an account as its owner could: after some days; boards that need its submissions keep them, unnamed."""
    from app.people.rights import find_user
    from app.privacy.deletions import carry_out, describe_deletion, plan_account_deletion, undo_account_deletion

    if undo and at_once:
        raise CommandError("Give --undo or --at-once, not both.", Code.USAGE)
    if at_once and not is_sure:
        typer.confirm(f"Delete {username} for good?", abort=True, err=True)
    with server_database(data_dir) as session:
        act, user = command_line_act(session), find_user(session, username)
        name, is_done = user.username, False
        if undo:
            undo_account_deletion(act, user)
        else:
            plan_account_deletion(act, user, at_once=at_once)
            is_done = at_once and carry_out(session, user.id, act.settings, act.now)
        found = describe_deletion(session, user, act.settings)
    if as_json:
        print_json({"username": name, "is_deleted": is_done, **found.model_dump(mode="json")})
    elif undo:
        say(f"{name} stays.")
    elif is_done:
        say(f"{name} is deleted.")
    elif at_once:
        say(f"{name} will be deleted by the sweep as soon as the submissions in the queue are scored.")
    else:
        say(f"{name} will be deleted on {found.due_at:%Y-%m-%d %H:%M} (UTC); --undo keeps the account until then.")


@account_commands.command("requests")
def show_requests(
    everything: Annotated[bool, typer.Option("--all", help="Also list answered requests.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List requests to create competitions; `evergold account answer` answers them."""
    from app.people.organising_requests import list_requests

    with server_database(data_dir) as session:
        found = [_request(one) for one in list_requests(session, only_open=not everything)]
    if as_json:
        print_json({"requests": found})
        return
    if not found:
        say("No request is waiting for an answer." if not everything else "There are no requests.")
        return
    rows = [
        (str(one["id"]), one["asked_at"], f"{one['username']} <{one['email']}>", _answer_text(one), one["text"])
        for one in found
    ]
    print_table(["Id", "Asked (UTC)", "Who", "Answer", "What"], rows, numbers=["Id"])


@account_commands.command()
def answer(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number shown by `evergold account requests`.")],
    is_approved: Annotated[
        bool | None,
        typer.Option("--approve/--refuse", help="Whether the person may create competitions.", show_default=False),
    ] = None,
    text: Annotated[str, typer.Option("--text", help="A sentence to add to the answer.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a request to create competitions; the answer goes out by mail."""
    from app.people.organising_requests import answer_request

    if is_approved is None:
        raise CommandError("Give --approve or --refuse.", Code.USAGE)
    with server_database(data_dir) as session:
        made = answer_request(command_line_act(session), number, is_approved=is_approved, text=text)
        found = _request(made)
    if as_json:
        print_json(found)
    else:
        say(f"{found['username']} {'may create competitions' if is_approved else 'was refused'}.")


def _request(one: OrganisingRequest) -> dict[str, Any]:
    return {
        "id": one.id,
        "username": one.user.username,
        "email": one.user.email,
        "text": one.text,
        "asked_at": f"{one.asked_at:%Y-%m-%d %H:%M}",
        "is_approved": one.is_approved,
        "answer": one.answer,
        "answered_by": one.answered_by,
    }


def _answer_text(one: dict[str, Any]) -> str:
    if one["is_approved"] is None:
        return "none yet"
    decision = "approved" if one["is_approved"] else "refused"
    return f"{decision} by {one['answered_by']}{': ' if one['answer'] else ''}{one['answer']}"
