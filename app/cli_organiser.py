"""`evergold check`, `apply`, `import`: from phases.yaml to the database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli_output import Code, CommandError, print_json, remark, say
from app.cli_settings import DataDirOption, JsonOption, PhasesOption, gold_folder, use_settings

if TYPE_CHECKING:
    from app.changes import Change
    from app.findings import Finding

PANEL = "Organising"
commands = typer.Typer()
importers = typer.Typer(help="Turn published data into a competition.", no_args_is_help=True)
commands.add_typer(importers, name="import", rich_help_panel=PANEL)


@commands.command(rich_help_panel=PANEL)
def check(phases_file: PhasesOption = None, as_json: JsonOption = False) -> None:
    """Say everything that is wrong in phases.yaml and the files it names, at once, by line."""
    use_settings(phases_file=phases_file)
    from app.check import check_phases
    from app.config import get_settings

    path = get_settings().phases_file
    findings = check_phases(path, now=datetime.now(UTC))
    errors = sum(finding.severity == "error" for finding in findings)
    if as_json:
        print_json({"file": str(path), "errors": errors, "findings": [_finding(finding) for finding in findings]})
    else:
        for finding in findings:
            say(str(finding))
        say(f"{path}: {_count(errors, 'error')}, {_count(len(findings) - errors, 'warning')}.")
    if errors:
        raise typer.Exit(Code.ERROR)


@commands.command(rich_help_panel=PANEL)
def apply(
    migrate_first: Annotated[
        bool, typer.Option("--migrate", help="Bring the tables to this version's form first.")
    ] = False,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the database in line with phases.yaml, and say what changed."""
    use_settings(data_dir, phases_file)
    changes = _apply(migrate_first)
    if as_json:
        print_json({"changes": [{"message": str(change), "counts": change.counts} for change in changes]})
    else:
        _say_changes(changes)


@importers.command()
def semeval2022(
    source: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The repository.")],
    into: Annotated[Path, typer.Option("--into", metavar="FOLDER", help="The competition's folder.")] = Path(
        "competitions/semeval2022-task2"
    ),
    gold_dir: Annotated[
        Path | None,
        typer.Option(
            "--gold-dir", metavar="DIR", help="Default: EVERGOLD_GOLD_DIR, else `gold` in the data directory."
        ),
    ] = None,
    apply_after: Annotated[
        bool, typer.Option("--apply/--no-apply", help="Check and apply phases.yaml afterwards.")
    ] = True,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """SemEval-2022 Task 2, from a checkout of its official data repository."""
    use_settings(data_dir, phases_file)
    gold = gold_dir or gold_folder()
    written = _import(source, into, gold)
    say(f"Wrote {into / 'competition.yaml'} and {_count(len(written) - 1, 'file')} below {into} and {gold}.")
    if not apply_after:
        say("Next: `evergold check`, then `evergold apply`.")
    elif _is_included(into / "competition.yaml"):
        _say_changes(_apply(migrate_first=True))
    else:
        raise CommandError(_how_to_include(into / "competition.yaml"))
    say(
        f"\nThe gold of the evaluation and test sets is not public, and these phases refuse uploads until it is there. "
        f"When you have it: put it below {gold}, uncomment `gold:` in {into / 'competition.yaml'}, `evergold apply`."
    )


def _import(source: Path, into: Path, gold: Path) -> list[Path]:
    from app.importers.semeval2022 import import_semeval2022
    from scoring.errors import InvalidFile

    try:
        return import_semeval2022(source, into, gold)
    except InvalidFile as error:
        lines = [f"  {problem}" for problem in error.problems]
        raise CommandError("\n".join(["Nothing was imported:", *lines])) from None
    except OSError as error:
        raise CommandError(f"Nothing was imported: {error.filename}: {error.strerror}.") from None


def _is_included(declaration: Path) -> bool:
    """Whether phases.yaml brings this file in."""
    from app.config import get_settings
    from app.findings import Findings
    from app.phases_file import read_phases_files

    documents = read_phases_files(get_settings().phases_file, Findings())
    return any(Path(document.file).resolve() == declaration.resolve() for document in documents)


def _how_to_include(declaration: Path) -> str:
    from app.config import get_settings

    phases = get_settings().phases_file
    if not phases.exists():
        return f"It is not applied: there is no {phases}. `evergold init` makes one that includes competitions/*."
    return f"It is not applied: {phases} does not include it. Add it to `include:` there, then `evergold apply`."


def _apply(migrate_first: bool) -> list[Change]:
    from app import prepare
    from app.datadir import ServeError

    try:
        if not migrate_first:
            prepare.check_migrated()
        elif prepare.migrate():
            remark("The database was migrated.")
        return prepare.apply()
    except ServeError as error:
        raise CommandError(str(error)) from None


def _say_changes(changes: list[Change]) -> None:
    for change in changes:
        say(str(change))
    counted = sum(change.counts for change in changes)
    say(f"{_count(counted, 'change')}." if counted else "Nothing to change.")


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
