"""`evergold submit`: upload a file and wait for its scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.cards import read_card
from evergold.cli.connection import ServerOption, chosen, connected, parse_place
from evergold.cli.output import (
    SUBMITTING,
    Code,
    CommandError,
    JsonOption,
    print_json,
    print_problems,
    print_table,
    remark,
    say,
)
from evergold.split_titles import split_title

if TYPE_CHECKING:
    from evergold.client.results import Json


commands = typer.Typer()
INTERVAL = "95 % interval"
PredictionArgument = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]
#: Exit code for a submission's status; one that is not final is no error.
_CODES = {"scored": Code.OK, "rejected": Code.REJECTED, "failed": Code.FAILED}


@commands.command(rich_help_panel=SUBMITTING)
def submit(
    file: PredictionArgument,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="COMPETITION/PHASE/TASK", help="Destination, e.g. demo/evaluation/idiom-detection."
        ),
    ],
    track: Annotated[str, typer.Option(help="The track, if the competition has tracks.")] = "",
    system: Annotated[
        str, typer.Option(help="The name of your system: its submissions share a method card; default: the method.")
    ] = "",
    method: Annotated[str, typer.Option(help="A few words about your method; the board shows them.")] = "",
    description: Annotated[str, typer.Option(help="Notes for yourself and the organisers.")] = "",
    card: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="File with the method card, as JSON or YAML."),
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait for the scores.")] = True,
    idempotency_key: Annotated[
        str,
        typer.Option(metavar="KEY", help="Idempotency key: uploads with the same key count once; default: a new key."),
    ] = "",
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Submit a file and wait for its scores; the exit code reflects the status."""
    place, answers = parse_place(to, "TASK"), read_card(card) if card else None
    address, token = chosen(server)
    if not token:
        raise CommandError(f"You are not logged in to {address}: `evergold login`.", name="not_authenticated")
    with connected(address, token) as client:
        with upload_progress(file) as on_sent:
            submission = client.submit(
                file,
                place,
                wait=False,
                track=track,
                system=system,
                method=method,
                description=description,
                card=answers,
                idempotency_key=idempotency_key,
                on_sent=on_sent,
                on_retry=lambda reason: remark(f"The upload did not arrive ({reason}); trying again."),
            )
        remark(f"Accepted as {submission.id}: {submission.page}")
        if wait:
            with _live() as show:
                submission = client.wait_for(submission, lambda news: show(news.document))
    show_submission(submission.document, as_json)
    raise typer.Exit(outcome_code(submission.document))


def outcome_code(submission: Json) -> Code:
    """Return 0 if scored (or not final yet), 2 if rejected, 4 if failed."""
    return _CODES.get(submission["status"], Code.OK)


def show_submission(submission: Json, as_json: bool) -> None:
    """Print scores, problems, or the current status of the submission."""
    if as_json:
        print_json(submission)
        return
    say(_in_words(submission))
    if submission.get("withdrawn_at"):
        say("It was withdrawn and counts on no board.")
    show_standings(submission.get("standings", []))  # absent on older servers
    if submission["scores"]:
        show_scores(submission["scores"], submission["visibility"]["precision"])
    if submission["problems"]:
        if submission["status"] == "scored":
            say("Warnings:")
        print_problems(submission["problems"], submission["problems_omitted"])


def show_standings(standings: list[Json]) -> None:
    """Print a line for each board: score, rank, change, and whether it counts."""
    if not standings:
        return
    rows = [
        (
            one["board"],
            _digits(one["value"]),
            _signed(one["change"]),
            _signed(one["to_best"]),
            "" if one["rank_then"] is None else str(one["rank_then"]),
            "" if one["rank"] is None else f"{one['rank']} of {one['of']}",
            f"yes: {one['why']}" if one["counts"] else "" if one["counts"] is None else "no",
        )
        for one in standings
    ]
    heads = ["Board", "Score", "Change", "To best", "Rank at submission", "Current rank", "Counts"]
    print_table(heads, rows, numbers=["Score", "Change", "To best", "Rank at submission"])


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"


def show_scores(scores: list[Json], precision: int | None) -> None:
    """Print a row for each score, and below the table the parts that were not entered. precision: decimals that the
    phase shows.
    """
    from evergold.scoring.left_out import left_out

    missing = left_out([(score["split"], score["value"], score["reason"]) for score in scores])
    shown = [score for number, score in enumerate(scores) if number not in missing.rows]
    if shown:
        rows = [
            (score["metric"], split_title(score["split"]), _value(score, precision), *_interval(score))
            for score in shown
        ]
        columns = ["Metric", "Split", "Value", *([INTERVAL] if len(rows[0]) > 3 else ())]
        print_table(columns, rows, numbers=["Value", INTERVAL])
    if missing.parts:
        remark(f"Not entered: {', '.join(map(split_title, missing.parts))}.")


def _in_words(submission: Json) -> str:
    position = submission["queue_position"]
    return f"{submission['message']} Number {position} in line." if position else str(submission["message"])


def _interval(score: Json) -> tuple[str, ...]:
    """Return the cells to append for an interval: none if intervals were not requested, "" for a score without one."""
    if "interval" not in score:
        return ()
    found = score["interval"]
    if found is not None:
        return (f"{found['low']:.4f} to {found['high']:.4f}",)
    return (f"– ({score['interval_reason']})" if score.get("interval_reason") else "",)


def _value(score: Json, precision: int | None) -> str:
    decimals = 6 if precision is None else min(6, precision)
    return f"{score['value']:.{decimals}f}" if score["value"] is not None else f"– ({score['reason']})"


# --------------------------------------------------------------------------------------------------------- on the way


@contextmanager
def upload_progress(file: Path) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of the upload, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda sent_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Uploading", total=file.stat().st_size)
        yield lambda sent_bytes: progress.update(task, completed=sent_bytes)


@contextmanager
def _live() -> Iterator[Callable[[Json], None]]:
    """Yield a function that shows the submission's status in a line that changes on a terminal; elsewhere it prints one
    line if the submission waits for an absent worker.
    """
    if not sys.stderr.isatty():
        notified: set[str] = set()

        def tell_once(submission: Json) -> None:
            if submission.get("stage") == "waiting" and not notified:
                remark(_in_words(submission))
                notified.add("waiting")

        yield tell_once
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("queued") as line:
        yield lambda submission: line.update(escape(_in_words(submission)))
