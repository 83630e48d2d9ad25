"""`evergold climbers`: teams whose submissions repeatedly differ by few lines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import WHILE_IT_RUNS, Code, CommandError, JsonOption, print_json, print_table, remark

commands = typer.Typer()


@commands.command(rich_help_panel=WHILE_IT_RUNS)
def climbers(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List teams that keep submitting small changes, which is how hidden labels are learnt from a board."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.base.errors import NotFound
    from app.competitions.find import find_competition
    from app.submissions.climbing import climbing_teams

    with reading(get_engine(get_settings().database_address)) as session:
        try:
            found = climbing_teams(session, find_competition(session, competition))
        except NotFound as error:
            raise CommandError(str(error), Code.ERROR, name=error.code) from None
    if as_json:
        listed = [{**asdict(one), "told_at": one.told_at.isoformat() if one.told_at else None} for one in found]
        print_json({"climbers": listed})
        return
    rows = [(one.team, f"{one.phase}/{one.task}", f"{one.small_steps} of {one.submissions}") for one in found]
    print_table(["Team", "Phase/task", "Small steps"], rows)
    if not found:
        remark("No team keeps submitting small changes.")
