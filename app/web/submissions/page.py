"""The page of a submission, with its table of scores; live until its state is final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError
from app.boards.marks import mark_of_submission
from app.cards.edits import card_of_submission, frozen_by, is_of_team
from app.competitions.find import boards_of
from app.competitions.metrics import metrics_of
from app.competitions.visibility import Viewer
from app.feedback.certainty import certainty_of
from app.feedback.other_entries import MOST_READ, other_entries
from app.feedback.program_logs import log_for
from app.feedback.scores import OwnScores, own_scores_of
from app.feedback.standings import RunStanding, standings_known
from app.models import TERMINAL, Board, EntryRule, Right, RunStatus
from app.people.rights import may_organise
from app.runs.stages import stage_of
from app.submissions.choices import (
    NoChoice,
    NotWithdrawable,
    boards_entered,
    choose_entry,
    is_returnable,
    is_withdrawable,
    may_put_back,
    put_back,
    withdraw_choice,
    withdraw_submission,
)
from app.submissions.find import current_run, get_submission
from app.web.html.guards import FormSender, PageForm, PageUser, form_again, form_guard, local_path
from app.web.html.rendering import render_page
from app.web.html.words import RUN_STATES, format_score, split_title
from app.web.html.workspace import workspace_of_task
from app.web.http.context import ServerHere
from app.web.http.identity import VisitorHere, viewer_as
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit, Visit, visit_of
from app.web.submissions.waiting import LIVE_SECONDS, check_visible, wait_for_change
from evergold.scoring.task import Metric, Score

#: Number of decimals shown.
DECIMALS = 4
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A cell. text: empty without a value, which `reason` explains. Both are empty if the split has no such score."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A split of the items. name: as in addresses; title: with the names of languages."""

    name: str
    title: str
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The table of scores. metrics: titles of the columns."""

    metrics: tuple[str, ...]
    rows: tuple[SplitRow, ...]


def score_table(scores: Sequence[Score], metrics: Mapping[str, Metric], precision: int | None) -> ScoreTable:
    """Return the table, with splits and metrics in the order of the scores. precision: decimals shown in the phase,
    None for all.
    """
    by_place = {(score.split, score.metric): score for score in scores}
    columns = list(dict.fromkeys(score.metric for score in scores))
    decimals = DECIMALS if precision is None else min(DECIMALS, precision)
    return ScoreTable(
        tuple(metrics[name].title if name in metrics else name for name in columns),
        tuple(
            SplitRow(split, split_title(split), tuple(_cell(by_place.get((split, name)), decimals) for name in columns))
            for split in dict.fromkeys(score.split for score in scores)
        ),
    )


def _cell(score: Score | None, decimals: int) -> ScoreCell:
    if score is None:
        return ScoreCell("", "")
    if score.value is None:
        return ScoreCell("", score.reason or "undefined")
    return ScoreCell(f"{score.value:.{decimals}f}".replace("-", _MINUS), "")


router = page_router()

#: A task with more scores (languages by views) shows only those on boards.
SCORES_SHOWN = 60


class ChoiceForm(PageForm):
    """A choice of the entry. board: the only one it applies to; empty: all boards. back: the page to return to, if it
    is the list.
    """

    board: str = ""
    action: str = "choose"
    back: str = ""


class WithdrawalForm(PageForm):
    """A withdrawal. also: later submissions to withdraw with it; back: the submission to show afterwards."""

    also: list[UUID] = Field(default_factory=list, max_length=MOST_READ)
    back: UUID | None = None


@router.get("/submissions/{submission_id}")
def read_submission(_: PageUser, visit: PageVisit, submission_id: UUID) -> Response:
    return _page(visit, submission_id)


def _page(visit: Visit, submission_id: UUID, error: EvergoldError | None = None) -> Response:
    return render_page(visit, "submissions/page.html", **_shown(visit, submission_id), error=error, is_update=False)


@router.post("/submissions/{submission_id}/choice")
@form_again(_page, NoChoice)
def choose(
    sender: Annotated[FormSender, Depends(form_guard("/submissions/{submission_id}"))],
    submission_id: UUID,
    form: Annotated[ChoiceForm, Form()],
) -> Response:
    """Choose the submission as the entry, on one board or on all, or undo the choice."""
    now = sender.server.clock()
    with writing(sender.server.engine) as session:
        if form.action == "withdraw":
            withdraw_choice(session, submission_id, sender.user, now)
        else:
            choose_entry(session, submission_id, sender.user, now, board=form.board or None)
    return RedirectResponse(local_path(form.back) if form.back else links.submission(submission_id), 303)


@router.post("/submissions/{submission_id}/withdrawal")
@form_again(_page, NotWithdrawable)
def withdraw(
    sender: Annotated[FormSender, Depends(form_guard("/submissions/{submission_id}"))],
    submission_id: UUID,
    form: Annotated[WithdrawalForm, Form()],
) -> Response:
    """Withdraw a submission and, to return to a better one, the later ones in `also`."""
    with writing(sender.server.engine) as session:
        for one in dict.fromkeys([*form.also, submission_id]):
            withdraw_submission(session, one, sender.user, sender.server.clock())
    return RedirectResponse(links.submission(form.back or submission_id), 303)


@router.post("/submissions/{submission_id}/put-back")
@form_again(_page, NotWithdrawable)
def send_back(
    sender: Annotated[FormSender, Depends(form_guard("/submissions/{submission_id}"))], submission_id: UUID
) -> Response:
    with writing(sender.server.engine) as session:
        put_back(session, submission_id, sender.user, sender.server.clock())
    return RedirectResponse(links.submission(submission_id), 303)


@router.get("/submissions/{submission_id}/live")
async def read_live(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    submission_id: UUID,
    seen: Annotated[str | None, Query(max_length=40)] = None,
) -> Response:
    """Return the live part of the page as soon as its stamp differs from `seen`."""
    if visitor.user is None:  # logged out meanwhile: redirect the whole page
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    await run_sync(check_visible, server, submission_id, visitor.user)
    await wait_for_change(request, visitor.user, submission_id, seconds=LIVE_SECONDS, seen=seen)
    return await run_sync(_live_part, request, viewer_as(visitor, server.clock(), None), submission_id, seen)


def _live_part(request: Request, viewer: Viewer, submission_id: UUID, seen: str | None) -> Response:
    with visit_of(request, viewer) as visit:
        shown = _shown(visit, submission_id)
        same_stage = seen is not None and seen.partition(".")[0] == shown["status"] and "." in seen
        return render_page(
            visit, "submissions/live.html", **shown, error=None, is_update=True, is_announced=not same_stage
        )


def _shown(visit: Visit, submission_id: UUID) -> dict[str, Any]:
    """Return the template context of the page and its live part."""
    session, viewer, now = visit.session, visit.viewer, visit.now
    submission = get_submission(session, submission_id, viewer.user)
    run = current_run(submission)
    stage = stage_of(session, run, submission.phase_task.task.task_type, now)
    own = own_scores_of(session, submission, viewer)
    choosable = boards_entered(session, submission) if own.has_choice else []
    card, mark = card_of_submission(session, submission), mark_of_submission(session, submission)
    is_own = is_of_team(session, submission, viewer.user)
    may_withdraw = is_own and is_withdrawable(session, submission, now)
    returns = viewer.user is not None and may_put_back(session, submission, viewer.user, now)
    is_final_step = may_withdraw and not is_returnable(session, submission, now)
    is_editable = is_own and frozen_by(session, submission) is None
    is_organiser = may_organise(session, viewer.user, submission.phase_task.phase.competition, Right.SUBMISSIONS)
    known = {submission.id: own}
    standings = standings_known(session, submission, known, viewer)
    certain = certainty_of(session, [submission], known).get(submission.id)
    others = other_entries(session, submission, standings, own) if is_own and not submission.withdrawn_at else {}
    program_log = log_for(session, submission, viewer.user, own.view)
    workspace = workspace_of_task(session, submission.phase_task, viewer, "runs")
    competition = workspace.competition
    phase = next(phase for phase in competition.phases if phase.id == submission.phase_task.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == submission.phase_task.task_id]
    metrics = metrics_of(submission.phase_task.task)
    scores = _scores(boards, own)
    return {
        "submission": submission,
        "run": run,
        "status": RunStatus(run.status),
        "stage": stage,
        "message": stage.message,
        "reasons": stage.waiting.reasons if stage.waiting and is_organiser else (),
        "is_final": run.status in TERMINAL,
        "program_log": program_log,
        "program_page": Markup(program_log.page) if program_log and program_log.page else "",  # noqa: S704 - sanitised
        "phase": phase,
        "competition": competition,
        "task": submission.phase_task.task,
        "own": own,
        "card": card,
        "card_is_editable": is_editable,
        "mark": mark,
        "is_withdrawable": may_withdraw,
        "withdraws_for_good": is_final_step,
        "may_put_back": returns,
        "choosable": choosable,
        "seen_as": viewer.seen_as,
        "standings": standings,
        "is_compared_later": any(one.rivals is not None and one.rivals.is_pending for one in standings),
        "others": others,
        "way_back": _way_back(own, is_own=is_own, may_withdraw=may_withdraw),
        "workspace": workspace,
        "title": _title(RunStatus(run.status), standings),
        "scores": scores,
        "intervals": certain.intervals if certain else {},
        "score_table": score_table(scores, metrics, own.view.precision),
        "private_table": score_table(_on_boards(boards, own.private), metrics, own.view.precision),
        "errors": [problem for problem in run.problems if problem.get("severity") != "warning"],
        "warnings": [problem for problem in run.problems if problem.get("severity") == "warning"],
        "metrics": metrics,
    }


def _way_back(own: OwnScores, *, is_own: bool, may_withdraw: bool) -> str:
    """Return how the team can return to a better submission: `withdraw`, `choose`, or "" if it cannot or need not."""
    if own.settings.rule is EntryRule.LAST:
        return "withdraw" if may_withdraw else ""
    return "choose" if own.settings.rule is EntryRule.CHOSEN and is_own and own.is_choosable else ""


def _title(status: RunStatus, standings: list[RunStanding]) -> str:
    """Return the state and the first score, such as `Scored 0.743`, for the title of a browser tab."""
    first = next((one for one in standings if one.score.value is not None), None)
    if first is None or first.score.value is None:
        return RUN_STATES[status]
    return f"{RUN_STATES[status]} {format_score(first.score.value, first.column)}"


def _scores(boards: list[Board], own: OwnScores) -> list[Score]:
    """Return all scores or, if there are too many, only those on boards; the report has all of them."""
    return list(own.scores) if len(own.scores) <= SCORES_SHOWN else _on_boards(boards, own.scores)


def _on_boards(boards: list[Board], scores: Sequence[Score]) -> list[Score]:
    on_boards = {(column["metric"], column["split"]) for board in boards for column in board.columns}
    return [score for score in scores if (score.metric, score.split) in on_boards]
