"""A team's entry on a board as stored, with all data of its run that a row may show.

A new fact needs a field of `BoardEntry`, its column in `FACTS` at the same position, and a new `choose.VERSION`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.db import among
from app.models import GoldVersion, ScoringRun, Submission, System, Team, TeamKind
from app.standings.choose import TeamStanding
from app.standings.tries import gold_of_run

#: A value or None, the reason if it is None, and the signature.
KeptScore = Sequence[Any]


class BoardEntry(NamedTuple):
    """The run that counts for a team, with its facts.

    entries, ladder_value: see `TeamStanding`.
    system: its name, None until one is declared.
    task_version to commitment: facts of the run, which never change; gold: its identity.
    scores: of the board's columns (`Rules.columns`), in their order, None for one that was not computed; None instead
    of the tuple if the entry was not stored.
    """

    team_id: int
    run_id: int
    entries: int
    ladder_value: float | None
    team: str
    kind: TeamKind
    system: str | None
    task_version: int | None
    submission_id: UUID
    submitted_at: datetime
    track: str | None
    method: str
    gold: str
    commitment: str | None
    scores: Sequence[KeptScore | None] | None = None


#: The facts of a run, in the order of the fields of `BoardEntry`, and of the stored text. Joins: see `_OF_RUNS`.
FACTS = (
    ScoringRun.task_version,
    Submission.id,
    Submission.submitted_at,
    Submission.track,
    Submission.method,
    gold_of_run(),
    GoldVersion.commitment,
)

#: A standing, with its facts if it was stored.
AnyStanding = TeamStanding | BoardEntry


def facts_text(facts: Sequence[Any], scores: Sequence[KeptScore | None]) -> str:
    """Return the text to store for the values of `FACTS` and for the scores."""
    return json.dumps([*facts, scores], default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def stored_entries(rows: Iterable[Sequence[Any]]) -> list[BoardEntry]:
    """Return the stored entries. rows: the fields up to `system`, followed by the text of the facts."""
    entries = []
    for *standing, text in rows:
        version, submission_id, submitted_at, *others = orjson.loads(text)
        sent = UUID(submission_id), datetime.fromisoformat(submitted_at)
        entries.append(BoardEntry._make([*standing, version, *sent, *others]))
    return entries


def with_facts(session: Session, standings: Collection[AnyStanding]) -> list[BoardEntry]:
    """Return all standings as entries, in order of submission; facts that are not stored are read from the runs."""
    entries = [one for one in standings if isinstance(one, BoardEntry)]
    others = {one.run_id: one for one in standings if not isinstance(one, BoardEntry)}
    if others:
        for run_id, *facts in session.connection().execute(_OF_RUNS, {"runs": list(others)}):
            entries.append(BoardEntry(*others[run_id], *facts))
    return sorted(entries, key=lambda one: (one.submitted_at, one.run_id))


#: Built once, since every board that is not stored executes this.
_OF_RUNS = (
    select(ScoringRun.id, Team.name, Team.kind, System.name, *FACTS)
    .join(Submission, Submission.id == ScoringRun.submission_id)
    .join(Team, Team.id == Submission.team_id)
    .outerjoin(System, System.id == Submission.system_id)
    .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
    .where(among(ScoringRun.id, "runs"))
)
