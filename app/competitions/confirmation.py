"""Confirmation of baselines' scores: an imported competition stays a draft until an organiser has compared them.

It is required if it is declared (`confirm_scores`, set by imports): the first revision of a competition, or the latest.
The decision is an entry of the audit log, with the scores that it was about; it is final.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.base.text import one_line, refuse
from app.models import (
    AuditEntry,
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    Revision,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from app.people.act import Act
from evergold.scoring.characters import can_be_name

#: The key of a declaration with the reasons, a sentence each.
CONFIRM_SCORES = "confirm_scores"
#: A declared score is compared to this many decimals, or as many as are written.
LEAST_DECIMALS = 4
#: Share of a score by which rounding alone may move it past the last decimal.
_ROUNDING = 1e-12
REASON_CHARACTERS = 300
_CONFIRMED, _DECLINED = "competition.scores_confirmed", "competition.scores_declined"
_WORDS = {RunStatus.REJECTED: "rejected", RunStatus.FAILED: "failed"}
_WAITS = "not scored yet"


class NotConfirmed(EvergoldError):
    """The scores of the competition's baselines are not confirmed, or cannot be confirmed."""

    status = 409
    code = "scores_not_confirmed"


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """One score of a baseline.

    - metric, split: empty if there is no score yet.
    - value: None with a reason; declared: the expected score, from the bundle or set by organisers; None if there is
     none.
    """

    phase: str
    task: str
    baseline: str
    metric: str = ""
    split: str = ""
    value: float | None = None
    reason: str = ""
    declared: float | None = None

    @property
    def agrees(self) -> bool | None:
        """True if the score equals the declared one; None if none is declared."""
        if self.declared is None:
            return None
        return self.value is not None and is_as_declared(self.value, self.declared)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of an organiser. reason: why the scores were not confirmed; "" if they were."""

    is_confirmed: bool
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The scores to confirm, the reasons, and the decision, if there is one."""

    reasons: tuple[str, ...]
    scores: tuple[BaselineScore, ...]
    verdict: Verdict | None

    @property
    def fault(self) -> str:
        """The reason why the scores cannot be confirmed yet; "" if they can."""
        if not self.scores:
            return "The competition has no baseline whose score could be compared: add one."
        lacking = [one for one in self.scores if one.value is None and (not one.metric or one.declared is not None)]
        if lacking:
            return f"{_of(lacking[0])} has no score to compare: {lacking[0].reason}."
        if all(one.value is None for one in self.scores):
            return "No baseline has a score to compare."
        if other := [one for one in self.scores if one.agrees is False]:
            return (
                f"{_of(other[0])} scores {shown(other[0].value)} in {other[0].metric}, not {shown(other[0].declared)}."
            )
        return ""


def is_as_declared(value: float, declared: float) -> bool:
    """Return True if a score equals the declared one, to its number of decimals, but at least LEAST_DECIMALS."""
    return abs(value - declared) <= 0.5 * 10.0 ** -decimals_of(declared) + _ROUNDING * max(1.0, abs(declared))


def decimals_of(declared: float) -> int:
    """Return the number of decimals to which a declared score is compared."""
    exponent = Decimal(repr(declared)).as_tuple().exponent
    return max(LEAST_DECIMALS, -exponent if isinstance(exponent, int) else 0)


def shown(value: float | None) -> str:
    """Return a score with enough decimals for people to compare it."""
    return "undefined" if value is None else f"{value:.10g}"


def confirmation_of(session: Session, competition: Competition) -> Confirmation | None:
    """Return the scores to confirm; None if no confirmation is required."""
    documents = _documents(session, competition)
    reasons = next((found for document in documents if (found := document.get(CONFIRM_SCORES))), None)
    if not reasons:
        return None
    scores = tuple(_scores(session, competition, documents[0]))
    return Confirmation(tuple(map(str, reasons)), scores, _verdict(session, competition))


def confirm_scores(act: Act, competition: Competition) -> None:
    """Record that an organiser confirmed the scores. Raises NotConfirmed if there are none, or one differs from the
    declared score.
    """
    act.session.refresh(competition, with_for_update=True)
    found = _find_confirmation(act.session, competition)
    if found.fault:
        raise NotConfirmed(f"{found.fault} Wait, correct it, or publish without a comparison and give a reason.")
    _record(act, competition, found, _CONFIRMED, "")


