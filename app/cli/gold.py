"""`evergold gold …`: seals and uploads gold; opening it runs on the workers' side, in its own process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import PREPARING, Code, CommandError, JsonOption, print_json, print_table, remark, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.models import GoldVersion, PhaseTask

commands = typer.Typer()
gold = typer.Typer(help="Sealed gold: keys, versions, commitments.", no_args_is_help=True)
commands.add_typer(gold, name="gold", rich_help_panel=PREPARING)

Place = Annotated[str, typer.Argument(metavar="COMPETITION/PHASE/TASK")]


@gold.command()
def put(
    place: Place,
    path: Annotated[Path, typer.Argument(metavar="FILE_OR_FOLDER", help="The gold, in the format of the task type.")],
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="PHASE", help="Another phase that uses the same gold; may be repeated."),
    ] = None,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish", help="Use it at once even if another version is in use; otherwise `gold publish` does."
        ),
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="The gold is public: where phases.yaml allows it, teams see its items.")
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Seal gold for the workers, and keep it as a new version. The first one is used at once."""
    use_settings(data_dir)
    if not path.exists():
        raise CommandError(f"There is no {path}.")
    competition, phase, task = _parts(place)
    places = [f"{competition}/{name}/{task}" for name in dict.fromkeys([phase, *(also or [])])]
    with _in_words():
        versions = _put(places, path, publish or None, is_public=public)
        versions = _checked(versions)
    if as_json:
        print_json({"versions": [_document(where, version) for where, version in zip(places, versions, strict=True)]})
    else:
        _say_versions(places, versions)
    if any(version.check_state == "invalid" for version in versions):
        raise typer.Exit(Code.REJECTED)


def put_all(golds: Mapping[str, Path]) -> None:
    """Seal the gold of each place like `put`, and have all of it checked by a single process, which is slow to start.

    golds: paths by `COMPETITION/PHASE/TASK`.
    """
    if not golds:
        return
    with _in_words():
        versions = [version for place, path in golds.items() for version in _put([place], path, None, is_public=False)]
        versions = _checked(versions)
    _say_versions(list(golds), versions)
    if any(version.check_state == "invalid" for version in versions):
        raise typer.Exit(Code.REJECTED)


def _say_versions(places: Sequence[str], versions: Sequence[GoldVersion]) -> None:
    for where, version in zip(places, versions, strict=True):
        say(f"{where}: gold version {version.number}, commitment {version.commitment} ({_use(where, version)})")
        for problem in version.problems:
            remark(f"  {problem['sentence']}")


