"""`evergold registration` and `evergold team …`: taking part in a competition, alone or with others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from evergold.cli.connection import ServerOption, chosen, connected
from evergold.cli.output import (
    TOGETHER,
    Code,
    CommandError,
    JsonOption,
    event_words,
    local_deadline,
    print_json,
    print_table,
    say,
)

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()
teams = typer.Typer(no_args_is_help=True, help="Your team in a competition.")
commands.add_typer(teams, name="team", rich_help_panel=TOGETHER)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
MemberArgument = Annotated[str, typer.Argument(metavar="USER", help="A member's user name.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME")]


@commands.command(rich_help_panel=TOGETHER)
def registration(
    competition: CompetitionArgument,
    register: Annotated[bool, typer.Option("--register", help="Register, or register again after a change.")] = False,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="With --register: accept the terms, which you have read.")
    ] = False,
    answer: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="NAME=ANSWER", help="With --register: an answer; for a tick, yes or no."),
    ] = None,
    code: Annotated[str, typer.Option("--code", help="With --register: the code from the organisers.")] = "",
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show your registration in a competition, its terms and questions; or register."""
    if (accept_terms or answer or code) and not register:
        raise CommandError("--accept-terms, --answer and --code need --register.", Code.USAGE)
    path = f"/competitions/{quote(competition, safe='')}/registration"
    document = _call(server, "GET", path)
    if register:
        accepted = document["terms_sha256"] if accept_terms else None
        answers = {**document["answers"], **_answers(answer)} if answer else None
        form = {"accepted_terms_sha256": accepted, "answers": answers} | ({"code": code} if code else {})
        document = _call(server, "PUT", path, json=form)
    if as_json:
        print_json(document)
        return
    if document["terms"] and not document["has_accepted_terms"]:
        say(f"Terms:\n\n{document['terms'].rstrip()}\n")
    _print_questions(document)
    say(document["message"] or f"You can take part in {competition}.")


def _answers(written: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in written]
    if not all(name and sign for name, sign, _ in pairs):
        raise CommandError("Write an answer as NAME=ANSWER.", Code.USAGE)
    return {name: text for name, _, text in pairs}


def _print_questions(document: Json) -> None:
    """Print the questions of the registration, with the given answers."""
    if not document.get("questions"):  # older servers have no questions
        return
    rows = [
        (
            one["name"],
            one["title"],
            f"{one['kind']}{', required' if one['required'] else ''}",
            _answer_text(document["answers"].get(one["name"])),
        )
        for one in document["questions"]
    ]
    print_table(["Question", "Title", "Kind", "Your answer"], rows)


def _answer_text(answer: str | bool | None) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer or ""


