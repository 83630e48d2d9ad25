"""`evergold check`, `plan`, `apply`, `history`, `set`, `undo`: declarations, from phases.yaml or by revision."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.settings import DataDirOption, PhasesOption, use_settings
from evergold.cli.output import Code, CommandError, JsonOption, print_json, remark, say
from evergold.moments import moment_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.declarations.apply.changes import Change
    from app.declarations.apply.precedence import OnEdits
    from app.declarations.check import LoadedCompetition
    from app.declarations.edits.effects import Plan
    from app.declarations.findings import Finding
    from app.declarations.leaks import DeclaredLeak
    from app.declarations.views import EffectOut
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from evergold.cli.output import PREPARING, count, print_table

if TYPE_CHECKING:
    from app.declarations.edits.edit import Edit, Outcome


commands = typer.Typer()


class Side(StrEnum):
    """A side of a conflict; a copy of `app.declarations.revisions.merging.Side`, which takes long to import."""

    FILE = "file"
    SERVER = "server"


OverwriteOption = Annotated[
    bool,
    typer.Option("--overwrite-edits", help="Apply the file as it is, and drop later edits made on the server."),
]
ConflictsOption = Annotated[
    Side | None,
    typer.Option("--conflicts", help="Which side wins if file and server both changed a value."),
]


@commands.command(rich_help_panel=PREPARING)
def check(
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Also compare items and baselines with the plain gold in this folder (as on workers).",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    phases_file: PhasesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check phases.yaml and the files it names; report all errors at once, by line."""
    use_settings(phases_file=phases_file)
    from app.base.config import get_settings
    from app.declarations.check import check_phases, load_competitions
    from app.declarations.check.public_files import open_files

    settings = get_settings()
    path = settings.phases_file
    limit_bytes = settings.upload_limit_bytes
    sealed = _sealed_here()
    findings = check_phases(path, now=datetime.now(UTC), gold=gold, upload_limit_bytes=limit_bytes, sealed=sealed)
    errors = sum(finding.severity == "error" for finding in findings)
    loaded = [] if errors else load_competitions(path)
    now_open = [file for competition in loaded for file in open_files(competition.declaration, datetime.now(UTC))]
    leaks = _leaks(loaded, gold)
    if as_json:
        print_json(
            {
                "file": str(path),
                "errors": errors,
                "findings": [_finding(finding) for finding in findings],
                "public_now": [asdict(file) for file in now_open],
                "leaks": [_leak(one) for one in leaks],
            }
        )
    else:
        for finding in findings:
            say(str(finding))
        for file in now_open:
            say(f"public now: {file}")
        for one in leaks:
            say(f"gold that scores reveal: {one}")
        say(f"{path}: {count(errors, 'error')}, {count(len(findings) - errors, 'warning')}.")
    if errors:
        raise typer.Exit(Code.ERROR)


def _leaks(loaded: Sequence[LoadedCompetition], gold: Path | None = None) -> list[DeclaredLeak]:
    """Return the share of hidden gold that a team could infer, for every task in every phase."""
    from app.declarations.leaks import declared_leaks

    return [leak for one in loaded for leak in declared_leaks(one.declaration, one.folder.joinpath, gold)]


def _leak(one: DeclaredLeak) -> dict[str, Any]:
    from app.competitions.views import describe_leak

    found = describe_leak(one.phase, one.task, one.leak)
    return {"competition": one.competition, **found.model_dump(mode="json", exclude={"message"})}


