"""Finds the texts that people write for others, as a viewer sees them, and the columns that store them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.errors import NotFound
from app.boards.team_rows import team_rows
from app.cards.form import CardPart
from app.cards.systems import card_of_system
from app.competitions.visibility import Viewer
from app.messages.announcements import announcements_of
from app.messages.questions import questions_for
from app.models import (
    Announcement,
    CardVersion,
    Competition,
    Question,
    Right,
    Submission,
    System,
    Team,
    TeamKind,
    TextKind,
)
from app.people.rights import may_organise
from app.teams.find import captain_of, members_of

#: Shown instead of a hidden text.
HIDDEN = "Hidden by the organisers"
#: The right that is required to hide a text of this kind.
RIGHT_OF = {
    TextKind.QUESTION: Right.MESSAGES,
    TextKind.ANSWER: Right.MESSAGES,
    TextKind.ANNOUNCEMENT: Right.MESSAGES,
    TextKind.TEAM: Right.SUBMISSIONS,
    TextKind.SYSTEM: Right.SUBMISSIONS,
}
#: Classes of the tables with texts that can be hidden, by name of the table.
TABLES: dict[str, Any] = {
    one.__tablename__: one for one in (Question, Announcement, Team, System, CardVersion, Submission)
}
WHICH_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class HiddenValue:
    """A value of a row, and its placeholder while it is hidden."""

    row: Any
    column: str
    instead: Any


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that a viewer may see.

    subject_id: of the row that it belongs to; title: one line; shown: the whole text; author_id: None if it has no
    single author; page: the address where it is shown.
    """

    kind: TextKind
    subject_id: int
    title: str
    shown: str
    author_id: int | None
    page: str
    team_id: int | None = None

    @property
    def subject(self) -> str:
        """The text as named in the audit log."""
        return f"{self.kind} {self.subject_id}"


def find_text(session: Session, competition: Competition, kind: TextKind, which: str, viewer: Viewer) -> FoundText:
    """Return the text if this viewer may see it. Raises NotFound.

    which: the number of a question (also for its answer) or an announcement; the name of a team; the id of a submission
    of a system, as in the address of its row.
    """
    find = {TextKind.TEAM: _team_id, TextKind.SYSTEM: _system_id, TextKind.ANNOUNCEMENT: _announcement_id}
    subject_id = find.get(kind, _question_id)(session, competition, which, viewer)
    found = stored_text(session, competition, kind, subject_id) if subject_id is not None else None
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no {kind} '{which}' that you can see.")
    return found


def stored_text(session: Session, competition: Competition, kind: TextKind, subject_id: int) -> FoundText | None:
    """Return the text as stored, for all viewers; None if it does not exist (any more)."""
    row = session.get(_ROWS[kind], subject_id)
    if isinstance(row, Question):
        if kind is TextKind.ANSWER:
            return FoundText(kind, row.id, row.title, row.answer, row.answered_by_id, row.page) if row.answer else None
        return FoundText(kind, row.id, row.title, f"{row.title}\n\n{row.text}", row.asker_id, row.page)
    if isinstance(row, Announcement):
        return FoundText(kind, row.id, row.title, f"{row.title}\n\n{row.text}", row.author_id, row.page)
    if isinstance(row, Team):
        captain = captain_of(row, members_of(session, row)) if row.kind == TeamKind.TEAM else None
        return FoundText(kind, row.id, row.name, row.name, captain, _page(competition, row), row.id)
    if isinstance(row, System):
        team, card = session.get_one(Team, row.team_id), card_of_system(session, row).document
        more = [card.get(part, "") for part in (CardPart.METHOD, CardPart.SUMMARY)]
        shown = "\n\n".join([row.name, *(one for one in more if one and one != row.name)])
        return FoundText(kind, row.id, row.name, shown, _author(session, row), _page(competition, team), team.id)
    return None


_ROWS: dict[TextKind, type[Question] | type[Announcement] | type[Team] | type[System]] = {
    TextKind.QUESTION: Question,
    TextKind.ANSWER: Question,
    TextKind.ANNOUNCEMENT: Announcement,
    TextKind.TEAM: Team,
    TextKind.SYSTEM: System,
}


def _page(competition: Competition, team: Team) -> str:
    return links.public_team(competition.name, team.name)


def _author(session: Session, system: System) -> int | None:
    """Return the author of the card, or the sender of the first file of a system without a card; None if unknown."""
    wrote = select(CardVersion.user_id).where(CardVersion.system_id == system.id, CardVersion.is_current)
    sent = select(Submission.user_id).where(Submission.system_id == system.id).order_by(Submission.submitted_at)
    return session.scalar(wrote) or session.scalar(sent.limit(1))


def _question_id(session: Session, competition: Competition, which: str, viewer: Viewer) -> int | None:
    sees_all = viewer.seen_as is None and may_organise(session, viewer.user, competition, Right.MESSAGES)
    seen = questions_for(session, competition, viewer.user, sees_all=sees_all)
    return next((one.id for one in seen if str(one.id) == which), None)


def _announcement_id(session: Session, competition: Competition, which: str, viewer: Viewer) -> int | None:
    return next((one.id for one in announcements_of(session, competition) if str(one.id) == which), None)


def _team_id(session: Session, competition: Competition, which: str, viewer: Viewer) -> int | None:
    """Return the team with this name; None for a neutral name, and for names of published results."""
    team_rows(session, competition, which, viewer)
    return session.scalar(select(Team.id).where(Team.competition_id == competition.id, Team.name == which))


def _system_id(session: Session, competition: Competition, which: str, viewer: Viewer) -> int | None:
    submission = _submission(session, competition, which)
    if submission is None or submission.system_id is None:
        return None
    rows = team_rows(session, competition, submission.team.name, viewer)
    is_seen = any(submission.id in (one.row.page_id, one.row.submission_id) for one in rows)
    return submission.system_id if is_seen else None


def _submission(session: Session, competition: Competition, which: str) -> Submission | None:
    try:
        wanted = UUID(which)
    except ValueError:
        return None
    query = select(Submission).join(Submission.team).where(Submission.id == wanted)
    loaded = joinedload(Submission.team, innerjoin=True)
    return session.scalar(query.where(Team.competition_id == competition.id).options(loaded))


def places_of(session: Session, found: FoundText) -> list[HiddenValue]:
    """Return all values that the text consists of, with the name of a team or a system first."""
    if found.kind is TextKind.QUESTION:
        question = session.get_one(Question, found.subject_id)
        return [HiddenValue(question, "title", HIDDEN), HiddenValue(question, "text", HIDDEN)]
    if found.kind is TextKind.ANSWER:
        return [HiddenValue(session.get_one(Question, found.subject_id), "answer", HIDDEN)]
    if found.kind is TextKind.ANNOUNCEMENT:
        announcement = session.get_one(Announcement, found.subject_id)
        return [HiddenValue(announcement, "title", HIDDEN), HiddenValue(announcement, "text", HIDDEN)]
    instead = f"{HIDDEN} ({found.subject_id})"  # a name is unique
    if found.kind is TextKind.TEAM:
        return [HiddenValue(session.get_one(Team, found.subject_id), "name", instead)]
    versions = session.scalars(select(CardVersion).where(CardVersion.system_id == found.subject_id))
    sent = session.scalars(select(Submission).where(Submission.system_id == found.subject_id, Submission.method != ""))
    return [
        HiddenValue(session.get_one(System, found.subject_id), "name", instead),
        *(HiddenValue(one, "document", {}) for one in versions),
        *(HiddenValue(one, "method", "") for one in sent),
    ]
