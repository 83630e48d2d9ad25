"""Submissions in JSON: their state, scores and problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, Moment, example
from app.feedback.scores import OwnScores
from app.feedback.standings import RunStanding
from app.models import RunStatus, Submission
from app.runs.rescored import Rescored
from app.runs.stages import STATUS_WORDS, Stage, StageName
from app.submissions.find import current_run
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out
from app.web.submissions.standing_schemas import EXAMPLE_STANDING, StandingOut, standing_out
from evergold.scoring.task import Score

_EXAMPLE = {
    "id": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
    "status": "scored",
    "message": STATUS_WORDS[RunStatus.SCORED],
    "competition": "demo",
    "phase": "evaluation",
    "task": "idiom-detection",
    "team": "Ada Lovelace",
    "submitted_by": "ada",
    "submitted_at": "2026-01-11T09:00:00Z",
    "withdrawn_at": None,
    "started_at": "2026-01-11T09:00:00.120Z",
    "finished_at": "2026-01-11T09:00:00.300Z",
    "queue_position": None,
    "stage": "scored",
    "progress": None,
    "waiting_for": None,
    "stamp": "scored",
    "filename": "my_predictions.csv",
    "track": None,
    "size_bytes": 20480,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "system": "XLM-R large",
    "method": "XLM-R large",
    "description": "",
    "private_scores": [],
    "scores": [
        {
            "metric": "macro_f1",
            "split": "zero_shot/all",
            "value": 0.7037,
            "reason": None,
            "signature": "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1",
        },
        {
            "metric": "macro_f1",
            "split": "one_shot/all",
            "value": None,
            "reason": "not entered",
            "signature": "idiom-detection:1|macro_f1|one_shot/all|labels:0,1",
        },
    ],
    "standings": [EXAMPLE_STANDING],
    "problems": [],
    "problems_omitted": 0,
    "visibility": EXAMPLE_VISIBILITY,
    "choice": None,
    "rescored": [],
    "links": {
        "self": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
        "file": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/file",
        "problems": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/problems.csv",
        "report": "/api/v1/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11/report",
        "task": "/api/v1/competitions/demo/phases/evaluation/tasks/idiom-detection",
        "page": "/submissions/0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
    },
}


class ScoreOut(ApiModel):
    """One score: a fraction in the digits of the phase, or null with the reason why it is undefined."""

    metric: str
    split: str
    value: float | None
    reason: str | None
    signature: str = Field(description="how it was computed; scores compare if and only if these are equal")


class ProblemOut(ApiModel):
    """One thing wrong with the file (or, as a warning, noticed in it)."""

    code: str = Field(description="stable word for scripts", examples=["duplicate-id"])
    message: str
    file: str | None = Field(description="member of an archive, if there are several")
    line: int | None = Field(description="counted from 1; the header is line 1")
    column: str | None
    text: str | None = Field(description="the offending text, shortened")
    severity: Literal["error", "warning"]
    lines: int = Field(1, description="how many lines it stands for, this one first")
    sentence: str = Field(
        description="place and message in one", examples=["line 14: id 203 appears twice, first on line 9"]
    )


class SubmissionProgress(ApiModel):
    """The progress of a long scoring, updated about once a second."""

    items_done: int
    items_total: int
    seconds_left: int | None = Field(description="at the pace so far; null while nothing is known of it")


class WaitingOut(ApiModel):
    """A kind of worker that is not there; the submission is scored when one comes, and loses nothing meanwhile."""

    queue: str = Field(
        description="gpu, sandbox (of organisers' own programs), or gold, sealed for the program", examples=["gpu"]
    )
    since: Moment


class ChoiceOut(ApiModel):
    """The state of the choice, where teams choose which of their submissions counts."""

    boards: list[str] = Field(description="those on which the team wants to stand with it")
    until: Moment | None = Field(description="until then the last choice counts; null: for ever")


class RescoredOut(ApiModel):
    """A rescoring by the organisers, against corrected gold or by other rules."""

    at: Moment
    note: str = Field(description="the organisers' reason")
    before: RunStatus
    after: RunStatus
    scores_before: list[ScoreOut] = Field(description="those that are others now, as far as the phase shows scores")


class SubmissionLinks(ApiModel):
    """Links from a submission."""

    self: str
    file: str = Field(description="the file as you sent it")
    problems: str = Field(description="the problems as CSV")
    report: str | None = Field(description="every score and the task's own report; null until it is scored")
    task: str
    page: str = Field(description="for people")


class SubmissionOut(ApiModel):
    """A submission as its team sees it. `scored`, `rejected` and `failed` are final, and come with their results."""

    model_config = example(_EXAMPLE)

    id: UUID
    status: RunStatus
    message: str = Field(description="the status in a sentence")
    competition: str
    phase: str
    task: str
    team: str
    submitted_by: str
    submitted_at: Moment
    withdrawn_at: Moment | None = Field(description="since when it counts on no board, as its team withdrew it")
    started_at: Moment | None
    finished_at: Moment | None
    queue_position: int | None = Field(description="1: next in line; null: not waiting, or not looked up in a rush")
    stage: StageName = Field(
        description="as `status`, but finer: `waiting` is queued without a worker that could take it, `checking` and "
        "`scoring` are running"
    )
    progress: SubmissionProgress | None = Field(description="null unless it is being scored, and takes long")
    waiting_for: WaitingOut | None = Field(description="null unless `stage` is `waiting`")
    stamp: str = Field(description="send it as `seen`, to wait until there is news")
    filename: str
    size_bytes: int
    sha256: str
    track: str | None = Field(description="null where the competition had no tracks")
    system: str | None = Field(description="what the team calls the system; its runs share a method card")
    method: str
    description: str
    scores: list[ScoreOut] = Field(description="as far as the phase shows them to teams, see `visibility`")
    private_scores: list[ScoreOut] = Field(
        description="of the private part of the items, once they are shown; none where items are not divided"
    )
    standings: list[StandingOut] = Field(description="one for each board that it entered; empty until it is scored")
    problems: list[ProblemOut]
    problems_omitted: int = Field(description="how many more problems were only counted")
    visibility: VisibilityOut
    choice: ChoiceOut | None = Field(description="null where teams do not choose which submission counts")
    rescored: list[RescoredOut] = Field(description="the latest first; `scores` are those of now")
    links: SubmissionLinks


class SubmissionList(ApiModel):
    """A page of your teams' submissions, newest first."""

    model_config = example({"submissions": [_EXAMPLE], "next": None})

    submissions: list[SubmissionOut]
    next: str | None = Field(description="the next page, as in the Link header; null: this is the last")


