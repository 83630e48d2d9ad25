"""`evergold import …`: published data as competitions, lists of published results as rows of a board."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.declare import apply_declared, say_changes
from app.cli.settings import DataDirOption, PhasesOption, gold_folder, use_settings
from evergold.cli.output import PREPARING, Code, CommandError, count, remark, say

commands = typer.Typer()
importers = typer.Typer(help="Turn published data into a competition.", no_args_is_help=True)
commands.add_typer(importers, name="import", rich_help_panel=PREPARING)

Importer = Callable[[Path, Path, Path], list[Path]]


class Edition(StrEnum):
    """Editions of PARSEME's shared task."""

    ONE_ONE = "1.1"
    ONE_TWO = "1.2"
    TWO = "2.0"


class Subtask(StrEnum):
    """Subtasks of edition 2.0; other editions have only the first one."""

    IDENTIFICATION = "identification"
    PARAPHRASE = "paraphrase"


def _source(help_text: str) -> typer.models.ArgumentInfo:
    found: typer.models.ArgumentInfo = typer.Argument(metavar="DIR", exists=True, file_okay=False, help=help_text)
    return found


def _into(help_text: str = "The competition's folder.") -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option("--into", metavar="FOLDER", help=help_text)
    return found


GoldDirOption = Annotated[
    Path | None,
    typer.Option(
        "--gold-dir",
        metavar="DIR",
        help="Folder of gold; default: EVERGOLD_GOLD_DIR, otherwise `gold` in the data directory.",
    ),
]
ApplyOption = Annotated[
    bool, typer.Option("--apply/--no-apply", help="Afterwards check and apply this competition alone.")
]


@importers.command()
def semeval2022(
    source: Annotated[Path, _source("The repository.")],
    into: Annotated[Path, _into()] = Path("competitions/semeval2022-task2"),
    gold_dir: GoldDirOption = None,
    apply_after: ApplyOption = True,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """SemEval-2022 Task 2, from a checkout of its official data repository."""
    from app.importers.semeval2022 import import_semeval2022

    use_settings(data_dir, phases_file)
    gold = gold_dir or gold_folder()
    _import(import_semeval2022, source, into, gold, apply_after)
    say(
        "\nThe gold of the evaluation and test sets is not public, and these phases refuse uploads without it. Once "
        f"you have the gold, put it below {gold}, uncomment `gold:` in {into / 'competition.yaml'}, `evergold apply`."
    )


@importers.command()
def parseme(
    source: Annotated[Path, _source("The folder of the languages, with <LANG>/{train,dev,test,test.blind}.cupt.")],
    edition: Annotated[Edition, typer.Option(help="Edition whose rules, boards and dates to use.")],
    task: Annotated[
        Subtask, typer.Option(help="Subtask of 2.0; for paraphrase: <LANG>/{test,test.blind,trial}.json.")
    ] = Subtask.IDENTIFICATION,
    into: Annotated[
        Path | None,
        _into("The competition's folder; default: competitions/parseme-EDITION, for paraphrase with -TASK."),
    ] = None,
    gold_dir: GoldDirOption = None,
    apply_after: ApplyOption = True,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """PARSEME's identification or paraphrasing of multiword expressions, from the official folder of its data."""
    from app.importers.parseme import import_parseme
    from app.importers.parseme_paraphrase import import_parseme_paraphrase

    def importer(source: Path, into: Path, gold: Path) -> list[Path]:
        if task == Subtask.PARAPHRASE:
            return import_parseme_paraphrase(source, into, gold)
        return import_parseme(source, into, gold, edition, notify=remark)

    if task == Subtask.PARAPHRASE and edition != Edition.TWO:
        raise CommandError(f"Edition {edition} has no paraphrasing; --edition 2.0 has.", Code.USAGE)
    use_settings(data_dir, phases_file)
    name = f"parseme-{edition}" + (f"-{task}" if task == Subtask.PARAPHRASE else "")
    target = into or Path(f"competitions/{name}")
    _import(importer, source, target, gold_dir or gold_folder(), apply_after)
    say(f"\nIts dates are those of the shared task: change them in {target / 'competition.yaml'}, `evergold apply`.")


@importers.command()
def astitch(
    source: Annotated[Path, _source("The repository.")],
    into: Annotated[Path, _into()] = Path("competitions/astitch"),
    gold_dir: GoldDirOption = None,
    apply_after: ApplyOption = True,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """AStitchInLanguageModels, from a checkout of its authors' repository."""
    from app.importers.astitch import import_astitch

    use_settings(data_dir, phases_file)
    _import(import_astitch, source, into, gold_dir or gold_folder(), apply_after)


@importers.command()
def ncimp(
    source: Annotated[Path, _source("The repository.")],
    into: Annotated[Path, _into()] = Path("competitions/ncimp"),
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", exists=True, dir_okay=False, help="CSV of other published values: team,metric,split,value."
        ),
    ] = None,
    gold_dir: GoldDirOption = None,
    apply_after: ApplyOption = True,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """NCIMP, the probing of idiomaticity, from a checkout of its authors' repository."""
    from app.importers.ncimp import import_ncimp, missing_parts

    use_settings(data_dir, phases_file)

    def importer(source: Path, into: Path, gold: Path) -> list[Path]:
        written = import_ncimp(source, into, gold, published, remark)
        if missing := missing_parts(source):
            remark(f"Not in {source}, so that nothing can be scored there: {'; '.join(missing)}.")
        return written

    _import(importer, source, into, gold_dir or gold_folder(), apply_after)


@importers.command()
def results(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="List of results: JSON, CSV or HTML.")
    ],
    into: Annotated[Path, typer.Option("--into", metavar="CSV", help="The file of published results to write.")],
    column: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=METRIC SPLIT",
            help="Metric and split of a column of the list; NAME= leaves the column out; may be repeated.",
        ),
    ],
    task: Annotated[str, typer.Option(metavar="TYPE", help="The task type.")] = "mwe-identification",
    percent: Annotated[
        bool, typer.Option("--percent", help="Scores are in percent wherever pages show percent.")
    ] = False,
    team: Annotated[
        str, typer.Option(metavar="NAME", help="The column of the teams; default: found by its name.")
    ] = "",
    date: Annotated[
        str, typer.Option(metavar="NAME", help="The column of the dates; default: found by its name.")
    ] = "",
    date_format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Format of dates, e.g. %d.%m.%Y; default: 2026-01-31.")
    ] = "",
) -> None:
    """Turn a results list (CodaLab, Codabench or any other; CSV, HTML or JSON) into published results for a board."""
    from app.declarations.historic import COLUMNS
    from app.importers.parseme_results import read_codabench_results
    from app.importers.writing import write_csv
    from evergold.scoring.tasks import get_task

    meanings = dict(_meaning(pair) for pair in column)
    if into.exists():
        raise CommandError(f"Nothing was imported: {into} exists already; move it away to import again.")
    with problems_as_command_errors():
        get_task(task)
        found = read_codabench_results(
            file,
            meanings,
            task=task,
            percent=percent,
            team=team or None,
            date=date or None,
            date_format=date_format or None,
        )
        write_csv(into, COLUMNS, found.rows)
    for warning in found.warnings:
        remark(f"Warning: {warning}")
    say(f"Wrote {count(len(found.rows), 'score')} into {into}. Name it under `historic` of a board, `evergold apply`.")


