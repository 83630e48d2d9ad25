"""`evergold import codabench` and `import evalai`: competitions of other systems, from the zips that made them."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.declare import apply_declared, say_changes
from app.cli.imports import (
    GoldDirOption,
    check_phases_file,
    how_to_include,
    importers,
    is_included,
    problems_as_command_errors,
)
from app.cli.settings import DataDirOption, PhasesOption, gold_folder, use_settings
from evergold.cli.output import Code, CommandError, count, remark, say

if TYPE_CHECKING:
    from app.importers.bundles.imported import Imported, Target
    from app.importers.bundles.moments import Assumed, Question

#: Empty: the commands join the group of `app.cli.imports`.
commands = typer.Typer()

BundleArgument = Annotated[
    Path,
    typer.Argument(
        metavar="BUNDLE.zip", exists=True, dir_okay=False, help="The zip that was uploaded to the other system."
    ),
]
IntoOption = Annotated[
    Path | None,
    typer.Option("--into", metavar="FOLDER", help="The competition's folder; default: competitions/NAME of its title."),
]
NameOption = Annotated[
    str, typer.Option(metavar="NAME", help="The competition's name in addresses; default: derived from its title.")
]
ZoneOption = Annotated[
    str,
    typer.Option(
        metavar="ZONE", help="Time zone of dates without one: UTC, AoE, +02:00, Europe/Paris; otherwise prompted for."
    ),
]
DatesOption = Annotated[
    str,
    typer.Option(metavar="mdy|dmy", help="Order of day and month in ambiguous dates such as 8-7-2026."),
]
SealOption = Annotated[bool, typer.Option("--seal", help="Apply, and delete the plain copies of sealed gold.")]
ApplyOption = Annotated[
    bool,
    typer.Option("--apply/--no-apply", help="Afterwards check and apply this competition alone, and seal its gold."),
]


@importers.command()
def codabench(
    bundle: BundleArgument,
    into: IntoOption = None,
    name: NameOption = "",
    assume_zone: ZoneOption = "",
    assume_dates: DatesOption = "",
    results: Annotated[
        bool,
        typer.Option("--results", help="Accept uploaded results for tasks that would run code of teams (ingestion)."),
    ] = False,
    seal: SealOption = False,
    apply_after: ApplyOption = False,
    gold_dir: GoldDirOption = None,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Import a bundle of Codabench or CodaLab (versions 1, 1.5, 1.8 and 2), with its scoring programs."""
    from app.importers.codabench.importing import import_codabench

    use_settings(data_dir, phases_file)

    def read(target: Target, assumed: Assumed) -> Imported:
        return import_codabench(bundle, target, assumed, takes_results=results)

    target = _target(into, gold_dir or gold_folder(), name)
    _import(read, _assumed(assume_zone, assume_dates), target, (apply_after or seal, seal))


