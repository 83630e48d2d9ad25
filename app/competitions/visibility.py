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
from math import isfinite
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
#: As a precision of phases.yaml: all decimals.
FULL = "full"
#: Decimals of a score while its gold is hidden, unless declared otherwise: each further one tells more of the labels.
HIDDEN_GOLD_DECIMALS = 4
#: Decimals that compare scores of which all are shown: the last ones of a sum are rounding noise.
EXACT_DECIMALS = 12


class SeenAs(StrEnum):
    """Whose eyes somebody borrows to look at what they organise; it never shows more than one's own."""

    PARTICIPANT = "participant"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class View:
    """What a viewer may see of one task in one phase, at one moment.

    board: how much of its boards; board_at: when all of them (None: they are shown, or never will be). names: whether
    teams have their names; own_scores: whether a team's own scores are shown to it; each with its moment in the same
    way. slices_at: when all slices are shown. only: the (metric, split) pairs that are shown, None for all.
    precision: decimals of every value, None for all. ranks_by: decimals that choose entries and rank, for everybody
    alike, so that no order tells hidden digits; None: of an official board that an earlier version ranked by floats.
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
    slices_at: datetime | None = None
    only: frozenset[tuple[str, str]] | None = None
    precision: int | None = None
    ranks_by: int | None = EXACT_DECIMALS
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
    def has_statistics(self) -> bool:
        """Whether intervals, rank ranges and tests of the scores shown are shown, too: see `tells_statistics`."""
        return tells_statistics(self.precision)

    @property
    def shows_ranking_scores_only(self) -> bool:
        """Whether other scores than those that rank boards are not even named."""
        return self.slices in (Slices.NONE, Slices.RANKED)

    @property
    def ranks_exactly(self) -> bool:
        """Whether equal values are equal, and do not only look so."""
        return is_exact(self.ranks_by)

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
    "slices_at",
    "is_divided",
    "private",
    "private_at",
)


def tells_statistics(precision: int | None) -> bool:
    """Whether ends of intervals and significance may be shown beside values of this precision: where fewer digits than
    usual are declared, they would tell what those hide."""
    return precision is None or precision >= HIDDEN_GOLD_DECIMALS


def is_exact(decimals: int | None) -> bool:
    """Whether values that are equal by so many decimals are equal."""
    return decimals is None or decimals >= EXACT_DECIMALS


def rounded(value: float | None, decimals: int | None) -> float | None:
    """The value as it leaves the server: half-even, once; `decimals` None leaves it whole, and zero has no sign.

    Of a value of 10 or more no more digits are left than of one below, five at least: a mean of squares in the
    millions would else tell of hidden gold what a fraction does not.
    """
    if value is None or decimals is None or not isfinite(value):
        return value
    if not -10 < value < 10:
        digits = max(decimals, HIDDEN_GOLD_DECIMALS) + 1
        decimals = min(decimals, digits - len(str(int(abs(value)))))
    return round(value, decimals) + 0.0


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

    @property
    def ranks_by(self) -> int:
        """Decimals that choose entries and rank: those shown, as far as they are more than rounding noise."""
        return EXACT_DECIMALS if self.precision is None else self.precision

    def slices_at(self, now: datetime) -> Slices:
        """The slices shown at this moment: `ranked` ends with the phase."""
        return Slices.ALL if self.slices is Slices.RANKED and _reached(self.closes_at, now) else self.slices


def is_hidden_gold(phase_task: PhaseTask | None) -> bool:
    """Whether the gold of a task in a phase is for the workers alone; without a task, as a phase's usually is."""
    return phase_task is None or not (phase_task.gold_is_public or phase_task.gold_is_revealed)


def declared_of(phase: Phase, phase_task: PhaseTask | None = None, *, closed_at: datetime | None = None) -> Declared:
    """What holds for a task of the phase: what it says itself, key by key, or else what the phase does.

    Of hidden gold only the scores that rank are shown while the phase is open, and few decimals at any time, unless
    more is declared; once the gold is public, its scores tell nothing that is not known.

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
        slices=Slices.NONE if is_ladder else Slices(said.get("slices") or _USUAL_SLICES[is_hidden_gold(phase_task)]),
        precision=_precision(said.get("precision"), phase_task),
        is_divided=bool(private),
        private_from=_moment(private.get("shown_from", CLOSE), close) if private else None,
        closes_at=close,
    )


#: By whether gold is hidden.
_USUAL_SLICES = {True: Slices.RANKED, False: Slices.ALL}


def _precision(declared: int | str | None, phase_task: PhaseTask | None) -> int | None:
    if declared is None:
        return HIDDEN_GOLD_DECIMALS if is_hidden_gold(phase_task) else None
    return None if declared == FULL else int(declared)


def decide(declared: Declared, now: datetime, only: frozenset[tuple[str, str]] | None = None) -> View:
    """What those see who do not organise; `only`: the scores that the slices of that moment leave."""
    is_public = declared.board is BoardShown.PUBLIC or _reached(declared.public_from, now)
    has_names = not declared.is_anonymous or _reached(declared.names_from, now)
    own_from = declared.closes_at if declared.own_scores is OwnScores.AFTER_CLOSE else None
    sees_private = declared.is_divided and _reached(declared.private_from, now)
    sees_own = declared.own_scores is OwnScores.AT_ONCE or _reached(own_from, now)
    slices = declared.slices_at(now)
    return View(
        board=BoardShown.PUBLIC if is_public else declared.board,
        board_at=None if is_public else declared.public_from,
        names=has_names,
        names_at=None if has_names else declared.names_from,
        own_scores=sees_own,
        own_scores_at=None if sees_own else own_from,
        slices=slices,
        slices_at=declared.closes_at if slices is Slices.RANKED else None,
        only=only,
        precision=declared.precision,
        ranks_by=declared.ranks_by,
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
    return decide(declared, now, _scores_left(session, phase, phase_task, declared.slices_at(now)))


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
    if slices in (Slices.NONE, Slices.RANKED):
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
