"""`evergold standings`: checks that stored standings follow from the runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import WHILE_IT_RUNS, Code, CommandError, JsonOption, count, print_json, remark, say

if TYPE_CHECKING:
    from sqlalchemy import Engine

commands = typer.Typer()


@dataclass(slots=True)
class Looked:
    """The results of looking at the database."""

    standings: int
    tasks: int
    differences: list[str]


@commands.command(rich_help_panel=WHILE_IT_RUNS)
def standings(
    check: Annotated[
        bool,
        typer.Option("--check", help="Recompute all standings from the runs and compare; exit code 1 if any differs."),
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rewrite all standings.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the stored entries: which submission counts for each team on each board."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine

    engine = get_engine(get_settings().database_address)
    if rebuild:
        _rebuild(engine)
    found = _look(engine, check=check)
    if as_json:
        print_json({"standings": found.standings, "tasks": found.tasks, "differences": found.differences})
        raise typer.Exit(Code.ERROR if found.differences else Code.OK)
    words = " All agree with the runs." if check and not found.differences else ""
    say(f"{count(found.standings, 'standing')} in {count(found.tasks, 'task')} with submissions.{words}")
    if found.differences:
        number = count(len(found.differences), "standing")
        raise CommandError(
            f"Different from the runs: {number}. The sweep corrects them; --rebuild does it now.",
            Code.ERROR,
            lines=found.differences,
        )


def _look(engine: Engine, *, check: bool) -> Looked:
    """Check one task at a time under its lock, so that nothing is recorded there in the meantime."""
    from sqlalchemy import func, select

    from app.base.db import reading, writing
    from app.models import Standing
    from app.standings.check import check_task, lock_task, tasks_with_submissions

    with reading(engine) as session:
        tasks = tasks_with_submissions(session)
        number = session.scalar(select(func.count()).select_from(Standing)) or 0
    differences: list[Any] = []
    for task in tasks if check else []:
        with writing(engine) as session:
            lock_task(session, task)
            differences += check_task(session, task, partial(_print_progress, "looked at"))
    of_what = ["number of runs" if one.board_id is None else f"board {one.board_id}" for one in differences]
    words = [
        f"{what} of task {one.phase_task_id}: team {one.team_id}"
        for what, one in zip(of_what, differences, strict=True)
    ]
    return Looked(number, len(tasks), words)


def _print_progress(what: str, done: int, teams: int) -> None:
    """Print the progress, unless it is already complete."""
    if done < teams:
        remark(f"{done} of {count(teams, 'team')} are {what}.")


def _rebuild(engine: Engine) -> None:
    from app.base.db import reading, writing
    from app.competitions.changed import boards_changed
    from app.standings.check import tasks_with_submissions
    from app.standings.renew import renew_all

    with reading(engine) as session:
        tasks = tasks_with_submissions(session)
    for task in tasks:
        with writing(engine) as session:
            boards_changed(session, [task])
            renew_all(session, [task], on_progress=partial(_print_progress, "written again"))