def _meaning(pair: str) -> tuple[str, tuple[str, str] | None]:
    """Return the parts of `HEADING=METRIC SPLIT`; the heading may contain an equals sign."""
    name, sign, meaning = pair.rpartition("=")
    parts = meaning.split()
    if not sign or len(parts) not in (0, 2):
        raise CommandError(f"--column {pair} is not NAME=METRIC SPLIT.", Code.USAGE)
    return name, (parts[0], parts[1]) if parts else None


# -------------------------------------------------------------------------------------------------------------- shared


def _import(importer: Importer, source: Path, into: Path, gold: Path, apply_after: bool) -> None:
    """Write the competition and its gold; apply only this competition, if phases.yaml includes it."""
    with problems_as_command_errors():
        written = importer(source, into, gold)
    say(f"Wrote {into / 'competition.yaml'} and {count(len(written) - 1, 'file')} below {into} and {gold}.")
    if not apply_after:
        say("Next: `evergold check`, then `evergold apply`.")
    elif is_included(into / "competition.yaml"):
        say_changes(apply_declared(migrate_first=True, only=into / "competition.yaml"))
    else:
        raise CommandError(how_to_include(into / "competition.yaml"))


@contextmanager
def problems_as_command_errors() -> Iterator[None]:
    """Raise errors of the source as CommandError, one line per problem."""
    from evergold.scoring.errors import InvalidFile, ScoringError

    try:
        yield
    except InvalidFile as error:
        lines = [f"  {problem}" for problem in error.problems]
        raise CommandError("\n".join(["Nothing was imported:", *lines])) from None
    except ScoringError as error:
        raise CommandError(f"Nothing was imported: {error}.") from None
    except OSError as error:
        raise CommandError(f"Nothing was imported: {error.filename}: {error.strerror}.") from None


def check_phases_file() -> None:
    """Raise CommandError if there is no phases.yaml that could include the competition, before anything is written."""
    from app.base.config import get_settings

    phases = get_settings().phases_file
    if not phases.exists():
        raise CommandError(
            f"Nothing was imported: there is no {phases}. `evergold init` creates the folder of a new server with a "
            "phases.yaml that includes competitions/*: import there, or name another file with --phases."
        )


def is_included(declaration: Path) -> bool:
    """Return True if phases.yaml includes this file."""
    import app.declarations.check  # noqa: F401 - before `app.declarations.check.shape`, which cannot be the first of both
    from app.base.config import get_settings
    from app.declarations.check.shape import read_phases_files
    from app.declarations.findings import Findings

    documents = read_phases_files(get_settings().phases_file, Findings())
    return any(Path(document.file).resolve() == declaration.resolve() for document in documents)


def how_to_include(declaration: Path) -> str:
    """Return a sentence on what to add to phases.yaml for a declaration that it does not include."""
    from app.base.config import get_settings

    phases = get_settings().phases_file
    if not phases.exists():
        return f"Not applied: there is no {phases}. `evergold init` creates one that includes competitions/*."
    return f"Not applied: {phases} does not include the competition. Add it to `include:` there, then `evergold apply`."
