"""`evergold row`: unranked, disqualified or hidden rows, in this server's database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from app.cli.settings import DataDirOption, command_line_act, use_settings
from evergold.cli.output import WHILE_IT_RUNS, Code, CommandError, JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.orm import Session

    from app.models import PhaseTask, RowStatus

commands = typer.Typer()
rows = typer.Typer(no_args_is_help=True, help="Unrank, disqualify or hide rows.")
commands.add_typer(rows, name="row", rich_help_panel=WHILE_IT_RUNS)

PlaceArgument = Annotated[str, typer.Argument(metavar="COMPETITION/PHASE/TASK")]


@rows.command("list")
def show(place: PlaceArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the marked rows of a task in a phase."""
    from app.boards.marks import list_marks

    with database(data_dir) as session:
        found = list_marks(session, _phase_task(session, place))
    if as_json:
        print_json({"rows": [one.model_dump(mode="json") for one in found]})
        return
    if not found:
        say("No row is marked.")
        return
    cells = [(str(one.id), one.team, str(one.submission or "everything"), one.status, one.note) for one in found]
    print_table(["Id", "Team", "Of it", "Status", "Why"], cells, numbers=["Id"])


@rows.command()
def mark(
    place: PlaceArgument,
    status: Annotated[str, typer.Argument(metavar="STATUS", help="Status: unranked, disqualified or hidden.")],
    team: Annotated[str, typer.Option(metavar="NAME", help="Name of the team, as on boards.")] = "",
    submission: Annotated[str, typer.Option(metavar="ID", help="Instead of a team: one submission, by its ID.")] = "",
    note: Annotated[str, typer.Option(metavar="TEXT", help="Reason; boards show it as a footnote.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mark a team, or one of its submissions, as unranked, disqualified or hidden."""
    from app.boards.marks import mark_row

    with database(data_dir) as session:
        marked = mark_row(
            command_line_act(session),
            _phase_task(session, place),
            team=team,
            submission_id=_submission_id(submission),
            status=_status(status),
            note=note,
        )
    if as_json:
        print_json(marked.model_dump(mode="json"))
    else:
        what = f"the submission {marked.submission} of {marked.team}" if marked.submission else marked.team
        say(f"On the boards of {place}, {what} is {marked.status} now.")


@rows.command()
def clear(
    place: PlaceArgument,
    mark_id: Annotated[int, typer.Argument(metavar="ID", help="Number shown by `evergold row list`.")],
    data_dir: DataDirOption = None,
) -> None:
    """Clear a mark: the row is ranked by its scores again."""
    from app.boards.marks import clear_mark

    with database(data_dir) as session:
        clear_mark(command_line_act(session), _phase_task(session, place), mark_id)
    say("Cleared.")


@contextmanager
def database(data_dir: Path | None) -> Iterator[Session]:
    """Open a transaction on this server's database; errors are raised as CommandError."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.base.errors import EvergoldError

    try:
        with writing(get_engine(get_settings().database_address)) as session:
            yield session
    except EvergoldError as error:
        fields = error.details.get("fields", {})
        message = " ".join([error.message, *(f"{name}: {sentence}" for name, sentence in fields.items())])
        raise CommandError(message, name=error.code, details=error.details) from None


def _phase_task(session: Session, place: str) -> PhaseTask:
    from app.competitions.find import find_phase_task

    parts = place.strip("/").split("/")
    if len(parts) != 3 or not all(parts):
        raise CommandError(f"'{place}' is not COMPETITION/PHASE/TASK.", Code.USAGE)
    return find_phase_task(session, *parts, with_files=False)


def _status(name: str) -> RowStatus:
    from app.models import RowStatus

    try:
        return RowStatus(name)
    except ValueError:
        raise CommandError(f"'{name}' is not a status; there are {', '.join(RowStatus)}.", Code.USAGE) from None


def _submission_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise CommandError(f"'{text}' is not a submission's ID.", Code.USAGE) from None
