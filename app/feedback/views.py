"""API schemas for a team's own submissions: state, scores, standings, comparison of two, full report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from app.base import api_links, links
from app.base.answers import ApiModel, Mirror, Moment, example
from app.boards.views import DifferenceTestOut, IntervalOut
from app.competitions.views import EXAMPLE_VISIBILITY, VisibilityOut, describe_visibility
from app.feedback.compare import Better, Comparison
from app.feedback.items import ComparedItem, ItemComparison
from app.feedback.reports import Report
from app.feedback.scores import OwnScores
from app.feedback.standings import PeerComparison, RunStanding
from app.models import RunStatus, Submission
from app.runs.rescored import Rescored
from app.runs.stages import STATUS_WORDS, Stage, StageName
from app.submissions.find import current_run
from app.submissions.views import ProblemOut


class ScoreOut(Mirror):
    """One score: a fraction with the decimals of the phase, or null with the reason why it is undefined."""

    metric: str
    split: str
    value: float | None
    reason: str | None
    signature: str = Field(description="scores are comparable only if their signatures match")


_TEST = {
    "difference": 0.0312,
    "low": 0.0121,
    "high": 0.0503,
    "level": 0.95,
    "p": 0.0013,
    "corrected": None,
    "method": "paired:1|resamples:10000|units:item,4217|seed:8c4f0a5b21d97e36",
}
EXAMPLE_STANDING: dict[str, Any] = {
    "board": "detection-zero-shot",
    "metric": "macro_f1",
    "split": "zero_shot/all",
    "value": 0.7037,
    "reason": None,
    "change": 0.0312,
    "to_best": 0.0312,
    "to_baseline": 0.3017,
    "rank": 4,
    "of": 34,
    "rank_then": 4,
    "up": 2,
    "counts": True,
    "why": "latest submission",
    "interval": {
        "low": 0.6911,
        "high": 0.7159,
        "level": 0.95,
        "method": "jackknife-logit-t:1|units:item,4217",
    },
    "change_test": _TEST,
    "rivals": {
        "state": "current",
        "baseline": "Majority class",
        "baseline_test": {**_TEST, "difference": 0.3017, "low": 0.2811, "high": 0.3223, "p": 0.0001},
        "not_distinguishable_from": ["Saudade Lab"],
        "ahead": 2,
        "behind": 30,
    },
}


class RivalsOut(ApiModel):
    """An entry compared with the other rows of its board: which rows differ significantly."""

    state: Literal["current", "pending"] = Field(description="`pending`: the comparison is still being computed")
    baseline: str | None = Field(description="the best baseline that was compared with it")
    baseline_test: DifferenceTestOut | None = Field(description="score of the run minus that of the baseline")
    not_distinguishable_from: list[str] = Field(description="teams, in the order of the board")
    ahead: int = Field(description="how many ranked rows are significantly better")
    behind: int = Field(description="how many are significantly worse")


class StandingOut(ApiModel):
    """A scored submission on one board, in the ranking column, restricted to what the phase shows its team."""

    board: str
    metric: str
    split: str
    value: float | None
    reason: str | None
    change: float | None = Field(description="change from the team's previous submission; null: this is the first")
    to_best: float | None = Field(description="change from the best of the team's other submissions")
    to_baseline: float | None = Field(description="change from the best baseline on the board")
    rank: int | None = Field(description="rank that this submission has, or would have today if it counted")
    of: int | None = Field(description="number of ranked rows")
    rank_then: int | None = Field(description="the team's rank at submission; null: the list leaves it out")
    up: int | None = Field(description="how many places the team rose with this submission; null as for `rank_then`")
    counts: bool | None = Field(description="whether this submission is the team's entry; null: hidden")
    why: str = Field(description="the rule that decides which submission counts", examples=["latest submission"])
    interval: IntervalOut | None = Field(
        description="interval of the value; null: not computed yet, not shown (see `precision`), or not defined"
    )
    change_test: DifferenceTestOut | None = Field(description="test of `change`; null as for `interval`")
    rivals: RivalsOut | None = Field(
        description="comparison with other rows, of a submission that counts; null: the board hides comparisons"
    )


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


class SubmissionProgress(ApiModel):
    """The progress of a long scoring, updated about once a second."""

    items_done: int
    items_total: int
    seconds_left: int | None = Field(description="estimated from the pace so far; null: not known yet")


class WaitingOut(ApiModel):
    """A kind of worker that is missing; the submission is scored as soon as there is one."""

    queue: str = Field(
        description="what is missing: gpu, sandbox (for programs), or gold (sealed for the program)",
        examples=["gpu"],
    )
    since: Moment


class ChoiceOut(ApiModel):
    """The state of the choice, if teams choose which of their submissions counts."""

    boards: list[str] = Field(description="names of the boards on which the team chose this submission")
    until: Moment | None = Field(description="until when the team can change its choice; null: always")


class RescoredOut(ApiModel):
    """A rescoring by the organisers, with corrected gold or different options."""

    at: Moment
    note: str = Field(description="the organisers' reason")
    before: RunStatus
    after: RunStatus
    scores_before: list[ScoreOut] = Field(description="scores that have changed, as far as the phase shows them")


class SubmissionLinks(ApiModel):
    """Links of a submission."""

    self: str
    file: str = Field(description="the file as you sent it")
    problems: str = Field(description="the problems as CSV")
    report: str | None = Field(description="all scores and the task's own report; null until scored")
    task: str
    page: str = Field(description="for people")


class SubmissionOut(ApiModel):
    """A submission as its team sees it. The statuses `scored`, `rejected` and `failed` are final and have results."""

    model_config = example(_EXAMPLE)

    id: UUID
    status: RunStatus
    message: str = Field(description="the status as a sentence")
    competition: str
    phase: str
    task: str
    team: str
    submitted_by: str
    submitted_at: Moment
    withdrawn_at: Moment | None = Field(description="when its team withdrew it, so that it counts on no board")
    started_at: Moment | None
    finished_at: Moment | None
    queue_position: int | None = Field(
        description="place in the queue, 1: next; null: not waiting, or too busy to know"
    )
    stage: StageName = Field(
        description=(
            "like `status`, with more detail: `waiting` is queued without a worker that could take it, `checking` "
            "and `scoring` are running"
        )
    )
    progress: SubmissionProgress | None = Field(description="null: it is not being scored, or scoring is quick")
    waiting_for: WaitingOut | None = Field(description="null: `stage` is not `waiting`")
    stamp: str = Field(description="send this as `seen` to wait for the next change")
    filename: str
    size_bytes: int
    sha256: str
    track: str | None = Field(description="null: the competition had no tracks")
    system: str | None = Field(description="name that the team gave the system; its submissions share a method card")
    method: str
    description: str
    scores: list[ScoreOut] = Field(description="scores that the phase shows to teams, see `visibility`")
    private_scores: list[ScoreOut] = Field(
        description="scores of the private part of the items, once they are shown; empty: items are not divided"
    )
    standings: list[StandingOut] = Field(description="one for each board of the submission; empty until it is scored")
    problems: list[ProblemOut]
    problems_omitted: int = Field(description="number of further problems that are not listed")
    visibility: VisibilityOut
    choice: ChoiceOut | None = Field(description="null: teams do not choose which submission counts")
    rescored: list[RescoredOut] = Field(description="the latest first; `scores` are the current ones")
    links: SubmissionLinks


class SubmissionList(ApiModel):
    """A page of the submissions of the user's teams, newest first."""

    model_config = example({"submissions": [_EXAMPLE], "next": None})

    submissions: list[SubmissionOut]
    next: str | None = Field(description="the next page, as in the Link header; null: this is the last")


