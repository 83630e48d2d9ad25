"""Logs of the organisers' program, one per run: for organisers, and for teams if organisers declare it.

The page that a program writes is sanitised whenever it is shown: no script, style, form, image or external link is
left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import nh3
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.packing import unpacked
from app.models import CompetitionTask, PhaseTask, ScoringRun, Submission
from app.runs.views import ProgramLogOut
from evergold.scoring.errors import InvalidOptions
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.results import shown_to_teams
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

#: Elements of a page that show text and tables; nothing that loads, runs, styles or leads anywhere.
_TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "pre", "code", "kbd", "samp", "blockquote"),
    *("b", "strong", "i", "em", "u", "s", "sub", "sup", "small", "mark", "abbr", "q", "ul", "ol", "li", "dl", "dt"),
    *("dd", "table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td", "figure", "figcaption"),
}
_ATTRIBUTES = {"th": {"colspan", "rowspan", "scope"}, "td": {"colspan", "rowspan"}, "ol": {"start"}}
#: Elements whose text is no text for readers either.
_WITH_CONTENT = {"script", "style", "title", "template", "noscript", "iframe", "object", "svg", "math"}


def safe_page(page: str) -> str:
    """Return a program's HTML reduced to text, its structure, and tables."""
    return nh3.clean(
        page, tags=_TAGS, attributes=_ATTRIBUTES, clean_content_tags=_WITH_CONTENT, link_rel=None, strip_comments=True
    )


def program_log_of(session: Session, run_id: int, *, is_organiser: bool) -> ProgramLogOut | None:
    """Return the parts of a run's log that this viewer may read; None if there are none.

    The caller checks that the viewer may see the run and, for teams, its scores.
    """
    found = session.execute(
        select(ScoringRun.program_log, PhaseTask, CompetitionTask)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(ScoringRun.id == run_id)
    ).one_or_none()
    if found is None or found[0] is None:
        return None
    log: dict[str, Any] = unpacked(found[0])
    if not is_organiser:
        log = _for_team(log, found[1], found[2])
        if not log:
            return None
    if log.get("page"):
        log["page"] = safe_page(log["page"])
    return ProgramLogOut.model_validate(log)


def _for_team(log: Mapping[str, Any], phase_task: PhaseTask, task: CompetitionTask) -> dict[str, Any]:
    try:
        options = cast(ProgramOptions, read_options(get_task(task.task_type), phase_task.options_of(task)))
    except InvalidOptions:  # of another version: nothing is shown that may not be
        return {}
    return shown_to_teams(log, options) if isinstance(options, ProgramOptions) else {}
