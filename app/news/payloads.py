"""The content of the messages to webhooks, built when sent, from the audience's view at that moment, by the API's
rules.

Between the event and the sending only ids are stored. So an embargo that has begun in the meantime applies, one that
was lifted does not, and after the loss of a right nothing more is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import NotFound
from app.boards.leaderboard import build_leaderboard
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.tables import format_cell
from app.competitions.access import may_see
from app.competitions.find import load_parts
from app.competitions.views import describe_phase, describe_visibility
from app.competitions.visibility import SeenAs, Viewer
from app.feedback.documents import describe_submission_seen
from app.feedback.views import SubmissionOut
from app.gold.versions import list_gold
from app.gold.views import describe_gold
from app.messages.views import QuestionOut
from app.models import (
    Board,
    Competition,
    CompetitionTask,
    GoldVersion,
    NewsKind,
    Phase,
    PhaseTask,
    Question,
    Right,
    TeamMember,
    User,
    Webhook,
    WebhookAudience,
)
from app.people.rights import may_organise
from app.runs.failures import failed_runs
from app.submissions.find import get_submission
from app.webhooks.ending import why_blocked
from app.webhooks.events import OF_STATUS

#: Maximum number of rows of a board in a message.
LEADERS = 10


class NotSeen(Exception):
    """The audience may not see this, or no longer may, so nothing is sent."""


@dataclass(frozen=True, slots=True)
class News:
    """News as an audience sees it.

    data: in the format of the API; title, lines: for people, in plain text; page: its full address.
    """

    kind: NewsKind
    data: Mapping[str, Any]
    title: str
    lines: tuple[str, ...] = ()
    page: str = ""
    at: datetime = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Looking:
    """A competition as the audience of a webhook sees it."""

    session: Session
    webhook: Webhook
    viewer: Viewer
    settings: Settings
    competition: Competition

    @property
    def now(self) -> datetime:
        return self.viewer.now

    def page(self, path: str) -> str:
        """Return the full address of a page."""
        return public_address(self.settings, path)

    def check_right(self, right: Right) -> None:
        """Raise NotSeen unless the audience are organisers with this right."""
        is_theirs = self.webhook.audience == WebhookAudience.ORGANISERS
        if not is_theirs or not may_organise(self.session, self.viewer.user, self.competition, right):
            raise NotSeen


def news_for(
    session: Session, webhook: Webhook, kind: NewsKind, about: Mapping[str, Any], at: datetime, look: Looking | None
) -> News:
    """Return the news as the webhook's audience sees it now. Raises NotSeen.

    at: when it happened. look: from `looking`; None for a test message.
    """
    if look is None:
        words = "If you read this, the webhook works."
        return News(kind, {"webhook": webhook.name, "message": words}, f"A test of '{webhook.name}'", (words,), at=at)
    try:
        return _BUILT[kind](look, kind, about, at)
    except NotFound:
        raise NotSeen from None


def looking(session: Session, webhook: Webhook, competition_id: int, settings: Settings, now: datetime) -> Looking:
    """Return the access of this webhook to a competition. Raises NotSeen if its audience has no access to it."""
    competition = session.get(Competition, competition_id)
    if competition is None or webhook.competition_id not in (None, competition_id):
        raise NotSeen
    viewer = viewer_of(session, webhook, now)
    if not may_see(session, viewer.user, competition.id):
        raise NotSeen
    load_parts(session, [competition])
    return Looking(session, webhook, viewer, settings, competition)


def viewer_of(session: Session, webhook: Webhook, now: datetime) -> Viewer:
    """Return the viewer whose view the webhook sends. Raises NotSeen if that person has lost the role."""
    if why_not_lent(session, webhook):
        raise NotSeen
    if webhook.audience == WebhookAudience.PUBLIC:
        return Viewer(None, now)
    is_team = webhook.audience == WebhookAudience.TEAM
    return Viewer(session.get_one(User, webhook.owner_id), now, SeenAs.PARTICIPANT if is_team else None)


def why_not_lent(session: Session, webhook: Webhook) -> str:
    """Return why the webhook can no longer use its owner's rights; "" if it can."""
    if why := why_blocked(session, webhook):
        return why
    if _is_of_audience(session, webhook, session.get_one(User, webhook.owner_id)):
        return ""
    return "the person who saved it last no longer belongs to its audience."


