"""`evergold history`, `set`, `undo`: a competition's declaration on this server, by revisions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.declare import say_changes, say_effects
from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import PANEL, Code, CommandError, JsonOption, print_json, print_table, remark, say

if TYPE_CHECKING:
    from app.declarations.edits.edit import Edit, Outcome

commands = typer.Typer()

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]
NoteOption = Annotated[str, typer.Option("--note", help="Why, for the history.")]
PreviewOption = Annotated[bool, typer.Option("--preview", help="Show what would change, and change nothing.")]


@commands.command(rich_help_panel=PANEL)
def history(
    competition: CompetitionArgument,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 20,
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
        from app.web.declarations.schemas import revision_out

        print_json({"revisions": [revision_out(one).model_dump(mode="json") for one in found]})
        return
    rows = [
        (str(one.number), f"{one.made_at:%Y-%m-%d %H:%M}", one.author, one.source, _what(one.changes, one.note))
        for one in found
    ]
    print_table(["Revision", "When (UTC)", "Who", "From", "What"], rows, numbers=["Revision"])


@commands.command("set", rich_help_panel=PANEL)
def set_values(
    competition: CompetitionArgument,
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE…", help="Such as phases.evaluation.end='2027-02-07 23:59 AoE'."),
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
        _tell(edit, edit_values(engine, storage_of(settings), edit, wanted, datetime.now(UTC)), as_json)


@commands.command(rich_help_panel=PANEL)
def undo(
    competition: CompetitionArgument,
    to: Annotated[int, typer.Option("--to", min=1, help="The revision that holds again; `evergold history` has them.")],
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
        _tell(edit, go_back(engine, storage_of(settings), edit, to, datetime.now(UTC)), as_json)


def _tell(edit: Edit, outcome: Outcome, as_json: bool) -> None:
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
        "effects": [asdict(effect) for effect in outcome.effects],
        "warnings": outcome.warnings,
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"'{text}' is not NAME=VALUE.", Code.USAGE)
    return name.strip(), value


def _what(changes: list[Any], note: str) -> str:
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    said = f"{changes[0]}{more}" if changes else "nothing that shows"
    return f"{note}: {said}" if note else said


@contextmanager
def _in_words() -> Iterator[None]:
    """Raise refusals as CommandError, with all fields."""
    from app.base.errors import EvergoldError

    try:
        yield
    except EvergoldError as error:
        fields = error.details.get("fields") or {}
        message = " ".join([error.message, *(f"{name}: {sentence}" for name, sentence in fields.items())])
        raise CommandError(message, name=error.code, details=error.details) from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'A file'}: {error.strerror}.") from None
