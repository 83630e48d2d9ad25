"""Effects of a change: every task in a phase compared before and after, in sentences.

They are read within the transaction of the change, so they are actual, not intended effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, joinedload

from app.base.db import writing
from app.base.storage import Storage
from app.competitions.entry_rules import EntrySettings, entry_settings
from app.competitions.limits import DeclaredLimits, declared_limits, phase_state
from app.competitions.private_part import scored_by
from app.competitions.visibility import Declared, View, decide, declared_of
from app.declarations.apply.apply import Change, apply_phases, lock_declarations
from app.declarations.apply.official import frozen_closes, superseded_words
from app.declarations.apply.precedence import OnEdits
from app.declarations.check import LoadedCompetition
from app.declarations.leaks import DeclaredLeak, declared_leaks
from app.declarations.views import EffectOut, counted
from app.models import (
    BoardShown,
    Competition,
    EntryRule,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from evergold.moments import aoe_words

#: (competition, phase, task).
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a task in a phase at one moment: declaration, visibility, participation.

    frozen_for: the phase's end for which its latest official results were frozen, None if there are none; scored:
    number of submissions with scores, including baselines.
    """

    starts_at: datetime
    ends_at: datetime | None
    frozen_for: datetime | None
    state: str
    limits: DeclaredLimits
    entry: EntrySettings
    declared: Declared
    view: View
    gold_is_public: bool
    scored_against: tuple[Any, ...]  # gold, items, task type, options, parts: everything that affects scores
    version: int
    teams: int
    submissions: int
    scored: int


def standings(session: Session, competitions: Iterable[str], now: datetime) -> dict[Place, Standing]:
    """Return the current states of all tasks of these competitions."""
    query = (
        select(PhaseTask, Competition.name)
        .join(PhaseTask.phase)
        .join(Competition, Competition.id == Phase.competition_id)
        .options(joinedload(PhaseTask.phase), joinedload(PhaseTask.task))
        .where(Competition.name.in_(list(competitions)))
        .order_by(Competition.position, Phase.position, PhaseTask.id)
        .execution_options(populate_existing=True)
    )
    found = session.execute(query).all()
    counts = _counts(session, [phase_task.id for phase_task, _ in found])
    frozen = frozen_closes(session, {phase_task.phase_id for phase_task, _ in found})
    return {
        (name, phase_task.phase.name, phase_task.task.name): _standing(
            phase_task, counts.get(phase_task.id, (0, 0, 0)), frozen.get((phase_task.phase_id, phase_task.task_id)), now
        )
        for phase_task, name in found
    }


def effects(before: Mapping[Place, Standing], after: Mapping[Place, Standing]) -> list[EffectOut]:
    """Return all differences for participants and viewers; new tasks have no effects yet."""
    found = []
    for place, was in before.items():
        now = after.get(place)
        what = list(_differences(was, now)) if now else ["is removed"]
        if what:
            rescore = was.scored if now and was.scored_against != now.scored_against else 0
            competition, phase, task = place
            found.append(
                EffectOut(
                    competition=competition,
                    phase=phase,
                    task=task,
                    what=what,
                    teams=was.teams,
                    submissions=was.submissions,
                    rescore=rescore,
                )
            )
    return found


def _standing(
    phase_task: PhaseTask, counts: tuple[int, int, int], frozen_for: datetime | None, now: datetime
) -> Standing:
    phase, task = phase_task.phase, phase_task.task
    declared = declared_of(phase, phase_task)
    return Standing(
        starts_at=phase.starts_at,
        ends_at=phase.ends_at,
        frozen_for=frozen_for,
        state=phase_state(phase, now),
        limits=declared_limits(phase, phase_task),
        entry=entry_settings(phase, phase_task),
        declared=declared,
        view=decide(declared, now),
        gold_is_public=phase_task.gold_is_public,
        scored_against=(
            phase_task.gold,
            phase_task.items_sha256,
            task.task_type,
            {**task.options, **phase_task.options},
            scored_by(phase_task.private_part),
        ),
        version=phase_task.board_version,
        teams=counts[0],
        submissions=counts[1],
        scored=counts[2],
    )


def _counts(session: Session, ids: list[int]) -> dict[int, tuple[int, int, int]]:
    """Return the numbers of teams, of their submissions, and of submissions with scores, by phase task."""
    of_people = (
        select(Submission.phase_task_id, func.count(Submission.team_id.distinct()), func.count())
        .join(Team, Team.id == Submission.team_id)
        .where(Submission.phase_task_id.in_(ids), Team.kind == TeamKind.TEAM)
        .group_by(Submission.phase_task_id)
    )
    with_scores = (
        select(Submission.phase_task_id, func.count())
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Submission.phase_task_id.in_(ids), ScoringRun.status == RunStatus.SCORED)
        .group_by(Submission.phase_task_id)
    )
    people = {key: (teams, submissions) for key, teams, submissions in session.execute(of_people)}
    scored = {key: count for key, count in session.execute(with_scores)}
    return {key: (*people.get(key, (0, 0)), scored.get(key, 0)) for key in people.keys() | scored.keys()}


# ------------------------------------------------------------------------------------------------------------ in words


def _differences(was: Standing, now: Standing) -> Iterator[str]:
    yield from _times(was, now)
    yield from _limits(was.limits, now.limits)
    if _rule(was.entry) != _rule(now.entry):
        yield f"which submission counts: {_rule(now.entry)}, before {_rule(was.entry)}"
    yield from _shown(was, now)
    if was.scored_against != now.scored_against and was.scored:
        yield f"{counted(was.scored, 'submission')} to rescore: gold, items, options or parts have changed"
    elif was.version != now.version:
        yield "its boards may look different"