def _sealed_here() -> set[tuple[str, str, str]]:
    """Return the places with sealed gold in this server's database; empty if there is no database."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.gold.versions import places_with_gold

    settings = get_settings()
    if not settings.database_url and not (settings.data_dir / "evergold.db").exists():
        return set()
    try:
        with reading(get_engine(settings.database_address)) as session:
            return places_with_gold(session)
    except SQLAlchemyError:
        return set()


@commands.command(rich_help_panel=PREPARING)
def apply(
    migrate_first: Annotated[bool, typer.Option("--migrate", help="Migrate the database first.")] = False,
    overwrite_edits: OverwriteOption = False,
    conflicts: ConflictsOption = None,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Create new competitions as drafts, visible only to organisers and testers."),
    ] = False,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the database in line with phases.yaml, and report what changed."""
    use_settings(data_dir, phases_file)
    changes = apply_declared(migrate_first, on_edits=_on_edits(overwrite_edits, conflicts), as_drafts=draft)
    if as_json:
        print_json({"changes": [{"message": str(change), "counts": change.counts} for change in changes]})
    else:
        say_changes(changes)
    if any(change.keeps_edits for change in changes):
        if not as_json:
            remark(EDITS_HINT)
        raise typer.Exit(Code.REFUSED)


@commands.command(rich_help_panel=PREPARING)
def plan(
    phases_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Declaration file; default: EVERGOLD_PHASES_FILE, otherwise ./phases.yaml.",
            show_default=False,
        ),
    ] = None,
    overwrite_edits: OverwriteOption = False,
    conflicts: ConflictsOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what `apply` would change and whom it would affect, and change nothing; exit code 2: there are changes."""
    use_settings(data_dir, phases_file)
    planned = plan_declared(_on_edits(overwrite_edits, conflicts))
    if as_json:
        print_json(
            {
                "changes": [{"message": str(change), "counts": change.counts} for change in planned.changes],
                "effects": [effect.model_dump() for effect in planned.effects],
                "rescore": planned.rescore,
                "leaks": [_leak(one) for one in planned.leaks],
            }
        )
    else:
        say_changes(planned.changes)
        say_effects(planned.effects)
        for one in planned.leaks:
            say(f"gold that scores reveal: {one}")
    if planned.changes_something:
        raise typer.Exit(Code.REJECTED)


#: Options for competitions that were left as edited.
EDITS_HINT = (
    "`evergold export yaml COMPETITION` writes the current declaration, edits included; --overwrite-edits applies "
    "the file as it is."
)


def _on_edits(overwrite: bool, conflicts: Side | None) -> OnEdits:
    from app.declarations.apply.precedence import OnEdits

    if overwrite and conflicts is not None:
        raise CommandError("--overwrite-edits drops all edits, so --conflicts has no meaning with it.", Code.USAGE)
    return OnEdits.OVERWRITE if overwrite else OnEdits(conflicts.value) if conflicts else OnEdits.ASK


def plan_declared(on_edits: OnEdits) -> Plan:
    """Return the plan of applying phases.yaml; raise CommandError for errors in it or in the database."""
    from app.server import prepare
    from app.server.datadir import ServeError

    try:
        prepare.check_migrated()
        return prepare.plan(on_edits=on_edits)
    except ServeError as error:
        raise CommandError(str(error)) from None


def apply_declared(
    migrate_first: bool, *, on_edits: OnEdits | None = None, as_drafts: bool = False, only: Path | None = None
) -> list[Change]:
    """Apply phases.yaml to the database and return the changes; raise CommandError for errors in either.

    on_edits: None to report conflicts. as_drafts: for new competitions. only: the only included file to apply.
    """
    from app.declarations.apply.precedence import OnEdits
    from app.models import Stage
    from app.server import prepare
    from app.server.datadir import ServeError

    try:
        if not migrate_first:
            prepare.check_migrated()
        elif prepare.migrate(lambda revision: remark(f"revision {revision}")):
            remark("The database was migrated.")
        stage = Stage.DRAFT if as_drafts else Stage.PUBLISHED
        return prepare.apply(on_edits=on_edits or OnEdits.ASK, stage=stage, only=only)
    except ServeError as error:
        raise CommandError(str(error)) from None


def say_changes(changes: list[Change]) -> None:
    """Print a line for each change, and their number."""
    for change in changes:
        say(str(change))
    counted = sum(change.counts for change in changes)
    say(f"{count(counted, 'change')}." if counted else "Nothing to change.")


def say_effects(effects: list[EffectOut]) -> None:
    """Print the effects of the changes."""
    if effects:
        say("\nWho is affected:")
    for effect in effects:
        say(f"  {effect}")


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    }


CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
NoteOption = Annotated[str, typer.Option("--note", help="Reason, for the history.")]
PreviewOption = Annotated[bool, typer.Option("--preview", help="Only show what would change.")]


@commands.command(rich_help_panel=PREPARING)
def history(
    competition: CompetitionArgument,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Number of revisions, the newest first.")] = 20,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the revisions of a competition's declaration: who changed what, and when."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.competitions.find import find_competition
    from app.declarations.revisions.kept import list_revisions

    with _in_words(), reading(get_engine(get_settings().database_address)) as session:
        found = list_revisions(session, find_competition(session, competition), limit=limit)
    if as_json:
        from app.declarations.views import describe_revision

        print_json({"revisions": [describe_revision(one).model_dump(mode="json") for one in found]})
        return
    rows = [
        (str(one.number), moment_words(one.made_at), one.author, one.source, _changes_text(one.changes, one.note))
        for one in found
    ]
    print_table(["Revision", "When (UTC)", "Who", "From", "What"], rows, numbers=["Revision"])


@commands.command("set", rich_help_panel=PREPARING)
def set_values(
    competition: CompetitionArgument,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…", help="Values to set, such as phases.evaluation.end='2027-02-07 23:59 AoE'."
        ),
    ],
    note: NoteOption = "",
    preview: PreviewOption = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Edit dates, limits, visibility, texts and the citation on the server; NAME= removes a value."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine
    from app.base.storage import storage_of
    from app.declarations.edits.edit import Edit, edit_values

    wanted = dict(_pair(text) for text in values)
    with _in_words():
        settings = get_settings()
        edit = Edit(competition, None, None, note, preview)
        engine = get_engine(settings.database_address)
        _print_outcome(edit, edit_values(engine, storage_of(settings), edit, wanted, datetime.now(UTC)), as_json)


@commands.command(rich_help_panel=PREPARING)
def undo(
    competition: CompetitionArgument,
    to: Annotated[int, typer.Option("--to", min=1, help="The revision to restore, as `evergold history` lists it.")],
    note: NoteOption = "",
    preview: PreviewOption = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Apply an earlier revision as a new one. Submissions stay as they are."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine
    from app.base.storage import storage_of
    from app.declarations.edits.edit import Edit, go_back

    with _in_words():
        settings = get_settings()
        edit = Edit(competition, None, None, note, preview)
        engine = get_engine(settings.database_address)
        _print_outcome(edit, go_back(engine, storage_of(settings), edit, to, datetime.now(UTC)), as_json)


def _print_outcome(edit: Edit, outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json(_document(outcome))
        return
    for warning in outcome.warnings:
        remark(f"Warning: {warning}")
    say_changes(outcome.changes)
    say_effects(outcome.effects)
    if outcome.revision is not None:
        say(f"\nThis is revision {outcome.revision} of '{edit.competition}'.")


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "base": outcome.base,
        "revision": outcome.revision,
        "changes": [{"message": str(change), "counts": change.counts} for change in outcome.changes],
        "effects": [effect.model_dump() for effect in outcome.effects],
        "warnings": outcome.warnings,
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"'{text}' is not NAME=VALUE.", Code.USAGE)
    return name.strip(), value


def _changes_text(changes: list[Any], note: str) -> str:
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    summary = f"{changes[0]}{more}" if changes else "no visible change"
    return f"{note}: {summary}" if note else summary


@contextmanager
def _in_words() -> Iterator[None]:
    """Raise errors of the block as CommandError, with the sentences of all fields."""
    from app.base.errors import EvergoldError

    try:
        yield
    except EvergoldError as error:
        message = " ".join([error.message, *(f"{name}: {sentence}" for name, sentence in error.fields.items())])
        raise CommandError(message, name=error.code, details=error.details) from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'A file'}: {error.strerror}.") from None