def _is_of_audience(session: Session, webhook: Webhook, owner: User) -> bool:
    """Return True if the owner belongs to the webhook's audience: its team, organisers, administrators."""
    if webhook.team_id is not None:
        return session.get(TeamMember, (webhook.team_id, owner.id)) is not None
    if webhook.competition_id is None:
        return owner.is_administrator
    competition = session.get_one(Competition, webhook.competition_id)
    return webhook.audience == WebhookAudience.PUBLIC or may_organise(session, owner, competition, ())


# --------------------------------------------------------------------------------------------------------------- kinds


def _submission_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a submission, as its team, or organisers with the right, see it in the API."""
    if look.webhook.audience == WebhookAudience.PUBLIC:
        raise NotSeen
    submission = get_submission(look.session, UUID(about["submission"]), look.viewer.user)
    if look.webhook.team_id is None:
        look.check_right(Right.SUBMISSIONS)
    elif submission.team_id != look.webhook.team_id:
        raise NotSeen
    described = describe_submission_seen(look.session, submission, look.viewer)
    if OF_STATUS.get(described.status) is not kind:  # rescored or queued again since: this causes other news
        raise NotSeen
    place = _place(look, submission.phase_task.phase, submission.phase_task.task)
    by = f"{described.team}: {described.filename}" if described.filename else described.team
    lines = (by, *_scores(described), *(f"{len(described.problems)} problems" for _ in described.problems[:1]))
    data = {"submission": described.model_dump(mode="json")}
    return News(kind, data, f"{_TITLES[kind]}, {place}", lines, look.page(links.submission(submission.id)), at=at)


def _scores(submission: SubmissionOut) -> tuple[str, ...]:
    ranked = [one for one in submission.standings if one.value is not None]
    return tuple(f"{one.board}: {one.value:g}" + (f", rank {one.rank}" if one.rank else "") for one in ranked[:3])


def _failure_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a failed run: for organisers as in the list of failed runs, for a team its submission."""
    if look.webhook.team_id is not None:
        return _submission_news(look, kind, about, at)
    look.check_right(Right.SUBMISSIONS)
    found = failed_runs(look.session, [look.competition.id], runs=[about["run"]])
    if not found:
        raise NotSeen
    [failed] = found
    page = look.page(links.failed(look.competition.name))
    lines = (f"{failed.team}: {failed.filename}".removesuffix(": "), failed.failure)
    return News(kind, {"run": failed.model_dump(mode="json")}, f"Scoring failed in {failed.place}", lines, page, at=at)


def _board_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a board with its first rows, as the board shows them to this audience."""
    phase, board = board_at(look.competition, about["phase"], about["board"])
    shown = build_leaderboard(look.session, phase, board, look.viewer)
    leaders = [_leader(shown, row) for row in shown.rows[:LEADERS]]
    page = look.page(links.board(look.competition.name, phase.name, board.name))
    data = {
        "competition": look.competition.name,
        "phase": phase.name,
        "board": board.name,
        "title": board.title,
        "leaders": leaders,
        "rows": len(shown.rows),
        "visibility": describe_visibility(shown.view).model_dump(mode="json"),
        "version": shown.version,
        "page": page,
    }
    lines = [f"{one['rank'] or '–'} {one['team']} {one['shown'] or ''}".rstrip() for one in leaders[:3]]
    return News(kind, data, f"{board.title} changed, {_place(look, phase)}", tuple(lines), page, at=at)


def board_at(competition: Competition, phase_id: int, board_id: int) -> tuple[Phase, Board]:
    """Return a board in a phase. Raises NotSeen if it no longer exists."""
    phase = next((one for one in competition.phases if one.id == phase_id), None)
    board = next((one for one in competition.boards if one.id == board_id), None)
    if phase is None or board is None:
        raise NotSeen
    return phase, board


def _leader(shown: Leaderboard, row: LeaderboardRow) -> dict[str, Any]:
    """Return a row, with its ranking score if the board shows scores."""
    cell = row.cells[shown.rank_by] if row.cells else None
    column = shown.columns[shown.rank_by] if row.cells else None
    return {
        "rank": row.rank,
        "team": row.team,
        "kind": row.kind,
        "score": cell.value if cell else None,
        "shown": format_cell(cell, column) if cell and column else None,
    }


def _question_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a question, as organisers with the right to messages see it."""
    look.check_right(Right.MESSAGES)
    query = select(Question).where(Question.id == about["question"], Question.competition_id == look.competition.id)
    question = look.session.scalar(query.options(joinedload(Question.asker, innerjoin=True)))
    if question is None:
        raise NotSeen
    shown = QuestionOut.seen_by(look.viewer.user, question, sees_all=True)
    lines = (shown.title, shown.text)
    data = {"competition": look.competition.name, "question": shown.model_dump(mode="json")}
    return News(kind, data, f"{shown.asker} asks about {look.competition.title}", lines, look.page(shown.page), at=at)