def decline_scores(act: Act, competition: Competition, reason: str) -> None:
    """Record why the competition may be published without confirmed scores. Raises InvalidForm, NotConfirmed."""
    line = one_line(reason)
    is_fine = bool(line) and len(line) <= REASON_CHARACTERS and can_be_name(line)
    refuse({"why": "" if is_fine else f"Give a reason, in one line of at most {REASON_CHARACTERS} characters."})
    act.session.refresh(competition, with_for_update=True)
    _record(act, competition, _find_confirmation(act.session, competition), _DECLINED, line)


def check_confirmed(session: Session, competition: Competition) -> None:
    """Raise NotConfirmed if an organiser has to decide on the scores before others may see the competition."""
    found = confirmation_of(session, competition)
    if found is not None and found.verdict is None:
        raise NotConfirmed(
            f"The scores of its baselines are not confirmed yet: {found.reasons[0].rstrip('.')}. Compare them with "
            "those of the other system, and confirm them, or give a reason why not."
        )


def _find_confirmation(session: Session, competition: Competition) -> Confirmation:
    found = confirmation_of(session, competition)
    if found is None:
        raise NotConfirmed("This competition has no scores to confirm.")
    return found


def _record(act: Act, competition: Competition, found: Confirmation, action: str, reason: str) -> None:
    scores = [{**asdict(one), "value": shown(one.value)} for one in found.scores]
    act.record(action, _subject(competition), {"reason": reason, "scores": scores})


def _subject(competition: Competition) -> str:
    return f"competition {competition.name}"


def _documents(session: Session, competition: Competition) -> list[Mapping[str, Any]]:
    """Return the latest declaration, then the first one: `confirm_scores` counts even if a later edit removed it."""
    query = select(Revision.document).where(Revision.competition_id == competition.id).limit(1)
    ends = (Revision.number.desc(), Revision.number.asc())
    found = [session.scalar(query.order_by(end)) for end in ends]
    return [one for one in found if one is not None] or [{}]


def _verdict(session: Session, competition: Competition) -> Verdict | None:
    entry = session.scalar(
        select(AuditEntry)
        .where(
            AuditEntry.subject == _subject(competition),
            AuditEntry.action.in_((_CONFIRMED, _DECLINED)),
            AuditEntry.at >= competition.created_at,  # of this competition, not of a deleted one with its name
        )
        .order_by(AuditEntry.id.desc())
        .limit(1)
    )
    if entry is None:
        return None
    return Verdict(entry.action == _CONFIRMED, entry.actor, entry.at, str(entry.details.get("reason", "")))


def _scores(session: Session, competition: Competition, document: Mapping[str, Any]) -> Iterator[BaselineScore]:
    """Yield the scores of declared baselines, in the order of the declaration; one without a value for a baseline
    without scores.
    """
    runs = _runs(session, competition)
    for phase, task, declared in _declared(document):
        place = (phase, task, str(declared.get("name")))
        wanted = declared.get("scores") or {}
        run, rows = runs.get(place, (None, ()))
        if not rows:
            yield BaselineScore(*place, reason=_WAITS if run is None else _WORDS.get(run, _WAITS))
        for row in rows:
            expected = wanted.get(f"{row.metric} {row.split}")
            yield BaselineScore(*place, row.metric, row.split, row.value, row.reason or "", expected)


def _declared(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for phase in document.get("phases") or ():
        for task, phase_task in (phase.get("tasks") or {}).items():
            for baseline in (phase_task or {}).get("baselines") or ():
                yield str(phase.get("name")), str(task), baseline


def _runs(
    session: Session, competition: Competition
) -> dict[tuple[str, str, str], tuple[RunStatus, Sequence[ScoreRow]]]:
    """Return status and scores of the latest submission of each baseline, by phase, task and name."""
    query = (
        select(Phase.name, CompetitionTask.name, Team.name, ScoringRun.id, ScoringRun.status)
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
        .where(Phase.competition_id == competition.id, Team.kind == TeamKind.BASELINE)
        .order_by(ScoringRun.id)
    )
    newest = {(phase, task, team): (run_id, status) for phase, task, team, run_id, status in session.execute(query)}
    rows: dict[int, list[ScoreRow]] = {}
    wanted = [run_id for run_id, _ in newest.values()]
    for row in session.scalars(select(ScoreRow).where(ScoreRow.run_id.in_(wanted)).order_by(ScoreRow.id)):
        rows.setdefault(row.run_id, []).append(row)
    return {place: (RunStatus(status), rows.get(run_id, [])) for place, (run_id, status) in newest.items()}


def _of(score: BaselineScore) -> str:
    return f"Baseline '{score.baseline}' of '{score.task}' in phase '{score.phase}'"