@gold.command("list")
def list_versions(
    competition: Annotated[str, typer.Argument(metavar="[COMPETITION]", help="Default: all competitions.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the versions of sealed gold, with their commitments."""
    use_settings(data_dir)
    wanted = f"{competition}/" if competition else ""
    with _in_words(), _session() as session:
        found = [(where, version) for where, version in _versions(session) if f"{where}/".startswith(wanted)]
    if as_json:
        print_json({"versions": [_document(where, version) for where, version in found]})
        return
    rows = [
        (
            where,
            str(version.number),
            moment_words(version.created_at),
            str(version.check_state),
            moment_words(version.published_at) if version.published_at else "no",
            str(version.content_bytes),
            version.filename,
            version.commitment,
        )
        for where, version in found
    ]
    head = ["Place", "Version", "Uploaded (UTC)", "Check", "In use since", "Bytes", "File", "Commitment"]
    print_table(head, rows, numbers=["Version", "Bytes"])


@gold.command()
def publish(
    place: Place,
    number: Annotated[int, typer.Argument(metavar="VERSION", min=1)],
    data_dir: DataDirOption = None,
) -> None:
    """Use a version for new submissions, and show its commitment on the boards."""
    use_settings(data_dir)
    from app.base.queue import send_runs
    from app.declarations.apply.baselines import submit_waiting_baselines
    from app.gold.versions import list_gold, publish_gold
    from evergold.scoring.tasks import needs_gpu

    with _in_words(), _session() as session:
        phase_task, now = _find(session, place), datetime.now(UTC)
        changed = publish_gold(session, phase_task, number, user=None, now=now)
        runs = submit_waiting_baselines(session, phase_task, now) if changed else []
        waits = next(one.publish_when_valid for one in list_gold(session, phase_task) if one.number == number)
        is_for_gpu = needs_gpu(phase_task.task.task_type)
    send_runs([(run_id, is_for_gpu) for run_id in runs])
    if waits:
        say(f"{place}: gold version {number} will be in use once it passes the check.")
        return
    say(f"{place}: gold version {number} is in use{'' if changed else ' already'}.")
    if changed:
        remark("Existing scores do not change until they are rescored.")


@gold.command()
def verify(
    commitment: Annotated[str, typer.Argument(help="Commitment as on the board, 64 digits.")],
    salt: Annotated[str, typer.Argument(help="Salt printed by `evergold gold reveal`, 64 digits.")],
    path: Annotated[Path, typer.Argument(metavar="FILE_OR_FOLDER", help="The gold that was published.")],
) -> None:
    """Check published gold against its commitment; needs no server."""
    from app.gold.sealing import keeps_commitment

    if not path.exists():
        raise CommandError(f"There is no {path}.")
    try:
        salt_bytes = bytes.fromhex(salt)
    except ValueError:
        raise CommandError("The salt is 64 hexadecimal digits.", Code.USAGE) from None
    if not keeps_commitment(commitment, salt_bytes, path):
        raise CommandError(f"{path} does not match the commitment: the gold or the salt is different.", Code.REJECTED)
    say(f"{path} matches the commitment.")


# -------------------------------------------------------------------------------------------------- the workers' side


@gold.command()
def keygen(data_dir: DataDirOption = None) -> None:
    """Create a key for the workers; run it where they run. The first one is needed before gold can be uploaded."""
    _ask_workers(data_dir, "keygen")


@gold.command()
def rotate(data_dir: DataDirOption = None) -> None:
    """Seal everything to the newest key alone, and retire the others; run it where workers run."""
    _ask_workers(data_dir, "rotate")


@gold.command()
def check(data_dir: DataDirOption = None) -> None:
    """Check that all gold that phases need can be opened and read; run it where workers run."""
    _ask_workers(data_dir, "check")


@gold.command()
def reveal(
    place: Place,
    version: Annotated[int | None, typer.Option(min=1, help="Version; default: the one in use.")] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the content to this path; a folder is written as the sealed tar."
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Make this gold public from now on: seal it again as public.")
    ] = False,
    data_dir: DataDirOption = None,
) -> None:
    """Print a version's salt, so that anybody can check its commitment; run it where workers run."""
    options = ["--version", str(version)] if version is not None else []
    options += ["--public"] if public else []
    options += ["--write", str(write)] if write is not None else []
    _ask_workers(data_dir, "reveal", place, *options)


def _ask_workers(data_dir: Path | None, *arguments: str) -> None:
    """Run a command of the workers' side in a separate process."""
    use_settings(data_dir)
    from app.server.programs import code_path, gold_command

    environment = {**os.environ, "PYTHONPATH": code_path()}
    status = subprocess.run(gold_command(arguments), env=environment, check=False).returncode  # noqa: S603 - our own
    if status:
        raise typer.Exit(status if status > 0 else Code.ERROR)


# ------------------------------------------------------------------------------------------------------------- helpers


def _put(places: list[str], path: Path, publish: bool | None, *, is_public: bool) -> list[GoldVersion]:
    from app.base.config import get_settings
    from app.base.db import get_engine
    from app.base.storage import UNLIMITED_BYTES, sealed_storage_of
    from app.gold.recorded import recipients
    from app.gold.sealing import SealingWriter, write_content
    from app.gold.versions import bind_gold, keep_gold

    settings = get_settings()
    storage = sealed_storage_of(settings)
    with _session() as session:
        binding = bind_gold(session, [_find(session, place) for place in places], is_public=is_public)
        keys = recipients(session, settings.sealing_keys)
    writer = SealingWriter(storage, UNLIMITED_BYTES, what=binding, recipients=keys)
    try:
        write_content(path, writer)
        writer.finish()
    finally:
        writer.discard()
    return keep_gold(
        get_engine(settings.database_address),
        storage,
        writer.sealed,
        filename=path.resolve().name,
        publish=publish,
        user=None,
        now=datetime.now(UTC),
    )


def _checked(versions: list[GoldVersion]) -> list[GoldVersion]:
    """Check these versions now if the workers' key is here, or else notify a worker; return them."""
    from sqlalchemy import select

    from app.base.queue import send_gold_check
    from app.models import GoldVersion

    ids = [version.id for version in versions]
    _ask_workers(None, "check-new", *map(str, ids))
    with _session() as session:
        found = list(session.scalars(select(GoldVersion).where(GoldVersion.id.in_(ids)).order_by(GoldVersion.id)))
    for version in found:
        if version.check_state == "waiting":
            send_gold_check(version.id)
    return found


def _use(place: str, version: GoldVersion) -> str:
    """Return whether a version is in use, and if not, how to put it in use, in words."""
    if version.check_state == "invalid":
        return "it cannot be used; `evergold gold check`, on a worker, shows the content"
    if version.check_state == "waiting":
        soon = "in use once it passes the check" if version.publish_when_valid else "being checked by a worker"
        return f"{soon}: evergold gold list"
    return "in use" if version.published_at else f"not in use yet: evergold gold publish {place} {version.number}"


@contextmanager
def _session() -> Iterator[Session]:
    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.server.datadir import ServeError
    from app.server.prepare import check_migrated

    try:
        check_migrated()
    except ServeError as error:
        raise CommandError(str(error)) from None
    with writing(get_engine(get_settings().database_address)) as session:
        yield session


@contextmanager
def _in_words() -> Iterator[None]:
    from app.base.errors import EvergoldError

    try:
        yield
    except EvergoldError as error:
        raise CommandError(error.message, name=error.code, details=error.details) from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'The file'} cannot be used: {error.strerror or error}.") from None


def _parts(place: str) -> tuple[str, str, str]:
    parts = place.split("/")
    if len(parts) != 3:
        raise CommandError(f"'{place}' is not COMPETITION/PHASE/TASK.", Code.USAGE)
    return parts[0], parts[1], parts[2]


def _find(session: Session, place: str) -> PhaseTask:
    from app.competitions.find import find_phase_task

    return find_phase_task(session, *_parts(place))


def _versions(session: Session) -> Iterator[tuple[str, GoldVersion]]:
    from app.competitions.find import list_competitions
    from app.gold.versions import list_gold

    for competition in list_competitions(session):
        for phase in competition.phases:
            for phase_task in phase.phase_tasks:
                place = f"{competition.name}/{phase.name}/{phase_task.task.name}"
                for version in list_gold(session, phase_task):
                    yield place, version


def _document(place: str, version: GoldVersion) -> dict[str, Any]:
    return {
        "place": place,
        "version": version.number,
        "commitment": version.commitment,
        "file": version.filename,
        "bytes": version.content_bytes,
        "put_at": version.created_at.isoformat(),
        "in_use_since": version.published_at.isoformat() if version.published_at else None,
        "is_public": version.is_public,
        "check": str(version.check_state),
        "problems": [problem["sentence"] for problem in version.problems],
    }