_COMPARED = {
    "metric": "accuracy",
    "split": "zero_shot/gl",
    "value": 0.5,
    "reason": None,
    "signature": "idiom-detection:1|accuracy|zero_shot/gl|labels:0,1",
}
_RIGHT = {"is_right": True, "error": None, "found": None}


class ComparedScoreOut(Mirror):
    """One score of both submissions."""

    metric: str
    split: str
    a: ScoreOut | None = Field(description="null: A has no such score")
    b: ScoreOut | None
    difference: float | None = Field(description="b minus a; null: not defined")
    better: Better | None
    is_same_computation: bool = Field(description="false: the signatures differ, so the values are not comparable")
    interval_a: IntervalOut | None = Field(
        None, description="interval of A's value; null: there is none, or it is not shown"
    )
    interval_b: IntervalOut | None = Field(None, description="interval of B's value")
    test: DifferenceTestOut | None = Field(
        None,
        description="only against the team's ten previous submissions, in scores that rank a board",
    )


class ItemResultOut(Mirror):
    """The result of one item in one of the two submissions."""

    model_config = ConfigDict(populate_by_name=True)

    predicted: str | int | float
    is_right: bool | None = Field(description="null: items are not simply right or wrong")
    error: float | None = Field(
        description="predicted minus gold; with several answers: number of answers on one side only"
    )
    found: int | None = Field(
        validation_alias="matched",
        description="with several answers: number of answers that are in gold (gold and predicted are then counts)",
    )