@importers.command()
def evalai(
    bundle: Annotated[
        Path,
        typer.Argument(
            metavar="CHALLENGE.zip", exists=True, dir_okay=False, help="The zip that was uploaded to the other system."
        ),
    ],
    into: IntoOption = None,
    name: NameOption = "",
    assume_zone: ZoneOption = "",
    assume_dates: DatesOption = "",
    seal: SealOption = False,
    apply_after: ApplyOption = False,
    gold_dir: GoldDirOption = None,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Import a challenge of EvalAI, with its evaluation script; dates without a zone are UTC, as there."""
    from app.importers.evalai.importing import import_evalai

    use_settings(data_dir, phases_file)

    def read(target: Target, assumed: Assumed) -> Imported:
        return import_evalai(bundle, target, assumed)

    target = _target(into, gold_dir or gold_folder(), name)
    _import(read, _assumed(assume_zone, assume_dates), target, (apply_after or seal, seal))


def _target(into: Path | None, gold: Path, name: str) -> Target:
    from app.declarations.values import NAME_PATTERN
    from app.importers.bundles.imported import Target

    if name and (len(name) > 60 or not re.fullmatch(NAME_PATTERN, name)):
        raise CommandError(f"'{name[:80]}' is not a name: lower-case letters, digits and single hyphens.", Code.USAGE)
    return Target(into, gold, name)


def _import(
    read: Callable[[Target, Assumed], Imported],
    assumed: Assumed,
    target: Target,
    then: tuple[bool, bool],
) -> None:
    """Write the competition, show open questions, and apply and seal it if wanted; exit with REFUSED if questions are
    open.

    then: whether to apply, and whether to seal.
    """
    applies, seals = then
    if applies:
        check_phases_file()
    with tempfile.TemporaryDirectory(prefix="evergold-gold-") as unsealed:
        place = replace(target, gold=Path(unsealed)) if seals else target
        imported = _with_scores(_read(read, place, assumed))
        written = imported.written
        where = written.folder if seals else f"{written.folder} and {target.gold}"
        say(f"Wrote {written.folder / 'competition.yaml'} and {count(len(written.paths) - 1, 'file')} below {where}.")
        for one in imported.compared:
            if not one.words:
                say(f"Baseline '{one.name}' of {one.task} in {one.phase}: {one.shown}")
        for note in imported.open_notes:
            remark(f"  open: line {note.line}, {note.path}: {note.text}")
        if applies:
            _apply(imported)
            _seal(imported)
            _say_draft(imported)
    say(f"{written.folder / 'IMPORT.md'} shows what each key of the bundle became.")
    if not applies:
        say("Next: `evergold check`, `evergold apply`, and for the gold of each task:")
        for (phase, task), path in written.gold.items():
            say(f"  evergold gold put {imported.plan.name}/{phase}/{task} {path}")
    if imported.open_notes:
        raise typer.Exit(Code.REFUSED)


def _read(read: Callable[[Target, Assumed], Imported], target: Target, assumed: Assumed) -> Imported:
    """Import the bundle, with answers from the terminal for what it leaves open; exit if there is no terminal."""
    from app.importers.bundles.moments import Unanswered

    for _ in range(3):
        try:
            with problems_as_command_errors():
                return read(target, assumed)
        except Unanswered as unanswered:
            if not sys.stdin.isatty():
                raise _unanswered(unanswered.questions) from None
            assumed = _answers(unanswered.questions, assumed)
    raise CommandError("Nothing was imported: its dates are ambiguous.", Code.REFUSED)


def _with_scores(imported: Imported) -> Imported:
    """Score the bundle's own results in a sandbox on this machine, and compare them with the scores of the other
    platform.
    """
    from app.importers.bundles.imported import samples_of, with_compared
    from app.importers.bundles.report import Compared
    from evergold.cli.score_program import AtHome, answers_at_home

    samples = samples_of(imported)
    if not samples:
        return imported
    folder = imported.written.folder
    answers = answers_at_home([AtHome(folder, one.submission, one.gold, one.task, one.phase) for one in samples])
    compared = []
    for one, answer in zip(samples, answers, strict=True):
        scores = {score["metric"]: score["value"] for score in answer.get("scores", ())}
        compared.append(Compared(one.phase, one.task, one.name, scores, _why_not(answer)))
    return with_compared(imported, compared)


def _why_not(answer: dict[str, Any]) -> str:
    """Return the reason why there are no scores; "" if there are some."""
    if "error" in answer:
        return str(answer["message"])
    if not answer["failure"]:
        return ""
    lines = [line.strip() for line in answer["log"]["stderr"].splitlines() if line.strip()]
    return f"the program {answer['failure']}" + (f" ({lines[-1][:200]})" if lines else "")


def _unanswered(questions: list[Question]) -> CommandError:
    about = {one.about for one in questions}
    options = [
        option
        for kind, option in (("zone", "--assume-zone UTC|AoE|Europe/Paris"), ("order", "--assume-dates mdy|dmy"))
        if kind in about
    ]
    message = f"Nothing was imported: some dates are ambiguous. Decide with {' and '.join(options)}."
    return CommandError(message, Code.REFUSED, name="ambiguous_dates", lines=[f"  {one}" for one in questions])


def _answers(questions: list[Question], assumed: Assumed) -> Assumed:
    """Return the answers typed on the terminal; one answer applies to all dates."""
    for question in questions:
        remark(f"  {question}")
    about = {one.about for one in questions}
    if "order" in about:
        order = typer.prompt("Is the month first (mdy) or the day (dmy)?", err=True)
        assumed = replace(assumed, order=_assumed("", order).order)
    if "zone" in about:
        zone = typer.prompt("Which time zone do dates without one have (UTC, AoE, +02:00, Europe/Paris)?", err=True)
        assumed = replace(assumed, zone=_assumed(zone, "").zone)
    return assumed


def _assumed(zone: str, order: str) -> Assumed:
    from app.importers.bundles.moments import Assumed, DateOrder, find_zone

    if order and order not in list(DateOrder):
        raise CommandError(f"'{order}' is not an order of dates: mdy or dmy.", Code.USAGE)
    try:
        return Assumed(find_zone(zone) if zone else None, DateOrder(order) if order else None)
    except ValueError as fault:
        raise CommandError(f"{fault}.", Code.USAGE) from None


def _apply(imported: Imported) -> None:
    """Apply only this competition; as a draft if questions are open, or organisers have to confirm scores."""
    declaration = imported.written.folder / "competition.yaml"
    if not is_included(declaration):
        raise CommandError(how_to_include(declaration))
    say_changes(apply_declared(migrate_first=True, as_drafts=bool(imported.open_notes), only=declaration))


def _say_draft(imported: Imported) -> None:
    """Print why the competition is a draft, and the commands that publish it."""
    from app.competitions.confirmation import CONFIRM_SCORES

    name = imported.plan.name
    publish = f"`evergold life set {name} --stage published`"
    if imported.written.document.get(CONFIRM_SCORES):
        say(
            "It is a draft until an organiser has compared its scores with those of the other system. Once workers run:"
        )
        say(f"  `evergold life show {name}`, `evergold life confirm {name}`, {publish}")
    elif imported.open_notes:
        say(f"It is a draft because something is still open. When that is settled: {publish}.")


def _seal(imported: Imported) -> None:
    """Seal the gold of all tasks that are not closed, after creating the first key of a single-machine server if
    needed.
    """
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.cli.gold import keygen, put_all
    from app.gold.recorded import recipients

    settings = get_settings()
    with reading(get_engine(settings.database_address)) as session:
        has_key = bool(recipients(session, settings.sealing_keys))
    if imported.written.gold and not has_key and not settings.database_url:
        keygen()
    places = imported.written.gold.items()
    put_all({f"{imported.plan.name}/{phase}/{task}": path for (phase, task), path in places})
