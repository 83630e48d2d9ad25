"""`evergold life`: publish, pause, archive and delete a competition, in this server's database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.rows import database
from app.cli.settings import DataDirOption, command_line_act
from evergold.cli.output import PREPARING, Code, CommandError, JsonOption, print_json, print_table, say
from evergold.moments import deadline_words, moment_words

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.models import Competition, Halt, Stage

commands = typer.Typer()
life = typer.Typer(no_args_is_help=True, help="Publish, pause, archive or delete a competition.")
commands.add_typer(life, name="life", rich_help_panel=PREPARING)

CompetitionArgument = Annotated[str, typer.Argument(metavar="COMPETITION")]


@life.command()
def show(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show who sees a competition, and whether it is paused or archived."""
    from app.competitions.find import find_competition

    with database(data_dir) as session:
        found = find_competition(session, competition)
        _print_status(found, as_json)
        if not as_json:
            _tell_scores(session, found)


@life.command("set")
def change(
    competition: CompetitionArgument,
    stage: Annotated[str, typer.Option(metavar="STAGE", help="Who sees it: draft, private or published.")] = "",
    halt: Annotated[str, typer.Option(metavar="HALT", help="Status: none, paused or archived.")] = "",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown to everybody.")] = "",
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish, hide, pause or archive a competition; options left out keep their value."""
    from app.competitions.find import find_competition
    from app.competitions.life import Life, change_life, life_of

    with database(data_dir) as session:
        found = find_competition(session, competition)
        now_so = life_of(found)
        wanted = Life(_stage(stage) or now_so.stage, _halt(halt) or now_so.halt, reason or now_so.reason)
        change_life(session, found, wanted, actor=None, now=datetime.now(UTC))
        _print_status(found, as_json)


@life.command()
def confirm(
    competition: CompetitionArgument,
    decline: Annotated[
        str, typer.Option(metavar="TEXT", help="Allow publishing without confirming the scores; reason, in one line.")
    ] = "",
    data_dir: DataDirOption = None,
) -> None:
    """Confirm that baselines of an imported competition score what they did on the other system; then it can be
    published.
    """
    from app.competitions.confirmation import confirm_scores, decline_scores
    from app.competitions.find import find_competition

    with database(data_dir) as session:
        act, found = command_line_act(session), find_competition(session, competition)
        if decline:
            decline_scores(act, found, decline)
        else:
            confirm_scores(act, found)
        _tell_scores(session, found)
    say(f"It can be published: `evergold life set {competition} --stage published`.")


@life.command()
def delete(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Delete a competition in seven days; only where no team has submitted."""
    from app.competitions.find import find_competition
    from app.competitions.life import plan_deletion

    with database(data_dir) as session:
        found = find_competition(session, competition)
        plan_deletion(session, found, actor=None, now=datetime.now(UTC))
        _print_status(found, as_json)


@life.command()
def keep(competition: CompetitionArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Cancel a scheduled deletion; the competition is a draft then."""
    from app.competitions.find import find_competition
    from app.competitions.life import keep_competition

    with database(data_dir) as session:
        found = find_competition(session, competition)
        keep_competition(session, found, actor=None, now=datetime.now(UTC))
        _print_status(found, as_json)


def _stage(text: str) -> Stage | None:
    from app.models import Stage

    if text and text not in list(Stage):
        raise CommandError(f"--stage cannot be '{text}'; choose one of {', '.join(Stage)}.", Code.USAGE)
    return Stage(text) if text else None


def _halt(text: str) -> Halt | None:
    from app.models import Halt

    if text and text not in list(Halt):
        raise CommandError(f"--halt cannot be '{text}'; choose one of {', '.join(Halt)}.", Code.USAGE)
    return Halt(text) if text else None


def _print_status(competition: Competition, as_json: bool) -> None:
    from app.competitions.views import describe_life

    shown = describe_life(competition)
    if as_json:
        print_json(shown.model_dump(mode="json"))
        return
    halt = "" if shown.halt == "none" else f", {shown.halt}{f': {shown.reason}' if shown.reason else ''}"
    say(f"{competition.name} is {shown.stage}{halt}.")
    if shown.delete_at is not None:
        say(
            f"It will be deleted {deadline_words(shown.delete_at)}; `evergold life keep {competition.name}` "
            "cancels that."
        )


def _tell_scores(session: Session, competition: Competition) -> None:
    """Print the scores of baselines next to the declared ones, if an organiser has to confirm them."""
    from app.competitions.confirmation import confirmation_of, shown

    found = confirmation_of(session, competition)
    if found is None:
        return
    rows = [
        [one.phase, one.task, one.baseline, one.metric or "–", shown(one.value) if one.metric else one.reason, there]
        for one in found.scores
        for there in ["not in the bundle" if one.declared is None else shown(one.declared)]
    ]
    if rows:
        print_table(["Phase", "Task", "Baseline", "Metric", "Score here", "Score there"], rows)
    if found.verdict is None:
        for reason in found.reasons:
            say(f"To be compared: {reason.rstrip('.')}.")
        say(f"Then: `evergold life confirm {competition.name}`. Until then it stays a draft.")
    else:
        deed = "confirmed" if found.verdict.is_confirmed else f"not compared ({found.verdict.reason})"
        say(f"Scores {deed}, by {found.verdict.by}, {moment_words(found.verdict.at)}.")