def submission_out(
    submission: Submission, stage: Stage, own: OwnScores, standings: Sequence[RunStanding]
) -> SubmissionOut:
    """Return a submission as an API model.

    submission: from `get_submission`; stage: of its current run; own: the scores that are shown.
    """
    run = current_run(submission)
    status = RunStatus(run.status)
    phase, task = submission.phase_task.phase, submission.phase_task.task
    return SubmissionOut(
        id=submission.id,
        status=status,
        message=f"{stage.message} {own.hidden_words}".rstrip(),
        competition=phase.competition.name,
        phase=phase.name,
        task=task.name,
        team=submission.team.name,
        submitted_by=submission.user.username,
        submitted_at=submission.submitted_at,
        withdrawn_at=submission.withdrawn_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        queue_position=stage.position,
        stage=stage.name,
        progress=_progress(stage),
        waiting_for=WaitingOut(queue=stage.waiting.kind, since=stage.waiting.since) if stage.waiting else None,
        stamp=stage.stamp,
        filename=submission.filename,
        size_bytes=submission.size_bytes,
        sha256=submission.sha256,
        track=submission.track,
        system=submission.system.name if submission.system else None,
        method=submission.method,
        description=submission.description,
        scores=[score_out(score) for score in own.scores],
        private_scores=[score_out(score) for score in own.private],
        standings=[standing_out(one) for one in standings],
        problems=[ProblemOut(**known_problem(problem)) for problem in run.problems],
        problems_omitted=run.problems_omitted,
        visibility=visibility_out(own.view),
        choice=ChoiceOut(boards=list(own.chosen_for), until=own.settings.choose_until) if own.has_choice else None,
        rescored=[_rescored(one) for one in own.rescored],
        links=SubmissionLinks(
            self=api_links.submission(submission.id),
            file=api_links.submission_file(submission.id),
            problems=api_links.problems(submission.id),
            report=api_links.report(submission.id) if status is RunStatus.SCORED and own.view.own_scores else None,
            task=api_links.task(phase.competition.name, phase.name, task.name),
            page=links.submission(submission.id),
        ),
    )


def _rescored(told: Rescored) -> RescoredOut:
    return RescoredOut(
        at=told.at,
        note=told.note,
        before=told.before,
        after=told.after,
        scores_before=[score_out(old) for old, _ in told.changes],
    )


def _progress(stage: Stage) -> SubmissionProgress | None:
    if stage.items_total is None:
        return None
    return SubmissionProgress(
        items_done=stage.items_done or 0, items_total=stage.items_total, seconds_left=stage.seconds_left
    )


def score_out(score: Score) -> ScoreOut:
    """Return a score as an API model."""
    return ScoreOut(
        metric=score.metric, split=score.split, value=score.value, reason=score.reason, signature=score.signature
    )


def known_problem(problem: dict[str, Any]) -> dict[str, Any]:
    """Return the known fields of a stored problem; a later version may have written others."""
    return {name: value for name, value in problem.items() if name in ProblemOut.model_fields}
