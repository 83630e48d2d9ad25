"""Results of a round for a viewer: human and automatic scores, their correlation, agreement of annotators.

Organisers always see everything. Others see a published round, restricted to what the boards of its task would show:
hidden boards hide it, names and decimals follow `app.competitions.visibility`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base.db import likely
from app.base.errors import NotFound
from app.boards.marks import marks_of
from app.boards.view import neutral_name
from app.competitions.metrics import metrics_of
from app.competitions.visibility import View, Viewer, min_decimals, rounded, until_words, view_of
from app.judging.results import MACRO, document_of, progress_of
from app.judging.selection import AUTOMATIC_METRICS
from app.judging.views import CorrelationOut, JudgedOut, RoundResults, SystemOut, ValueOut, describe_round
from app.models import (
    BoardShown,
    Competition,
    JudgedEntry,
    JudgingRound,
    RowStatus,
    RunStatus,
    ScoringRun,
    Submission,
    TeamKind,
)
from app.runs.report import read_report
from evergold.scoring.correlation import kendall, pearson, spearman
from evergold.scoring.task import NOT_ENTERED

#: Minimum number of systems for a correlation, because any two points lie on a line.
LEAST_SYSTEMS = 3
TOO_FEW_SYSTEMS = "fewer than three systems have both scores"
ALL_EQUAL = "all systems have the same {} score"
NOT_SHOWN = "not shown"


def results_for(session: Session, competition: Competition, judging: JudgingRound, viewer: Viewer) -> RoundResults:
    """Return the results of a round from `find_round` for this viewer. Raises NotFound if the viewer may not see it
    (yet).
    """
    view = view_of(session, judging.phase_task, viewer)
    if not view.is_organiser and (judging.published_at is None or view.board is not BoardShown.PUBLIC):
        when = "" if judging.published_at is None else f" It is hidden {until_words(view.board_at)}."
        raise NotFound(f"Round of judgements not found, or not published.{when}")
    document = judging.results if judging.results is not None else document_of(session, judging)
    metric = metrics_of(judging.phase_task.task)[AUTOMATIC_METRICS[judging.phase_task.task.task_type]]
    decimals = None if view.precision is None else min_decimals(view.precision, 2 + 2 * metric.percent)
    languages = document["languages"]
    splits = [MACRO, *languages] if len(languages) > 1 else languages
    automatic = _automatic_scores(session, judging, metric.name, languages)
    out = set() if view.is_organiser else _set_aside(session, judging)
    systems = [
        _system(competition, judging, entry, document, automatic.get(entry.submission_id, {}), splits, view, decimals)
        for entry in _entries(session, judging)
        if entry.submission_id not in out
    ]
    systems.sort(key=lambda one: (-(one.human[splits[0]].value or 0.0), one.team) if splits else (0.0, one.team))
    return RoundResults(
        **dict(describe_round(competition, judging)),
        guidelines=judging.guidelines,
        languages=languages,
        metric=metric.title,
        annotators=document["annotators"],
        agreement=document["agreement"],
        systems=systems,
        correlations={split: _correlation(systems, split) for split in splits},
        progress=progress_of(session, judging) if view.is_organiser else [],
    )


def _entries(session: Session, judging: JudgingRound) -> Sequence[JudgedEntry]:
    above = joinedload(JudgedEntry.submission).joinedload(Submission.team)
    query = select(JudgedEntry).where(JudgedEntry.round_id == judging.id).options(above).order_by(JudgedEntry.id)
    return session.scalars(query).all()


def _set_aside(session: Session, judging: JudgingRound) -> set[UUID]:
    """Return the submissions that boards hide or show without scores because of organisers' marks."""
    marks = marks_of(session, judging.phase_task)
    return {
        entry.submission_id
        for entry in _entries(session, judging)
        if any(
            mark is not None and mark.status is not RowStatus.UNRANKED
            for mark in (marks.submissions.get(entry.submission_id), marks.teams.get(entry.submission.team_id))
        )
    }