def _gold_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a checked gold version, as organisers with the right to gold see it, without its content."""
    look.check_right(Right.GOLD)
    version = look.session.scalar(select(GoldVersion).where(GoldVersion.id == about["gold"]))
    if version is None:
        raise NotSeen
    query = select(PhaseTask).where(PhaseTask.id == version.phase_task_id)
    whole = joinedload(PhaseTask.phase).joinedload(Phase.competition)
    phase_task = look.session.scalars(query.options(whole, joinedload(PhaseTask.task))).one()
    described = describe_gold(look.session, phase_task, list_gold(look.session, phase_task))
    one = next((one for one in described.versions if one.version == version.number), None)
    if one is None or phase_task.phase.competition_id != look.competition.id:
        raise NotSeen
    place = _place(look, phase_task.phase, phase_task.task)
    data = {
        "competition": described.competition,
        "phase": described.phase,
        "task": described.task,
        "gold": one.model_dump(mode="json", exclude={"explanation"}),
    }
    title = f"Gold version {one.version} is {one.check}, {place}"
    lines = tuple(f"{len(one.problems)} problems" for _ in one.problems[:1])
    return News(kind, data, title, lines, look.page(described.page), at=at)


def _phase_news(look: Looking, kind: NewsKind, about: Mapping[str, Any], at: datetime) -> News:
    """Return news of a phase that opened or closed. Raises NotSeen if its dates have been changed since."""
    phase = next((one for one in look.competition.phases if one.id == about["phase"]), None)
    moment = None if phase is None else phase.starts_at if kind is NewsKind.PHASE_OPENED else phase.ends_at
    if phase is None or moment is None or moment > look.now:
        raise NotSeen
    described = describe_phase(look.competition, phase, look.settings, look.now)
    what = "is open" if kind is NewsKind.PHASE_OPENED else "has closed"
    page = look.page(links.competition(look.competition.name))
    data = {"competition": look.competition.name, "phase": described.model_dump(mode="json"), "page": page}
    return News(kind, data, f"{phase.title} of {look.competition.title} {what}", (), page, at=at)


_BUILT = {
    NewsKind.SUBMISSION_SCORED: _submission_news,
    NewsKind.SUBMISSION_REJECTED: _submission_news,
    NewsKind.RUN_FAILED: _failure_news,
    NewsKind.BOARD_CHANGED: _board_news,
    NewsKind.QUESTION_ASKED: _question_news,
    NewsKind.GOLD_CHECKED: _gold_news,
    NewsKind.PHASE_OPENED: _phase_news,
    NewsKind.PHASE_CLOSED: _phase_news,
}
_TITLES = {
    NewsKind.SUBMISSION_SCORED: "A submission was scored",
    NewsKind.SUBMISSION_REJECTED: "A submission was rejected",
    NewsKind.RUN_FAILED: "A submission could not be scored",
}


def _place(look: Looking, phase: Phase, task: CompetitionTask | None = None) -> str:
    parts = [phase.title, look.competition.title]
    return " of ".join([f"{task.title} in {parts[0]}" if task else parts[0], parts[1]])