class ComparedItemOut(ApiModel):
    """An item of both submissions, with the same gold."""

    item: str
    splits: list[str] = Field(description="the most specific splits of the item")
    gold: str | int | float | None
    a: ItemResultOut
    b: ItemResultOut
    better: Better | None = Field(description="which one is right, or closer; null: undefined")


class ComparedItemsOut(ApiModel):
    """Single items, if the gold of both is declared public and all scores are shown in full."""

    hidden: str | None = Field(description="why there are no items, as a sentence")
    shows: dict[str, int] = Field(description="number of items of each `show`")
    both_right: int
    equal: int = Field(description="number of items where neither is better")
    left_out: int = Field(description="number of items scored in only one, or against another gold")
    rows: list[ComparedItemOut] = Field(description="the items of `show`, from `start` on, in gold's order")
    next: str | None = Field(description="address of the next items; null: these were the last")


class ComparisonOut(ApiModel):
    """Two submissions to one task."""

    model_config = example(
        {
            "a": "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11",
            "b": "5f0c1d7e-9a53-4f2c-8f0b-3c1d2e4f5a6b",
            "hidden": None,
            "scores": [
                {
                    "metric": "accuracy",
                    "split": "zero_shot/gl",
                    "a": _COMPARED,
                    "b": {**_COMPARED, "value": 0.75},
                    "difference": 0.25,
                    "better": "b",
                    "is_same_computation": True,
                }
            ],
            "items": {
                "hidden": None,
                "shows": {"all": 4, "differ": 1, "a": 0, "b": 1, "wrong": 1},
                "both_right": 2,
                "equal": 3,
                "left_out": 0,
                "rows": [
                    {
                        "item": "dev.GL.17",
                        "splits": ["zero_shot/gl"],
                        "gold": "1",
                        "a": {"predicted": "0", **_RIGHT, "is_right": False},
                        "b": {"predicted": "1", **_RIGHT},
                        "better": "b",
                    }
                ],
                "next": None,
            },
        }
    )

    a: UUID
    b: UUID
    hidden: str | None = Field(description="why there are no scores, as a sentence")
    scores: list[ComparedScoreOut]
    items: ComparedItemsOut


_REPORTED = "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11"


class ReportLinks(ApiModel):
    """Other forms of the report."""

    csv: str = Field(description="the scores as a table")
    texts: dict[str, str] = Field(description="text reports by name, such as the official evaluator's")
    page: str = Field(description="for people")


class ReportOut(ApiModel):
    """The full result of scoring, with more scores than boards show, and the task type's aggregates."""

    model_config = example(
        {
            "submission": _REPORTED,
            "competition": "parseme-1-2",
            "phase": "evaluation",
            "task": "mwe-identification",
            "task_type": "mwe-identification",
            "task_version": 1,
            "scores": [
                {
                    "metric": "mwe_f1",
                    "split": "ga/unseen",
                    "value": 0.25,
                    "reason": None,
                    "signature": "mwe-identification:2|mwe_f1|ga/unseen|matching:exact|lemmas:gold|seen_in:train+dev",
                }
            ],
            "aggregates": {"languages": {"ga": {"all": {"mwe": [10, 40, 38]}}}},
            "visibility": EXAMPLE_VISIBILITY,
            "links": {
                "csv": f"/api/v1/submissions/{_REPORTED}/report.csv",
                "texts": {"parseme": f"/api/v1/submissions/{_REPORTED}/report/parseme.txt"},
                "page": f"/submissions/{_REPORTED}/report",
            },
        }
    )

    submission: UUID
    competition: str
    phase: str
    task: str
    task_type: str
    task_version: int | None
    scores: list[ScoreOut]
    aggregates: dict[str, Any] = Field(description="counts and tables of the task type; may be empty")
    visibility: VisibilityOut
    links: ReportLinks


