"""Who sees what when: the one place that decides. Whatever shows a score, a rank, a name or a count asks here first.

What was declared for a phase, and for a task of it, is `Phase.visibility` and `PhaseTask.visibility`, key by key. What
follows for a viewer is a pure function of that and of now: an embargo lifts at the moment it says, half-open as phases
are, and nothing has to be done for it. How a board looks then is `app.boards.view`'s to say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.times import in_utc
from app.competitions.columns import HUMAN_SCORE
from app.models import Board, BoardShown, Competition, EntryRule, OwnScores, Phase, PhaseTask, Right, Slices, User
from app.people.rights import may_organise
from evergold.scoring.halves import Half

#: As a moment of phases.yaml: when the phase ends, wherever that is moved to.
CLOSE = "close"


class SeenAs(StrEnum):
    """Whose eyes somebody borrows to look at what they organise; it never shows more than one's own."""

    PARTICIPANT = "participant"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class View:
    """What a viewer may see of one task in one phase, at one moment.

    board: how much of its boards; board_at: when all of them (None: they are shown, or never will be). names: whether
    teams have their names; own_scores: whether a team's own scores are shown to it; each with its moment in the same
    way. only: the (metric, split) pairs that are shown, None for all. precision: decimals of every value, None for all.
    ranks_by: decimals that choose entries and rank, for everybody alike, so that no order tells hidden digits.
    is_divided: whether the items have a private part; private: whether its scores are shown, with its moment.
    participants: for organisers, what participants see; None for everybody else.
    """

    board: BoardShown = BoardShown.PUBLIC
    board_at: datetime | None = None
    names: bool = True
    names_at: datetime | None = None
    own_scores: bool = True
    own_scores_at: datetime | None = None
    slices: Slices = Slices.ALL
    only: frozenset[tuple[str, str]] | None = None
    precision: int | None = None
    ranks_by: int | None = None
    is_divided: bool = False
    private: bool = False
    private_at: datetime | None = None
    participants: View | None = None

    @property
    def is_organiser(self) -> bool:
        """Whether everything is shown."""
        return self.participants is not None

    @property
    def everybodys(self) -> View:
        """What participants see, whoever looks: for saying so."""
        return self.participants or self

    @property
    def half(self) -> Half | None:
        """The part of the items whose scores stand on boards unless another is asked for: the private one as soon as
        everybody sees it. None where they are not divided."""
        if not self.is_divided:
            return None
        return Half.PRIVATE if self.everybodys.private else Half.PUBLIC

    @property
    def has_details(self) -> bool:
        """Whether texts and aggregates of reports are shown: counts in them would tell every digit and every slice."""
        return self.slices is Slices.ALL and self.precision is None

    @property
    def key(self) -> str:
        """Equal for equal views: for tags and versions. It tells nothing that the view does not show."""
        shown = replace(self.participants, participants=None) if self.participants else self
        only = sorted(shown.only) if shown.only is not None else None
        told = [self.is_organiser, *(getattr(shown, name) for name in _TOLD), only]
        return hashlib.sha256(repr(told).encode()).hexdigest()[:8]

    def shows(self, metric: str, split: str) -> bool:
        """Whether this score may be shown at all."""
        return self.only is None or (metric, split) in self.only


_TOLD = ("board", "board_at", "names", "names_at", "own_scores", "own_scores_at", "slices", "precision", "ranks_by") + (
    "is_divided",
    "private",
    "private_at",
)


def rounded(value: float | None, decimals: int | None) -> float | None:
    """The value as it leaves the server: half-even, once; `decimals` None leaves it whole, and zero has no sign."""
    return value if value is None or decimals is None else round(value, decimals) + 0.0


def rounded_document(document: Any, decimals: int | None) -> Any:
    """The same for every fraction in a JSON document, such as the aggregates of a report."""
    if decimals is None:
        return document
    if isinstance(document, dict):
        return {name: rounded_document(inside, decimals) for name, inside in document.items()}
    if isinstance(document, list):
        return [rounded_document(inside, decimals) for inside in document]
    return rounded(document, decimals) if isinstance(document, float) else document