def _times(was: Standing, now: Standing) -> Iterator[str]:
    if was.starts_at != now.starts_at:
        yield f"the phase opens {aoe_words(now.starts_at)}, before {aoe_words(was.starts_at)}"
    if was.ends_at != now.ends_at:
        yield f"the deadline is {_moment(now.ends_at)}, before {_moment(was.ends_at)}"
        if words := superseded_words(was.frozen_for, was.ends_at, now.ends_at):
            yield words
    if was.state != now.state:
        yield {"upcoming": "it is not open yet", "open": "it is open at once", "closed": "it is closed at once"}[
            now.state
        ]


_LIMIT_WORDS = {
    "per_day": "submissions a day",
    "per_week": "submissions a week",
    "per_month": "submissions a month",
    "total": "submissions in total",
    "rejected_per_hour": "rejected files an hour",
    "upload_bytes": "bytes of one upload",
}


def _limits(was: DeclaredLimits, now: DeclaredLimits) -> Iterator[str]:
    for name in DeclaredLimits.__slots__:
        before, after = getattr(was, name), getattr(now, name)
        if before != after:
            yield f"{_LIMIT_WORDS[name]}: {_number(after)}, before {_number(before)}"


def _shown(was: Standing, now: Standing) -> Iterator[str]:
    if was.view.board != now.view.board:
        yield _BOARD_WORDS[now.view.board]
    elif was.declared.public_from != now.declared.public_from and now.view.board is not BoardShown.PUBLIC:
        yield f"its boards are public from {_from(now.view.board_at)}, before {_from(was.view.board_at)}"
    if was.view.names != now.view.names:
        yield "teams have their names at once" if now.view.names else "teams have neutral names from now on"
    elif was.view.names_at != now.view.names_at:
        yield f"teams have their names from {_from(now.view.names_at)}, before {_from(was.view.names_at)}"
    if was.view.own_scores != now.view.own_scores:
        yield f"teams {'see' if now.view.own_scores else 'do not see'} their own scores from now on"
    elif was.view.own_scores_at != now.view.own_scores_at:
        yield f"teams see their own scores from {_from(now.view.own_scores_at)}"
    if was.view.private != now.view.private:
        yield (
            "the private part of the items ranks its boards at once, for everybody"
            if now.view.private
            else "the private part of the items is hidden from now on"
        )
    elif was.view.private_at != now.view.private_at:
        yield f"the private part of the items is shown from {_from(now.view.private_at)}"
    if was.view.slices != now.view.slices:
        yield f"slices shown: {now.view.slices}, before {was.view.slices}"
    if was.view.has_statistics != now.view.has_statistics:
        yield f"intervals, rank ranges and p are {'shown at once' if now.view.has_statistics else 'hidden from now on'}"
    if was.view.precision != now.view.precision:
        yield f"decimals shown: {_digits(now.view.precision)}, before {_digits(was.view.precision)}"
    if was.gold_is_public != now.gold_is_public:
        yield ("teams see which items they got right" if now.gold_is_public else "teams no longer see single items")


_BOARD_WORDS = {
    BoardShown.PUBLIC: "its boards are public at once: the embargo is lifted",
    BoardShown.RANKS_ONLY: "its boards show only ranks from now on",
    BoardShown.HIDDEN: "its boards are hidden from now on: an embargo begins",
}


def _rule(entry: EntrySettings) -> str:
    if entry.rule is EntryRule.CHOSEN:
        return f"'chosen' until {_moment(entry.choose_until)}, else '{entry.without_choice}'"
    return f"'{entry.rule}'" + (f" in steps of {entry.ladder_step}" if entry.rule is EntryRule.LADDER else "")


def _moment(moment: datetime | None) -> str:
    return aoe_words(moment) if moment else "never"


def _from(moment: datetime | None) -> str:
    return aoe_words(moment) if moment else "never"


def _number(number: int | None) -> str:
    return "without a limit" if number is None else str(number)


def _digits(number: int | None) -> str:
    return "all" if number is None else str(number)


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned changes as `apply` would report them, their effects, and how much of the gold teams could infer."""

    changes: list[Change]
    effects: list[EffectOut]
    leaks: list[DeclaredLeak] = field(default_factory=list)

    @property
    def changes_something(self) -> bool:
        """True if applying would change anything, or would be refused."""
        return any(change.counts or change.keeps_edits for change in self.changes)

    @property
    def rescore(self) -> int:
        """The number of submissions that would have to be rescored."""
        return sum(effect.rescore for effect in self.effects)


class RolledBack(Exception):
    """Raised to end a transaction by rolling it back."""


def plan_phases(
    engine: Engine,
    loaded: Sequence[LoadedCompetition],
    *,
    storage: Storage,
    now: datetime,
    on_edits: OnEdits = OnEdits.ASK,
) -> Plan:
    """Return the plan of applying these competitions. Raises the errors of `apply_phases`."""
    names = [one.declaration.name for one in loaded]
    try:
        with writing(engine) as session:
            lock_declarations(session)
            before = standings(session, names, now)
            changes = apply_phases(session, loaded, storage=storage, now=now, on_edits=on_edits, is_plan=True)
            leaks = [leak for one in loaded for leak in declared_leaks(one.declaration, one.folder.joinpath)]
            planned = Plan(changes, effects(before, standings(session, names, now)), leaks)
            raise RolledBack
    except RolledBack:
        return planned
