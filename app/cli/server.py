"""Commands for operators of a server: `serve`, its parts one by one, `migrate`, `init`."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, PhasesOption, gold_folder, keep_private, read_environment, use_settings
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption, print_json, say

commands = typer.Typer()

WebProcesses = Annotated[
    int,
    typer.Option(
        min=1, max=64, help="Number of web processes that share the port; with PostgreSQL, one per core is best."
    ),
]

# ------------------------------------------------------------------------------------------------------------ server


@commands.command(rich_help_panel=RUNNING)
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0: all addresses of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any free port.")] = 8321,
    demo: Annotated[bool, typer.Option(help="Add demo accounts and submissions to the demo competition.")] = False,
    history: Annotated[bool, typer.Option(help="With --demo: add thirty teams with weeks of submissions.")] = True,
    data_dir: DataDirOption = None,
    phases_file: PhasesOption = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of submissions scored at the same time.")] = 1,
    web_processes: WebProcesses = 1,
    lean: Annotated[bool, typer.Option(help="Do not score tasks that need torch, even if it is installed.")] = False,
) -> None:
    """Run a whole server: web, worker, sweep, and a broker if none is named. Ctrl-C stops it."""
    from app.server.datadir import ServeError
    from app.server.programs import ServeOptions
    from app.server.supervisor import serve as run
    from app.server.web import check_processes

    use_settings(data_dir, phases_file)
    data = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var").resolve()
    options = ServeOptions(
        host=host,
        port=port,
        data_dir=data,
        phases_file=Path(os.environ.get("EVERGOLD_PHASES_FILE") or "phases.yaml").resolve(),
        gold_dir=gold_folder().resolve(),
        demo=demo,
        workers=workers,
        web=web_processes,
        lean=lean,
        history=history,
    )
    try:
        check_processes(web_processes)
        run(options, say)
    except ServeError as error:
        raise CommandError(str(error)) from None


@commands.command(rich_help_panel=RUNNING)
def web(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8321,
    processes: WebProcesses = 1,
    data_dir: DataDirOption = None,
) -> None:
    """Run only the web server, in one process or several. It never sees gold."""
    from app.server.datadir import ServeError
    from app.server.programs import THRIFTY, WAYS_TO_GOLD, web_command
    from app.server.web import check_processes

    use_settings(data_dir)
    try:
        check_processes(processes)
    except ServeError as error:
        raise CommandError(str(error)) from None
    for name in WAYS_TO_GOLD:
        os.environ.pop(name, None)
    os.environ.update(THRIFTY | os.environ)
    exec_program(web_command(host, port, processes))


@commands.command(rich_help_panel=RUNNING)
def worker(
    queues: Annotated[
        str,
        typer.Option(
            help=(
                "cpu: tasks without torch; gpu: only BERTScore, with or without a GPU; auto: all that this machine "
                "can score."
            )
        ),
    ] = "auto",
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Number of submissions scored at the same time.")] = 1,
    data_dir: DataDirOption = None,
) -> None:
    """Run a scoring worker alone, on any machine that sees database, broker, storage and gold."""
    from app.server.programs import THRIFTY, worker_command

    if queues not in ("auto", "cpu", "gpu"):
        raise CommandError("--queues is auto, cpu or gpu.", Code.USAGE)
    use_settings(data_dir)
    if queues == "cpu":
        os.environ.update(THRIFTY | os.environ)
    exec_program(worker_command(queues, concurrency))


@commands.command(rich_help_panel=RUNNING)
def sweep(data_dir: DataDirOption = None) -> None:
    """Run the sweep alone: it finds runs whose worker was lost. One is enough; of several, the database elects one."""
    from app.server.programs import THRIFTY, sweep_command

    use_settings(data_dir)
    os.environ.update(THRIFTY | os.environ)
    exec_program(sweep_command())


def exec_program(command: list[str]) -> None:
    """Replace this process by the command, so that it receives signals."""
    from app.server.programs import code_path

    os.environ["PYTHONPATH"] = code_path()
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - our own program, no shell


@commands.command(rich_help_panel=RUNNING)
def migrate(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Migrate the database to this version."""
    from app.server import prepare
    from app.server.datadir import ServeError

    use_settings(data_dir)
    try:
        applied = prepare.migrate(None if as_json else lambda revision: say(f"revision {revision}"))
    except ServeError as error:
        raise CommandError(str(error)) from None
    if as_json:
        print_json({"changed": bool(applied), "revisions": [asdict(revision) for revision in applied]})
    else:
        say("The database was migrated." if applied else "The database is up to date.")


@commands.command(rich_help_panel=RUNNING)
def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder; default: the current one.")] = Path(),
    admin_username: Annotated[str, typer.Option(help="The administrator's user name; prompted for if missing.")] = "",
    admin_email: Annotated[str, typer.Option(help="The administrator's e-mail address; prompted for if missing.")] = "",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the administrator's password from stdin.")
    ] = False,
) -> None:
    """Set up a new server's folder, with an administrator and no demo data; EVERGOLD_DATABASE_URL is honoured."""
    from evergold.cli.output import ask, read_password

    keep_private()
    read_environment(folder)

    username = admin_username or ask("The administrator's user name", "--admin-username")
    email = admin_email or ask("The administrator's e-mail address", "--admin-email")
    password = read_password(password_stdin, confirm=True)
    for path in _init(folder, username, email, password):
        say(f"wrote {path}")
    into = "" if folder == Path() else f"cd {folder} && "
    if os.environ.get("EVERGOLD_DATABASE_URL"):
        say("\nThe tables and the administrator are in the database of EVERGOLD_DATABASE_URL.")
    say(f"\nNext: describe a competition in {folder / 'phases.yaml'}, then `{into}evergold serve`.")
    say("A bundle of Codabench, CodaLab or EvalAI instead: `evergold import --help`.")


def _init(folder: Path, username: str, email: str, password: str) -> list[Path]:
    from app.base.errors import InvalidForm, NameTaken
    from app.people.auth import NewAccount
    from app.server.datadir import ServeError
    from app.server.folder import init_server

    try:
        return init_server(
            folder,
            NewAccount(username, email, password),
            datetime.now(UTC),
            database_url=os.environ.get("EVERGOLD_DATABASE_URL", ""),
            data_dir=Path(os.environ.get("EVERGOLD_DATA_DIR") or "var"),
        )
    except InvalidForm as error:
        raise CommandError(" ".join(f"{name}: {why}" for name, why in error.details["fields"].items())) from None
    except NameTaken as error:  # concurrently, by another `init` of the same database
        raise CommandError(error.message) from None
    except ServeError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"Cannot write {error.filename or folder}: {error.strerror}.") from None
