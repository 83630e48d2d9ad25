"""Scores that a team sees of its submission, and whether it may choose it as the entry; for API and pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.competitions.entry_rules import EntrySettings, entry_settings, may_choose
from app.competitions.visibility import View, Viewer, boards_of_task, own_scores_words, view_known, views_of
from app.feedback.reports import scores_shown
from app.models import Board, EntryRule, RunStatus, ScoreRow, Submission
from app.runs.private_scores import private_scores
from app.runs.rescored import Rescored, rescorings_of
from app.submissions.choices import chosen_for
from app.submissions.find import current_run
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class OwnScores:
    """The visible scores of the viewer's own submission.

    scores: those that boards may show, as far as the view allows.
    hidden_words: why no scores are shown although it was scored.
    is_choosable: True if it may be chosen now; chosen_for: boards on which the team chose it as its entry.
    rescored: the published rescorings that changed it, latest first, with scores as far as the view allows.
    private: scores of the private part of the items, empty until they are shown.
    computed: number of scores, shown or not.
    """

    view: View
    scores: tuple[Score, ...]
    hidden_words: str
    settings: EntrySettings
    is_choosable: bool
    chosen_for: tuple[str, ...] = ()
    rescored: tuple[Rescored, ...] = ()
    private: tuple[Score, ...] = ()
    computed: int = 0

    @property
    def has_choice(self) -> bool:
        """True if the phase lets teams choose their entry."""
        return self.settings.rule is EntryRule.CHOSEN


def own_scores_of(
    session: Session,
    submission: Submission,
    viewer: Viewer,
) -> OwnScores:
    """Return the visible scores of one submission from `get_submission`."""
    return own_scores_of_all(session, [submission], viewer)[submission.id]


def own_scores_of_new(session: Session, submission: Submission, now: datetime, *, organises: bool) -> OwnScores:
    """Return the scores of a new submission, not yet scored, chosen or rescored.

    organises: whether its sender may see all submissions.
    """
    return _own(submission, view_known(session, submission.phase_task, now, organises=organises), (), now)


def own_scores_of_all(
    session: Session,
    submissions: Sequence[Submission],
    viewer: Viewer,
    only: Collection[tuple[str, str]] | None = None,
) -> dict[UUID, OwnScores]:
    """Return the visible scores of submissions from `get_submission`, by id. only: (metric, split) of the scores
    needed.
    """
    ids = [one.id for one in submissions]
    views = views_of(session, [one.phase_task for one in submissions], viewer)
    chosen, rescored = chosen_for(session, ids), rescorings_of(session, ids)
    scores = _scores_of(session, [current_run(one).id for one in submissions], only)
    private = _private(session, submissions, views)
    found = {}
    for one in submissions:
        view, run = views[one.phase_task_id], current_run(one).id
        found[one.id] = replace(
            _own(one, view, scores.get(run, ()), viewer.now),
            chosen_for=tuple(chosen.get(one.id, ())),
            rescored=tuple(_as_shown(each, view) for each in rescored.get(one.id, ())),
            private=scores_shown(private.get(run, ()), view),
        )
    return found


def _scores_of(
    session: Session, runs: Sequence[int], only: Collection[tuple[str, str]] | None
) -> Mapping[int, list[Score]]:
    """Return the scores by run, in the order of their computation."""
    where: dict[str, Any] = {"runs": runs}
    if only is not None:
        where |= {"metrics": sorted({one for one, _ in only}), "splits": sorted({one for _, one in only})}
    found: defaultdict[int, list[Score]] = defaultdict(list)
    rows = session.execute(_SCORES if only is None else _SOME_SCORES, where)
    for run_id, metric, split, value, reason, signature in rows:
        if only is None or (metric, split) in only:
            found[run_id].append(Score(metric, split, value, reason, signature))
    return found


_SCORES = (
    select(ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature)
    .where(among(ScoreRow.run_id, "runs"))
    .order_by(ScoreRow.id)
)
_SOME_SCORES = _SCORES.where(
    ScoreRow.metric.in_(bindparam("metrics", expanding=True)), ScoreRow.split.in_(bindparam("splits", expanding=True))
)


def _private(
    session: Session, submissions: Sequence[Submission], views: Mapping[int, View]
) -> Mapping[int, Sequence[Score]]:
    """Return the private scores by run, if this viewer may see them."""
    runs = [current_run(one).id for one in submissions if views[one.phase_task_id].private]
    found: defaultdict[int, list[Score]] = defaultdict(list)
    for run_id, score in private_scores(session, runs) if runs else ():
        found[run_id].append(score)
    return found


def _own(submission: Submission, view: View, scores: Sequence[Score], now: datetime) -> OwnScores:
    """Return the visible scores of a submission that was neither chosen nor rescored."""
    settings = entry_settings(submission.phase_task.phase, submission.phase_task)
    is_scored = current_run(submission).status == RunStatus.SCORED
    return OwnScores(
        view=view,
        scores=scores_shown(scores, view),
        hidden_words=own_scores_words(view) if is_scored else "",
        settings=settings,
        is_choosable=is_scored and submission.withdrawn_at is None and may_choose(settings, now),
        computed=len(scores),
    )


def _as_shown(rescored: Rescored, view: View) -> Rescored:
    before, after = scores_shown(rescored.scores_before, view), scores_shown(rescored.scores_after, view)
    return replace(rescored, scores_before=before, scores_after=after)


def boards_of_run(session: Session, submission: Submission) -> Sequence[Board]:
    """List the boards of the submission's task in the organisers' order, except those of other tracks."""
    place = submission.phase_task
    return boards_of_task(session, place.phase.competition_id, place.task_id)