def coarser(decimals: int | None, other: int | None) -> int | None:
    """The fewer of two numbers of decimals; None is all of them."""
    return min((number for number in (decimals, other) if number is not None), default=None)


# ------------------------------------------------------------------------------------------------------------ deciding


@dataclass(frozen=True, slots=True)
class Declared:
    """What organisers declared, with every default and moment filled in."""

    board: BoardShown = BoardShown.PUBLIC
    public_from: datetime | None = None
    own_scores: OwnScores = OwnScores.AT_ONCE
    names_from: datetime | None = None
    is_anonymous: bool = False
    slices: Slices = Slices.ALL
    precision: int | None = None
    is_divided: bool = False
    private_from: datetime | None = None
    closes_at: datetime | None = None


def declared_of(phase: Phase, phase_task: PhaseTask | None = None, *, closed_at: datetime | None = None) -> Declared:
    """What holds for a task of the phase: what it says itself, key by key, or else what the phase does.

    closed_at: the close that is meant, of a board that was frozen then; None: the phase's end, wherever it is now.
    """
    close = closed_at or phase.ends_at
    said = {**phase.visibility, **(phase_task.visibility if phase_task else {})}
    public_from, names_from = said.get("public_from"), said.get("names_from")
    # On a Ladder a team learns of its record and of nothing else: any other score would be a way around it.
    own_rule = (phase_task.entry or {}).get("entry") if phase_task else None
    is_ladder = (own_rule or phase.entry_rule) == EntryRule.LADDER
    board = BoardShown(said.get("board") or (BoardShown.HIDDEN if public_from else BoardShown.PUBLIC))
    private = phase_task.private_part if phase_task else {}
    return Declared(
        board=BoardShown.HIDDEN if public_from and board is BoardShown.PUBLIC else board,
        public_from=_moment(public_from, close),
        own_scores=OwnScores.NEVER if is_ladder else OwnScores(said.get("own_scores") or OwnScores.AT_ONCE),
        names_from=_moment(names_from, close),
        is_anonymous=bool(names_from),
        slices=Slices.NONE if is_ladder else Slices(said.get("slices") or Slices.ALL),
        precision=said.get("precision"),
        is_divided=bool(private),
        private_from=_moment(private.get("shown_from", CLOSE), close) if private else None,
        closes_at=close,
    )


def decide(declared: Declared, now: datetime, only: frozenset[tuple[str, str]] | None = None) -> View:
    """What those see who do not organise; `only`: the scores that `declared.slices` leaves."""
    is_public = declared.board is BoardShown.PUBLIC or _reached(declared.public_from, now)
    has_names = not declared.is_anonymous or _reached(declared.names_from, now)
    own_from = declared.closes_at if declared.own_scores is OwnScores.AFTER_CLOSE else None
    sees_private = declared.is_divided and _reached(declared.private_from, now)
    sees_own = declared.own_scores is OwnScores.AT_ONCE or _reached(own_from, now)
    return View(
        board=BoardShown.PUBLIC if is_public else declared.board,
        board_at=None if is_public else declared.public_from,
        names=has_names,
        names_at=None if has_names else declared.names_from,
        own_scores=sees_own,
        own_scores_at=None if sees_own else own_from,
        slices=declared.slices,
        only=only,
        precision=declared.precision,
        ranks_by=declared.precision,
        is_divided=declared.is_divided,
        private=sees_private,
        private_at=None if sees_private else declared.private_from,
    )