@teams.command("show")
def show(competition: CompetitionArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Show your team and its members."""
    _show(_call(server, "GET", _path(competition)), as_json)


@teams.command()
def create(
    competition: CompetitionArgument, name: NameArgument, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Create a team; you are its captain."""
    _show(_call(server, "POST", _path(competition), json={"name": name}), as_json)


@teams.command()
def rename(
    competition: CompetitionArgument, name: NameArgument, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Rename your team, as its captain, until names are fixed."""
    _show(_call(server, "PUT", _path(competition, "name"), json={"name": name}), as_json)


@teams.command()
def invite(
    competition: CompetitionArgument,
    revoke: Annotated[bool, typer.Option("--revoke", help="End the current link.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a link that lets others join your team; the previous one ends."""
    document = _call(server, "DELETE" if revoke else "POST", _path(competition, "invitation"))
    if as_json:
        print_json(document or {"link": None})
    else:
        say("The link no longer works." if revoke else document["link"])


@teams.command()
def join(
    competition: CompetitionArgument,
    invitation: Annotated[str, typer.Argument(metavar="LINK", help="The link that the team sent you.")],
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Join the team that invites you; if you are alone in another team, you leave it."""
    _show(_call(server, "POST", _path(competition, "members"), json={"invitation": invitation}), as_json)


@teams.command()
def leave(competition: CompetitionArgument, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """Leave your team; what it submitted stays with it."""
    _call(server, "DELETE", _path(competition))
    _done(as_json, "You have left your team.")


@teams.command()
def remove(
    competition: CompetitionArgument, username: MemberArgument, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Remove a member, as the captain; the invitation link ends, too."""
    _call(server, "DELETE", _path(competition, "members", username))
    _done(as_json, f"{username} is no longer a member.")


@teams.command()
def transfer(
    competition: CompetitionArgument, username: MemberArgument, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Make another member the captain."""
    _show(_call(server, "PUT", _path(competition, "captain"), json={"username": username}), as_json)


@teams.command()
def merge(
    competition: CompetitionArgument,
    ask: Annotated[str, typer.Option("--ask", metavar="TEAM", help="Offer this team to merge into yours.")] = "",
    accept: Annotated[
        str,
        typer.Option(
            ("--accept"),
            metavar="TEAM",
            help="Accept the offer of this team and become part of it; this cannot be undone.",
        ),
    ] = "",
    end: Annotated[
        str, typer.Option(("--end"), metavar="TEAM", help="Decline the offer of this team, or cancel yours.")
    ] = "",
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show open offers to merge; as the captain, offer a merge to another team, or answer one."""
    if sum(map(bool, (ask, accept, end))) > 1:
        raise CommandError("Give one of --ask, --accept and --end.", Code.USAGE)
    path = _path(competition, "merging")
    if ask:
        _call(server, "POST", path, json={"team": ask})
    document = _call(server, "GET", path)
    if accept:
        _call(server, "POST", f"{path}/{_offer(document['to_us'], 'asking', accept)}/acceptance")
        _show(_call(server, "GET", _path(competition)), as_json)
        return
    if end:
        offers = [{**one, "other": one["asking"]} for one in document["to_us"]]
        offers += [{**one, "other": one["asked"]} for one in document["by_us"]]
        _call(server, "DELETE", f"{path}/{_offer(offers, 'other', end)}")
        document = _call(server, "GET", path)
    if as_json:
        print_json(document)
        return
    _print_offers(document)


def _offer(offers: list[Json], side: str, team: str) -> int:
    """Return the id of the offer with this team."""
    found = next((one["id"] for one in offers if one[side] == team), None)
    if found is None:
        raise CommandError(f"There is no open offer from or to '{team}'.", Code.REFUSED)
    return int(found)


def _print_offers(document: Json) -> None:
    until = document["merge_until"]
    say(f"Teams may merge until {local_deadline(until)}." if until else "Teams cannot merge in this competition.")
    rows = [(one["asking"], one["asked"], one["asked_by"], event_words(one["asked_at"])) for one in document["to_us"]]
    rows += [(one["asking"], one["asked"], one["asked_by"], event_words(one["asked_at"])) for one in document["by_us"]]
    if rows:
        print_table(["Asks", "Is asked", "By", "At"], rows)


def _path(competition: str, *more: str) -> str:
    return "/".join(["/competitions", quote(competition, safe=""), "team", *(quote(part, safe="") for part in more)])


def _call(server: str | None, method: str, path: str, **body: Json) -> Json:
    """Send a request and return the server's response as a JSON object; {} if it has no content."""
    address, token = chosen(server)
    with connected(address, token) as client:
        answer = client.get(path) if method == "GET" else client.send(method, path, **body)
        document: Json = answer.json() if answer.content else {}
        return document


def _show(document: Json, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    say(document["name"])
    rows = [
        (one["username"], one["display_name"], "captain" if one["is_captain"] else "member")
        for one in document["members"]
    ]
    print_table(["User", "Name", "Role"], rows)


def _done(as_json: bool, sentence: str) -> None:
    if as_json:
        print_json({"done": sentence})
    else:
        say(sentence)
