"""`evergold runs`: counts submissions by status, and lists failed ones, which are never a team's fault."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.settings import DataDirOption, command_line_act, use_settings
from evergold.cli.output import (
    WHILE_IT_RUNS,
    Code,
    CommandError,
    JsonOption,
    count,
    print_json,
    print_table,
    remark,
    say,
)
from evergold.moments import moment_words

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.runs.failures import FailedRun, RunCounts

commands = typer.Typer()


@commands.command(rich_help_panel=WHILE_IT_RUNS)
def runs(
    failed: Annotated[bool, typer.Option("--failed", help="List failed runs, the latest first.")] = False,
    queue_again: Annotated[
        bool, typer.Option("--queue-again", help="With --failed: queue the listed runs again.")
    ] = False,
    competition: Annotated[
        str,
        typer.Option(
            metavar="NAME[/PHASE[/TASK]]", help="Only runs of this competition; with --failed also of a part of it."
        ),
    ] = "",
    run: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="With --failed: only this run; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="With --failed: number of runs.")] = 200,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count submissions that wait, are scored, rejected or failed; --failed shows whose failed, and why."""
    name, phase, task = _parts(competition)
    for option, is_given in (("--queue-again", queue_again), ("--run", run), ("NAME/PHASE", phase)):
        if is_given and not failed:
            raise CommandError(f"{option} needs --failed.", Code.USAGE)
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.runs.failures import failed_runs, queue_again as put_back, run_counts

    with writing(get_engine(get_settings().database_address)) as session:
        competitions = _competition_ids(session, name, phase, task)
        if not failed:
            _show_counts(run_counts(session, competitions), as_json)
            return
        found = failed_runs(session, competitions, limit, phase=phase, task=task, runs=run)
        again = [run for run in found if queue_again and put_back(command_line_act(session), run.run_id)]
    _show_failed(found, as_json)
    if queue_again:
        remark(f"{count(len(again), 'run')} will be scored again; the sweep notifies the workers.")


def _now() -> datetime:
    return datetime.now(UTC)


def _parts(place: str) -> tuple[str, str | None, str | None]:
    """Return the parts of `NAME[/PHASE[/TASK]]`."""
    name, *more = place.strip("/").split("/")
    if len(more) > 2 or not all(more):
        raise CommandError(f"'{place}' is not NAME[/PHASE[/TASK]].", Code.USAGE)
    return name, more[0] if more else None, more[1] if len(more) > 1 else None


def _competition_ids(session: Session, name: str, phase: str | None, task: str | None) -> list[int] | None:
    from app.base.errors import NotFound
    from app.competitions.find import find_competition, find_phase_task

    if not name:
        return None
    try:
        if phase is not None and task is not None:
            find_phase_task(session, name, phase, task)
        found = find_competition(session, name)
    except NotFound as error:
        raise CommandError(error.message) from None
    if phase is not None and phase not in [one.name for one in found.phases]:
        raise CommandError(f"Competition '{name}' has no phase '{phase}'.")
    return [found.id]


def _show_counts(counts: list[RunCounts], as_json: bool) -> None:
    states = ("queued", "running", "scored", "rejected", "failed")
    if as_json:
        print_json({"tasks": [{"place": row.place, **{state: row.of(state) for state in states}} for row in counts]})
        return
    rows = [(row.place, *(str(row.of(state)) for state in states)) for row in counts]
    headings = [state.capitalize() for state in states]
    print_table(["Task", *headings], rows, numbers=headings)


def _as_json(run: FailedRun) -> dict[str, Any]:
    moments = {"submitted_at": run.submitted_at.isoformat(), "failed_at": run.failed_at.isoformat()}
    first = {"run_id": run.run_id, "submission_id": str(run.submission_id), "competition": run.competition}
    rest = {name: value for name, value in run if name not in first and name != "submission"}
    return {**first, **rest, **moments}


def _show_failed(found: list[FailedRun], as_json: bool) -> None:
    if as_json:
        print_json({"runs": [_as_json(run) for run in found]})
        return
    if not found:
        say("No run has failed.")
        return
    print_table(
        ["Run", "Failed", "Task", "Team", "Submission", "Why"],
        [
            (
                str(run.run_id),
                moment_words(run.failed_at),
                run.place,
                run.team,
                str(run.submission_id),
                run.failure,
            )
            for run in found
        ],
        numbers=["Run"],
    )
