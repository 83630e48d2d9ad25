"""`evergold admin …`: people, competitions, settings and announcements, as on the administrators' pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import looks
from app.cli.account import UserArgument
from app.cli.settings import DataDirOption, command_line_act, server_database
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption, print_json, print_table, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from app.administration.people import Group, Organising
    from app.models import Severity

commands = typer.Typer()
admin_commands = typer.Typer(no_args_is_help=True)
commands.add_typer(admin_commands, name="admin", help="Administration of this server.", rich_help_panel=RUNNING)
admin_commands.add_typer(looks.commands)


# ------------------------------------------------------------------------------------------------------------- people


@admin_commands.command("people")
def list_people(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Text to find in names, addresses and names of teams.")
    ] = "",
    group: Annotated[str, typer.Option(help="Group: all, blocked, unconfirmed, organisers or administrators.")] = "all",
    after: Annotated[str, typer.Option(metavar="USER", help="Last user name of the previous page.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search the people of this server, fifty at a time, by user name."""
    from app.administration.people import Search, search_people

    with server_database(data_dir) as session:
        found = search_people(session, Search(text, _group(group), after))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    rows = [
        (one.username, one.display_name, one.email, "blocked" if one.blocked_at else one.organising)
        for one in found.accounts
    ]
    print_table(["User", "Name", "Address", "State"], rows)
    if found.next_after:
        say(f"More: --after {found.next_after}")


def _group(name: str) -> Group:
    from app.administration.people import GROUPS

    found = next((one for one in GROUPS if one == name), None)
    if found is None:
        raise CommandError(f"'{name}' is not a group; choose one of {', '.join(GROUPS)}.", Code.USAGE)
    return found