def describe_submission(
    submission: Submission, stage: Stage, own: OwnScores, standings: Sequence[RunStanding]
) -> SubmissionOut:
    """Return the API object of a submission for its team.

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
        scores=own.scores,
        private_scores=own.private,
        standings=[describe_standing(one) for one in standings],
        problems=[ProblemOut.stored(problem) for problem in run.problems],
        problems_omitted=run.problems_omitted,
        visibility=describe_visibility(own.view),
        choice=ChoiceOut(boards=own.chosen_for, until=own.settings.choose_until) if own.has_choice else None,
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


def _rescored(rescored: Rescored) -> RescoredOut:
    return RescoredOut(
        at=rescored.at,
        note=rescored.note,
        before=rescored.before,
        after=rescored.after,
        scores_before=[old for old, _ in rescored.changes],
    )


def _progress(stage: Stage) -> SubmissionProgress | None:
    if stage.items_total is None:
        return None
    return SubmissionProgress(
        items_done=stage.items_done or 0, items_total=stage.items_total, seconds_left=stage.seconds_left
    )


def describe_standing(standing: RunStanding) -> StandingOut:
    """Return the API object of the standing of a run, with the names of its board and score."""
    return StandingOut(
        board=standing.board.name,
        metric=standing.score.metric,
        split=standing.score.split,
        value=standing.score.value,
        reason=standing.score.reason,
        change=standing.change,
        to_best=standing.to_best,
        to_baseline=standing.to_baseline,
        rank=standing.ranks.now,
        of=standing.ranks.of,
        rank_then=standing.ranks.then,
        up=standing.ranks.up,
        counts=standing.counts,
        why=standing.why,
        interval=standing.interval,
        change_test=standing.change_test,
        rivals=_rivals(standing.rivals) if standing.rivals else None,
    )


def _rivals(found: PeerComparison) -> RivalsOut:
    return RivalsOut(
        state="pending" if found.is_pending else "current",
        baseline=found.baseline or None,
        baseline_test=found.baseline_test,
        not_distinguishable_from=found.alike,
        ahead=found.ahead,
        behind=found.behind,
    )


def describe_comparison(
    comparison: Comparison, items: ItemComparison, rows: Sequence[ComparedItem], following: str | None
) -> ComparisonOut:
    """Return the API object of a comparison. rows: the items of this page; following: address of the next page."""
    return ComparisonOut(
        a=comparison.a.id,
        b=comparison.b.id,
        hidden=comparison.hidden_words or None,
        scores=comparison.rows,
        items=ComparedItemsOut(
            hidden=items.hidden_words or None,
            shows=dict(items.counts),
            both_right=items.both_right,
            equal=items.equal,
            left_out=items.left_out,
            rows=[
                ComparedItemOut(
                    item=row.a.item, splits=row.a.splits, gold=row.a.gold, a=row.a, b=row.b, better=row.better
                )
                for row in rows
            ],
            next=following,
        ),
    )


def describe_report(report: Report) -> ReportOut:
    """Return the API object of a report, restricted to what its viewer may see."""
    submission = report.submission
    phase = submission.phase_task.phase
    return ReportOut(
        submission=submission.id,
        competition=phase.competition.name,
        phase=phase.name,
        task=submission.phase_task.task.name,
        task_type=report.task_type,
        task_version=report.run.task_version,
        scores=report.scores,
        aggregates=dict(report.aggregates),
        visibility=describe_visibility(report.view),
        links=ReportLinks(
            csv=f"{api_links.report(submission.id)}.csv",
            texts={name: api_links.report_text(submission.id, name) for name in report.texts},
            page=links.report(submission.id),
        ),
    )
