"""`evergold admin …`: the running server: queue, pausing, draining, storage, mails, limits, health, reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, command_line_act, server_database, use_settings
from evergold.cli.output import Code, CommandError, JsonOption, count, print_json, print_table, remark, say
from evergold.moments import moment_words

operations = typer.Typer()

Place = Annotated[
    str,
    typer.Argument(metavar="[COMPETITION[/TASK]]", help="COMPETITION or COMPETITION/TASK; default: the whole server."),
]
Why = Annotated[str, typer.Option("--reason", metavar="WORDS", help="Reason, shown to organisers.")]
Host = Annotated[str, typer.Argument(metavar="MACHINE", help="Machine, as named by `evergold admin queue`.")]


@operations.command()
def queue(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show what waits and why, what runs, workers, and what is paused."""
    from app.administration.queue import queue_now
    from app.base.config import get_settings

    with server_database(data_dir) as session:
        found = queue_now(session, get_settings(), _now())
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    waiting = [
        (f"{one.competition}/{one.phase}/{one.task}", one.kind, str(one.count), moment_words(one.oldest_at), one.why)
        for one in found.waiting
    ]
    _table(["Waiting", "What", "Number", "Since", "Why"], waiting, "Nothing waits.", numbers=["Number"])
    running = [
        (f"{one.competition}/{one.phase}/{one.task}", one.team, one.worker, moment_words(one.started_at))
        for one in found.running
    ]
    _table(["Running", "Team", "Worker", "Since"], running, "Nothing runs.")
    workers = [
        (one.name, one.host, ", ".join(one.queues), "drained" if one.is_drained else "") for one in found.workers
    ]
    _table(["Worker", "Machine", "Queues", ""], workers, "No worker is running.")
    holds = [(one.host or one.place or "server", one.reason, moment_words(one.held_at)) for one in found.holds]
    _table(["Paused", "Why", "Since"], holds, "Nothing is paused.")
    if found.failed:
        remark(f"{count(found.failed, 'failed run')}: `evergold runs --failed`, `evergold admin run-again`.")


@operations.command()
def pause(place: Place = "", reason: Why = "", data_dir: DataDirOption = None) -> None:
    """Pause scoring until it is resumed, even across restarts; uploads are still accepted, and wait."""
    _hold(place, "", reason, data_dir)
    say(f"Scoring is paused: {place or 'the whole server'}.")


@operations.command()
def resume(place: Place = "", data_dir: DataDirOption = None) -> None:
    """Resume scoring that was paused."""
    _lift(place, "", data_dir)
    say("Scoring is resumed; waiting submissions go to the workers within a minute.")


@operations.command()
def drain(host: Host, reason: Why = "", data_dir: DataDirOption = None) -> None:
    """Let the workers of a machine finish their work and take no more until `undrain`, even across restarts."""
    _hold("", host, reason, data_dir)
    say(f"The workers of {host} take no more work; `evergold admin queue` shows what they still run.")


@operations.command()
def undrain(host: Host, data_dir: DataDirOption = None) -> None:
    """Let the workers of a drained machine take work again."""
    _lift("", host, data_dir)
    say(f"The workers of {host} take work again.")


