"""Scores that a team sees of its own submission, and whether it may choose it as entry; for API and pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, joinedload

from app.competitions.entry_rules import EntrySettings, entry_settings, may_choose
from app.competitions.visibility import View, Viewer, own_scores_words, view_known, views_of
from app.feedback.reports import scores_shown
from app.models import Board, EntryRule, PhaseTask, RunStatus, Submission
from app.runs.private_scores import private_scores
from app.runs.rescored import Rescored, rescorings_of
from app.submissions.choices import chosen_for
from app.submissions.find import current_run
from evergold.scoring.task import Score


@dataclass(frozen=True, slots=True)
class OwnScores:
    """The visible scores of one's own submission.

    scores: those that boards may show, as far as the view allows.
    hidden_words: why a scored submission shows none.
    chosen_for: boards on which the team chose it as its entry; is_choosable: True if it may be chosen now.
    rescored: the published rescorings that changed it, the latest first, with scores as far as the view allows.
    private: scores of the private part of the items, empty before they are shown.
    """

    view: View
    scores: tuple[Score, ...]
    hidden_words: str
    settings: EntrySettings
    chosen_for: tuple[str, ...]
    is_choosable: bool
    rescored: tuple[Rescored, ...] = ()
    private: tuple[Score, ...] = ()

    @property
    def has_choice(self) -> bool:
        """True if the phase lets teams choose their entry."""
        return self.settings.rule is EntryRule.CHOSEN


def own_scores_of(
    session: Session,
    submission: Submission,
    viewer: Viewer,
) -> OwnScores:
    """Return the scores of one submission from `get_submission`."""
    return own_scores_of_all(session, [submission], viewer)[submission.id]


def own_scores_of_new(session: Session, submission: Submission, now: datetime, *, organises: bool) -> OwnScores:
    """Return the scores of a new submission, not yet scored, chosen or rescored. organises: True for an organiser's."""
    return _own(submission, view_known(session, submission.phase_task, now, organises=organises), [], [], now)


def own_scores_of_all(
    session: Session,
    submissions: Sequence[Submission],
    viewer: Viewer,
) -> dict[UUID, OwnScores]:
    """Return the scores of several submissions from `get_submission`, by id."""
    views = views_of(session, [one.phase_task for one in submissions], viewer)
    chosen = chosen_for(session, [one.id for one in submissions])
    rescored = rescorings_of(session, [one.id for one in submissions])
    private = _private(session, submissions, views)
    found = {
        one.id: _own(one, views[one.phase_task_id], chosen.get(one.id, []), rescored.get(one.id, []), viewer.now)
        for one in submissions
    }
    return {
        one.id: replace(
            found[one.id], private=scores_shown(private.get(current_run(one).id, ()), views[one.phase_task_id])
        )
        for one in submissions
    }


def _private(
    session: Session, submissions: Sequence[Submission], views: Mapping[int, View]
) -> Mapping[int, Sequence[Score]]:
    """Return the private scores by run, where this viewer may see them."""
    runs = [current_run(one).id for one in submissions if views[one.phase_task_id].private]
    found: defaultdict[int, list[Score]] = defaultdict(list)
    for run_id, score in private_scores(session, runs) if runs else ():
        found[run_id].append(score)
    return found


def _own(
    submission: Submission, view: View, chosen: Sequence[str], rescored: Sequence[Rescored], now: datetime
) -> OwnScores:
    run = current_run(submission)
    settings = entry_settings(submission.phase_task.phase, submission.phase_task)
    is_scored = run.status == RunStatus.SCORED
    scores = [Score(one.metric, one.split, one.value, one.reason, one.signature) for one in run.scores]
    return OwnScores(
        view=view,
        scores=scores_shown(scores, view),
        hidden_words=own_scores_words(view) if is_scored else "",
        settings=settings,
        chosen_for=tuple(chosen),
        is_choosable=is_scored and submission.withdrawn_at is None and may_choose(settings, now),
        rescored=tuple(
            replace(
                one,
                scores_before=scores_shown(one.scores_before, view),
                scores_after=scores_shown(one.scores_after, view),
            )
            for one in rescored
        ),
    )


def boards_of_run(session: Session, submission: Submission) -> list[Board]:
    """List the boards of the submission's task in the organisers' order, without those of other tracks."""
    return boards_of_task(session, submission.phase_task)


def boards_of_task(session: Session, phase_task: PhaseTask) -> list[Board]:
    """List the boards of a task in the organisers' order."""
    return list(session.scalars(_BOARDS, {"competition": phase_task.phase.competition_id, "task": phase_task.task_id}))


#: Built once: building it takes longer than executing it.
_BOARDS = (
    select(Board)
    .where(Board.competition_id == bindparam("competition"), Board.task_id == bindparam("task"))
    .options(joinedload(Board.task))
    .order_by(Board.position, Board.id)
)
