"""`evergold workers`, `selfcheck`, `models …`: workers, the correctness of their results, and their encoders."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.server import exec_program
from app.cli.settings import DataDirOption, models_folder, use_settings
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption, print_json, print_table, remark, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from app.models import Worker

commands = typer.Typer()
models = typer.Typer(help="The encoder models of this machine, for BERTScore.", no_args_is_help=True)
commands.add_typer(models, name="models", rich_help_panel=RUNNING)


@commands.command(rich_help_panel=RUNNING)
def workers(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the workers: what they take, and whether they passed their self-check."""
    use_settings(data_dir)
    from sqlalchemy.exc import SQLAlchemyError

    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.runs.workers import live_workers

    try:
        with reading(get_engine(get_settings().database_address)) as session:
            found = live_workers(session, datetime.now(UTC))
    except SQLAlchemyError as error:
        raise CommandError(f"The database cannot be read: {getattr(error, 'orig', None) or error}") from None
    if as_json:
        print_json({"workers": [_document(worker) for worker in found]})
        return
    rows = [
        (
            worker.name,
            ", ".join(worker.queues) or "none yet",
            str(worker.processes),
            worker.device or "–",
            worker.self_check or "–",
            ", ".join(worker.models) or "–",
            moment_words(worker.started_at),
        )
        for worker in found
    ]
    columns = ["Worker", "Queues", "At a time", "Device", "Self-check", "Models", "Since (UTC)"]
    print_table(columns, rows, numbers=["At a time"])
    for worker in found:
        for words in worker.self_check_words:
            remark(f"{worker.name}: {words}")


@commands.command(rich_help_panel=RUNNING)
def selfcheck(
    record: Annotated[
        bool, typer.Option("--record", help="Record the scores of this machine's models, unless there is a record.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Record again, and replace different records.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a golden submission with every model and compare; exit code 1 if workers here refuse BERTScore runs."""
    from app.server.programs import selfcheck_command

    use_settings(data_dir)
    given = {"--record": record, "--replace": replace, "--json": as_json}
    exec_program([*selfcheck_command(), *(option for option, wanted in given.items() if wanted)])


@models.command(name="list")
def list_(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the models on this machine."""
    from app.operations.encoder_models import models_here
    from evergold.scoring.errors import ScoringError

    use_settings(data_dir)
    try:
        found = models_here(models_folder())
    except ScoringError as error:
        raise CommandError(f"{error}.") from None
    if as_json:
        print_json({"folder": str(models_folder()), "models": found})
        return
    rows = [(one["name"], one["revision"] or "–", (one["weights"] or "")[:12], one["problem"] or "") for one in found]
    print_table(["Model", "Revision", "Weights (sha256)", "Problem"], rows)


@models.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model in options of tasks.")],
    repository: Annotated[
        str, typer.Option("--from", metavar="REPOSITORY", help="Repository on the Hugging Face hub; default: the name.")
    ] = "",
    revision: Annotated[
        str, typer.Option(metavar="COMMIT", help="Revision to pin; default: the newest. The one used is recorded.")
    ] = "",
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of models; default: EVERGOLD_MODELS_DIR, otherwise `models` in the data folder."
        ),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download a model from the Hugging Face hub to this machine. Scoring itself never downloads anything."""
    from app.operations.encoder_models import CannotFetch, fetch_model

    use_settings(data_dir)
    folder = into.resolve() if into else models_folder()
    try:
        fetched = fetch_model(name, folder, repository=repository or name, revision=revision or None)
    except CannotFetch as error:
        raise CommandError(str(error), Code.NETWORK if error.is_network else Code.ERROR) from None
    if as_json:
        print_json(fetched)
        return
    say(f"{name}: revision {fetched['revision']} of {fetched['repository']}, in {folder / name}")
    if folder != models_folder():
        remark(f"Workers find it with EVERGOLD_MODELS_DIR={folder}.")
    sys.stdout.flush()


def _document(worker: Worker) -> dict[str, Any]:
    return {
        "name": worker.name,
        "host": worker.host,
        "processes": worker.processes,
        "queues": worker.queues,
        "device": worker.device,
        "versions": worker.versions,
        "models": worker.models,
        "self_check": worker.self_check,
        "self_check_words": worker.self_check_words,
        "comparisons": worker.comparisons,
        "self_checked_at": worker.self_checked_at.isoformat() if worker.self_checked_at else None,
        "started_at": worker.started_at.isoformat(),
        "seen_at": worker.seen_at.isoformat(),
    }