@operations.command(name="run-again")
def run_again(
    run: Annotated[list[int] | None, typer.Argument(metavar="[RUN]...", help="Runs; default: all failed runs.")] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Run failed runs of any competition again."""
    from app.administration.queue import run_again as run_failed_again

    with server_database(data_dir) as session:
        number = run_failed_again(command_line_act(session), run or [])
    say(f"{count(number, 'run')} will be scored again; the sweep notifies the workers.")


@operations.command(name="storage")
def show_storage(
    unowned: Annotated[bool, typer.Option("--unowned", help="Also count files that nothing refers to.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show files by competition and kind, and free space."""
    from app.administration.storage import count_unowned, storage_now
    from app.base.config import get_settings
    from app.base.db import get_engine
    from app.base.text import readable_size

    with server_database(data_dir) as session:
        found = storage_now(session, get_settings())
    if unowned:
        counted = count_unowned(get_engine(get_settings().database_address), get_settings())
        found = found.model_copy(update={"unowned": counted})
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    rows = [(one.competition or "–", one.kind, str(one.files), readable_size(one.size_bytes)) for one in found.stored]
    _table(["Competition", "Kind", "Files", "Size"], rows, "Nothing is stored.", numbers=["Files", "Size"])
    for one in found.space:
        say(f"{one.folder}: {readable_size(one.free_bytes)} of {readable_size(one.total_bytes)} free")
    if found.unowned:
        say(f"Nobody owns {count(found.unowned.files, 'file')}, {readable_size(found.unowned.size_bytes)}.")


@operations.command()
def mails(
    send_again: Annotated[bool, typer.Option("--send-again", help="Send the listed mails again.")] = False,
    mail: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="With --send-again: only this mail; may be repeated.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List mails that could not be delivered, and why."""
    if mail and not send_again:
        raise CommandError("--mail goes with --send-again.", Code.USAGE)
    from app.administration.mails import failed_mails, try_again

    with server_database(data_dir) as session:
        found = failed_mails(session)
        again = try_again(command_line_act(session), mail or []) if send_again else 0
    if as_json:
        print_json({**found.model_dump(mode="json"), "sent_again": again})
        return
    rows = [(str(one.id), one.recipient, one.subject, one.reason, moment_words(one.failed_at)) for one in found.failed]
    _table(["Mail", "To", "Subject", "Why", "When"], rows, "No mail has failed.", numbers=["Mail"])
    remark(f"{count(found.waiting, 'mail')} waiting to be sent.")
    if send_again:
        say(f"{count(again, 'mail')} will be tried again.")


@operations.command()
def limits(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the requests that rate limits refused, by hour and rule."""
    from app.administration.operations_views import RefusedList
    from app.administration.refusals import list_refused

    with server_database(data_dir) as session:
        found = RefusedList(refused=list_refused(session))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    rows = [(moment_words(one.hour), one.rule, one.who or "all", str(one.count)) for one in found.refused]
    _table(["Hour", "Rule", "Account", "Refused"], rows, "No request was refused lately.", numbers=["Refused"])


@operations.command()
def health(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show everything that the server knows about its own health; exit code 1 if a part is not well."""
    use_settings(data_dir)
    from app.administration.health import health_now
    from app.base.config import get_settings
    from app.base.db import get_engine

    parts = health_now(get_engine(get_settings().database_address), get_settings(), _now())
    if as_json:
        print_json({"parts": [one.model_dump(mode="json") for one in parts]})
    else:
        print_table(["Part", "", "Is"], [(one.name, "" if one.is_well else "not well", one.says) for one in parts])
    if not all(one.is_well for one in parts):
        raise typer.Exit(Code.ERROR)


@operations.command()
def reports(
    competition: Annotated[str, typer.Argument(metavar="[COMPETITION]", help="Default: all.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the open reports of texts, with who reported."""
    from app.competitions.find import find_competition
    from app.moderation.reports import REASON_WORDS, list_reports
    from app.moderation.views import TextReportList, TextReportOut

    with server_database(data_dir) as session:
        here = find_competition(session, competition) if competition else None
        listed = [TextReportOut.of(one, names_reporter=True) for one in list_reports(session, here)]
    if as_json:
        print_json(TextReportList(reports=listed).model_dump(mode="json"))
        return
    rows = [
        (str(one.id), one.competition, one.kind, one.shown, REASON_WORDS[one.reason], one.reporter or "")
        for one in listed
    ]
    _table(["Report", "Competition", "Kind", "Text", "Why", "By"], rows, "No report is open.", numbers=["Report"])


def _now() -> datetime:
    return datetime.now(UTC)


def _table(columns: Sequence[str], rows: Sequence[tuple[str, ...]], none: str, numbers: Sequence[str] = ()) -> None:
    if rows:
        print_table(list(columns), list(rows), numbers=list(numbers))
    else:
        say(none)


def _hold(place: str, host: str, reason: str, data_dir: Path | None) -> None:
    from app.administration.queue import hold_scoring, target_at

    with server_database(data_dir) as session:
        hold_scoring(command_line_act(session), target_at(session, place, host), reason or "on the command line")


def _lift(place: str, host: str, data_dir: Path | None) -> None:
    from app.administration.queue import resume_scoring, target_at

    with server_database(data_dir) as session:
        resume_scoring(command_line_act(session), target_at(session, place, host))