def _system(
    competition: Competition,
    judging: JudgingRound,
    entry: JudgedEntry,
    document: Mapping[str, Any],
    automatic: Mapping[str, ValueOut],
    splits: Sequence[str],
    view: View,
    decimals: int | None,
) -> SystemOut:
    team, metric = entry.submission.team, AUTOMATIC_METRICS[judging.phase_task.task.task_type]
    is_baseline = team.kind == TeamKind.BASELINE
    has_name = view.names or is_baseline
    scores = document["scores"].get(str(entry.submission_id), {})
    known = {split: automatic.get(split, _undefined("not computed")) for split in splits}
    return SystemOut(
        team=team.name if has_name else neutral_name(competition.neutral_salt, judging.phase_task.phase_id, team.id),
        method=entry.submission.method if has_name else "",
        is_baseline=is_baseline,
        submission=entry.submission_id if view.is_organiser else None,
        human={
            split: _human(scores.get(split), decimals) if _is_shown(view, split) else _undefined(NOT_SHOWN)
            for split in splits
        },
        automatic={
            split: ValueOut(value=rounded(value.value, decimals), reason=value.reason)
            if view.shows(metric, split)
            else _undefined(NOT_SHOWN)
            for split, value in known.items()
        },
        judged={split: _judged(scores[split]) for split in splits if split in scores},
    )


def _human(score: Mapping[str, Any] | None, decimals: int | None) -> ValueOut:
    if score is None:
        return _undefined(NOT_ENTERED)
    return ValueOut(value=rounded(score["value"], decimals), reason=score["reason"])


def _judged(score: Mapping[str, Any]) -> JudgedOut:
    return JudgedOut(judged=score["judged"], items=score["items"])


def _undefined(reason: str) -> ValueOut:
    return ValueOut(value=None, reason=reason)


def _is_shown(view: View, split: str) -> bool:
    """Return True if boards show this language; otherwise nothing about it may be shown."""
    return view.only is None or any(shown == split for _, shown in view.only)


def _automatic_scores(
    session: Session, judging: JudgingRound, metric: str, languages: Sequence[str]
) -> dict[UUID, dict[str, ValueOut]]:
    """Return the metric of each submission's current run by language, and its mean over these languages."""
    reports = session.execute(
        select(ScoringRun.submission_id, ScoringRun.report)
        .join(JudgedEntry, JudgedEntry.submission_id == ScoringRun.submission_id)
        .where(
            JudgedEntry.round_id == judging.id,
            ScoringRun.is_current,
            likely(ScoringRun.status == RunStatus.SCORED),
            ScoringRun.report.is_not(None),
        )
    )
    found = {}
    for submission_id, packed in reports:
        scores = {
            score["split"]: ValueOut(value=score["value"], reason=score["reason"])
            for score in read_report(packed or b"")["scores"]
            if score["metric"] == metric and score["split"] in languages
        }
        found[submission_id] = {**scores, MACRO: _mean(scores, languages)}
    return found


def _mean(scores: Mapping[str, ValueOut], languages: Sequence[str]) -> ValueOut:
    """Return the mean over these languages; a language that was not entered counts as 0, as for human scores."""
    values = [scores.get(language, _undefined("not computed")) for language in languages]
    if any(value.value is None and value.reason != NOT_ENTERED for value in values):
        return _undefined("not computed in all of these languages")
    if all(value.value is None for value in values):
        return _undefined(NOT_ENTERED)
    return ValueOut(value=sum(value.value or 0.0 for value in values) / len(values), reason=None)


def _correlation(systems: Sequence[SystemOut], split: str) -> CorrelationOut:
    pairs = [
        (human, automatic)
        for one in systems
        if (human := one.human[split].value) is not None and (automatic := one.automatic[split].value) is not None
    ]
    nothing = CorrelationOut(systems=len(pairs), pearson=None, spearman=None, kendall=None, reason=TOO_FEW_SYSTEMS)
    if len(pairs) < LEAST_SYSTEMS:
        return nothing
    sides = {name: np.array(side) for name, side in zip(("human", "automatic"), zip(*pairs, strict=True), strict=True)}
    for name, values in sides.items():
        if values.min() == values.max():
            return nothing.model_copy(update={"reason": ALL_EQUAL.format(name)})
    return CorrelationOut(
        systems=len(pairs),
        pearson=pearson(*sides.values()),
        spearman=spearman(*sides.values()),
        kendall=kendall(*sides.values()),
        reason=None,
    )