@admin_commands.command("person")
def show_person(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show an account: address, teams, roles, competitions, log-ins, limits."""
    from app.administration.live import current_settings
    from app.administration.people import describe
    from app.base.config import get_settings
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        settings = current_settings(session, get_settings())
        found = describe(session, find_user(session, username), settings, datetime.now(UTC))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_table(["What", "Value"], [(name, _words(value)) for name, value in found.model_dump(mode="json").items()])


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


@admin_commands.command()
def block(
    username: UserArgument,
    reason: Annotated[str, typer.Option(help="Reason, shown to the person.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Block an account: log-ins, tokens and everything under way end at once; submissions and teams stay."""
    from app.administration.people import block as block_account
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = block_account(command_line_act(session), user, reason)
    _report(as_json, user.username, changed, "is blocked", "was blocked already; the reason is the new one")


@admin_commands.command()
def unblock(username: UserArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Unblock an account; its tokens stay revoked."""
    from app.administration.people import unblock as unblock_account
    from app.people.rights import find_user

    with server_database(data_dir) as session:
        user = find_user(session, username)
        changed = unblock_account(command_line_act(session), user)
    _report(as_json, user.username, changed, "may log in again", "was not blocked")


@admin_commands.command("organiser")
def set_organiser(
    username: UserArgument,
    organising: Annotated[
        str,
        typer.Argument(
            metavar="RULE", help="Whether the person may organise: rule (as the server decides), approved or barred."
        ),
    ],
    competitions: Annotated[
        int | None, typer.Option(help="Number of competitions that the person may own; default: the server's limit.")
    ] = None,
    mebibytes: Annotated[int | None, typer.Option(help="Size of files and gold; default: the server's limit.")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set whether somebody may create competitions, and limits of their own."""
    from app.administration.people import OrganiserRules, set_organiser_rules
    from app.people.rights import find_user

    known: tuple[Organising, ...] = ("rule", "approved", "barred")
    rule = next((one for one in known if one == organising), None)
    if rule is None:
        raise CommandError(f"'{organising}' is not a rule; choose one of {', '.join(known)}.", Code.USAGE)
    with server_database(data_dir) as session:
        user, rules = find_user(session, username), OrganiserRules(rule, competitions, mebibytes)
        changed = set_organiser_rules(command_line_act(session), user, rules)
    _report(as_json, user.username, changed, "has these rules now", "has exactly these rules")


def _report(as_json: bool, username: str, changed: bool, done: str, nothing: str) -> None:
    if as_json:
        print_json({"username": username, "changed": changed})
    else:
        say(f"{username} {done if changed else nothing}.")


@admin_commands.command("ban-domain")
def ban(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="Domain; its subdomains are banned too.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Refuse new addresses of a mail domain; existing accounts stay."""
    from app.administration.people import ban_domain
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        made = ban_domain(command_line_act(session), domain, environment=get_settings())
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"Banned: {made.value}.")


# ------------------------------------------------------------------------------------------------------- competitions


@admin_commands.command("competitions")
def list_competitions(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List all competitions by size, with owner and last submission."""
    from app.administration.competitions import list_sizes
    from app.base.text import readable_size

    with server_database(data_dir) as session:
        found = list_sizes(session)
    if as_json:
        print_json({"competitions": [one.model_dump(mode="json") for one in found]})
        return
    rows = [
        (
            one.name,
            one.stage,
            one.owner or "the server",
            str(one.submissions),
            readable_size(one.submitted_bytes + one.organisers_bytes),
            moment_words(one.last_submission_at) if one.last_submission_at else "",
        )
        for one in found
    ]
    headings = ["Competition", "Status", "Owner", "Submissions", "Size", "Last submission (UTC)"]
    print_table(headings, rows, numbers=["Submissions", "Size"])


@admin_commands.command("transfer")
def give(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    username: UserArgument,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make somebody the owner of a competition, and first an organiser if needed."""
    from app.administration.competitions import transfer
    from app.administration.live import current_settings
    from app.base.config import get_settings
    from app.competitions.find import find_competition
    from app.competitions.organisers import limits_of

    with server_database(data_dir) as session:
        found, limits = find_competition(session, competition), limits_of(current_settings(session, get_settings()))
        owner = transfer(command_line_act(session), found, username, limits).username
    if as_json:
        print_json({"owner": owner})
    else:
        say(f"{owner} owns {competition}.")


# ----------------------------------------------------------------------------------------------------------- settings


@admin_commands.command("settings")
def show_settings(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the settings that may change while the server runs."""
    from app.administration.settings import list_settings
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        found = list_settings(session, get_settings())
    if as_json:
        print_json({"settings": [one.model_dump(mode="json") for one in found]})
        return
    rows = [(one.name, str(one.value), str(one.environment), one.changed_by or "") for one in found]
    print_table(["Setting", "Now", "Environment", "Changed by"], rows)


SettingArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name shown by `evergold admin settings`.")]


@admin_commands.command("set")
def change(
    name: SettingArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a setting while the server runs; its processes notice within two seconds."""
    from app.administration.settings import change_setting
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        made = change_setting(command_line_act(session), name, value, environment=get_settings())
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"{name} is {made.value}.")


@admin_commands.command()
def reset(name: SettingArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Set a setting back to its value in the environment."""
    from app.administration.settings import reset_setting
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        made = reset_setting(command_line_act(session), name, environment=get_settings())
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"{name} is {made.value} again.")


# ------------------------------------------------------------------------------------------------------ announcements


@admin_commands.command("announcements")
def show_announcements(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the announcements to everybody, those ahead included."""
    from app.administration.live import list_announcements

    with server_database(data_dir) as session:
        found = list_announcements(session, datetime.now(UTC))
    if as_json:
        print_json({"announcements": [one.model_dump(mode="json") for one in found]})
        return
    rows = [
        (
            str(one.id),
            one.severity,
            moment_words(one.starts_at),
            moment_words(one.ends_at) if one.ends_at else "",
            one.text,
        )
        for one in found
    ]
    print_table(["Id", "Severity", "From (UTC)", "Until (UTC)", "Text"], rows, numbers=["Id"])


@admin_commands.command("announce")
def announce(
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    severity: Annotated[str, typer.Option(help="Severity: info, warning or urgent.")] = "info",
    starts: Annotated[str, typer.Option("--from", metavar="MOMENT", help="Default: now.")] = "",
    ends: Annotated[str, typer.Option("--until", metavar="MOMENT", help="End; default: until you end it.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Announce something to everybody: a banner on every page, for instance until `2026-02-03 20:00 UTC`."""
    from app.administration.announcements import NewAnnouncement, announce as announce_to_all

    with server_database(data_dir) as session:
        wanted = NewAnnouncement(text, _severity(severity), _moment("--from", starts), _moment("--until", ends))
        made = announce_to_all(command_line_act(session), wanted)
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"Announcement {made.id} is shown from {moment_words(made.starts_at)}.")


def _severity(name: str) -> Severity:
    from app.models import Severity

    try:
        return Severity(name)
    except ValueError:
        raise CommandError(f"'{name}' is not a severity; choose one of {', '.join(Severity)}.", Code.USAGE) from None


def _moment(option: str, text: str) -> datetime | None:
    from app.base.times import parse_moment

    try:
        return parse_moment(text) if text else None
    except ValueError as error:
        raise CommandError(f"{option}: {error}.", Code.USAGE) from None


@admin_commands.command("end-announcement")
def end(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number shown by `evergold admin announcements`.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """End an announcement, or cancel it before it starts."""
    from app.administration.announcements import end_announcement

    with server_database(data_dir) as session:
        end_announcement(command_line_act(session), number)
    if as_json:
        print_json({"id": number})
    else:
        say(f"Announcement {number} has ended.")