def _reached(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now >= moment


def _moment(said: Any, close: datetime | None) -> datetime | None:
    if said is None or said == CLOSE:
        return close if said == CLOSE else None
    return datetime.fromisoformat(said)


# -------------------------------------------------------------------------------------------------------------- asking


def view_of(
    session: Session,
    phase_task: PhaseTask,
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
    closed_at: datetime | None = None,
) -> View:
    """What this viewer may see of a task in a phase. Whose submissions somebody may open at all is
    `app.competitions.find`'. closed_at: of a board that was frozen, as for `declared_of`."""
    phase = session.get_one(Phase, phase_task.phase_id)
    view = _decided(session, phase, phase_task, now, closed_at)
    if seen_as is not None or viewer is None:
        return view
    competition = session.get_one(Competition, phase.competition_id)
    return _of_organiser(view) if may_organise(session, viewer, competition, Right.SUBMISSIONS) else view


def view_known(session: Session, phase_task: PhaseTask, now: datetime, *, organises: bool) -> View:
    """The same, by whoever is known to organise with the right to submissions or not; the task's phase is loaded."""
    view = _decided(session, phase_task.phase, phase_task, now)
    return _of_organiser(view) if organises else view


def _decided(
    session: Session, phase: Phase, phase_task: PhaseTask, now: datetime, closed_at: datetime | None = None
) -> View:
    declared = declared_of(phase, phase_task, closed_at=closed_at)
    return decide(declared, now, _scores_left(session, phase, phase_task, declared.slices))


def _of_organiser(view: View) -> View:
    everything = View(ranks_by=view.ranks_by, is_divided=view.is_divided, private=view.is_divided)
    return replace(everything, participants=view)


def view_of_board(
    session: Session, phase: Phase, board: Board, viewer: User | None, now: datetime, *, seen_as: SeenAs | None = None
) -> View:
    """The same for a board in a phase."""
    return view_of(session, task_in_phase(session, phase, board), viewer, now, seen_as=seen_as)


def views_of(
    session: Session,
    phase_tasks: Iterable[PhaseTask],
    viewer: User | None,
    now: datetime,
    *,
    seen_as: SeenAs | None = None,
) -> dict[int, View]:
    """The views of several, by the id of the phase task: for lists."""
    by_id = {phase_task.id: phase_task for phase_task in phase_tasks}
    return {key: view_of(session, one, viewer, now, seen_as=seen_as) for key, one in by_id.items()}


def task_in_phase(session: Session, phase: Phase, board: Board) -> PhaseTask:
    """The board's task as this phase asks it."""
    return session.scalars(_ASKED, {"phase": phase.id, "task": board.task_id}).one()


_ASKED = select(PhaseTask).where(PhaseTask.phase_id == bindparam("phase"), PhaseTask.task_id == bindparam("task"))


def _scores_left(
    session: Session, phase: Phase, phase_task: PhaseTask, slices: Slices
) -> frozenset[tuple[str, str]] | None:
    """The scores that rank the task's boards, with `columns` those in their other columns too; None: no bound."""
    if slices is Slices.ALL:
        return None
    boards = session.scalars(
        select(Board).where(Board.competition_id == phase.competition_id, Board.task_id == phase_task.task_id)
    ).all()
    ranking = {(board.rank_metric, board.rank_split) for board in boards}
    if slices is Slices.NONE:
        return frozenset(ranking)
    judged = {(HUMAN_SCORE, board.rank_split) for board in boards}
    columns = {(column["metric"], column["split"]) for board in boards for column in board.columns}
    return frozenset(ranking | columns | judged)


# ---------------------------------------------------------------------------------------------------------- in words


def until_words(moment: datetime | None) -> str:
    """`until 2027-02-01 12:00 UTC`, or that nobody said until when; to be put after `hidden`."""
    return f"until {in_utc(moment)}" if moment is not None else "until the organisers show it"


def own_scores_words(view: View) -> str:
    """Why a team does not see its scores (yet); empty where it does."""
    if view.own_scores:
        return ""
    if view.own_scores_at is None:
        return "This phase shows teams no scores of their submissions."
    return f"The scores of this phase are shown to teams at {in_utc(view.own_scores_at)}, when it ends."
