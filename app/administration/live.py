"""Settings changed while the server runs, announcements to everybody, and blocked users, as known to each process.

A process polls one number (`LiveRevision`) and reads the rest only when that has changed: web processes every two
seconds, with their check of the schema, and immediately after a change of their own; workers and the sweep before each
round. No request queries the database for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.administration.views import ServerAnnouncementOut
from app.base.config import Settings
from app.base.db import insert_now, reading
from app.base.live_settings import LiveSettings
from app.base.logs import log
from app.looks.look import LOGO_KEYS, Logo, Looks, looks_of
from app.models import LiveRevision, ServerAnnouncement, ServerSetting, User
from evergold.value_words import fault_words

_ONLY_ROW = 1


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state at one revision. announcements: without ended ones, most severe first; blocked: ids of users."""

    revision: int
    settings: Settings
    looks: Looks
    announcements: tuple[ServerAnnouncementOut, ...] = ()
    blocked: frozenset[int] = frozenset()


def _clock() -> datetime:
    return datetime.now(UTC)


class LiveState:
    """Settings and announcements, as last read by this process."""

    def __init__(self, environment: Settings, clock: Callable[[], datetime] = _clock) -> None:
        self._environment = environment
        self._clock = clock
        self._turn = threading.Lock()
        self._looked_at = float("-inf")
        self._known = ServerState(0, environment, looks_of(environment))

    @property
    def environment(self) -> Settings:
        """The settings of the environment, which apply unless administrators changed them."""
        return self._environment

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._known.settings

    @property
    def looks(self) -> Looks:
        """The current looks."""
        return self._known.looks

    def announcements(self, now: datetime) -> list[ServerAnnouncementOut]:
        """Return the announcements shown at this moment, most severe first."""
        return [one for one in self._known.announcements if one.is_shown_at(now)]

    def is_blocked(self, user: User) -> bool:
        """Return whether this process knows that the user is blocked, without a query, for requests that wait."""
        return user.id in self._known.blocked

    def stamp(self, now: datetime) -> str:
        """Return a text that changes whenever anything changes that a page may show."""
        known = self._known
        return f"{known.revision}-{'-'.join(str(one.id) for one in known.announcements if one.is_shown_at(now))}"

    def look(self, engine: Engine, *, seconds: float = 0.0) -> None:
        """Notice changes, at most this often; while the database is down, the last known state is kept."""
        with self._turn:
            if time.monotonic() - self._looked_at < seconds:
                return
            with suppress(SQLAlchemyError), reading(engine) as session:
                if revision_of(session) != self._known.revision:
                    self._known = _read(session, self._environment, self._clock())
                self._looked_at = time.monotonic()


def _read(session: Session, environment: Settings, now: datetime) -> ServerState:
    """Return the whole state, with the revision read first, so that nothing read is older than it."""
    revision = revision_of(session)
    blocked = frozenset(session.scalars(select(User.id).where(User.blocked_at.is_not(None))))
    settings = current_settings(session, environment)
    looks = current_looks(session, settings)
    return ServerState(revision, settings, looks, tuple(list_announcements(session, now)), blocked)


def revision_of(session: Session) -> int:
    """Return the number of changes so far."""
    return session.scalar(select(LiveRevision.number).where(LiveRevision.id == _ONLY_ROW)) or 0


def note_change(session: Session) -> None:
    """Make all processes notice the changes of this transaction. Concurrent changes wait until it ends."""
    counted = update(LiveRevision).where(LiveRevision.id == _ONLY_ROW).values(number=LiveRevision.number + 1)
    if session.execute(counted.returning(LiveRevision.id)).first() is None and not insert_now(
        session, LiveRevision(id=_ONLY_ROW, number=1)
    ):
        session.execute(counted)


def current_settings(session: Session, environment: Settings) -> Settings:
    """Return the current settings, with all changes committed so far, for commands, the sweep and workers."""
    rows = session.execute(
        select(ServerSetting.key, ServerSetting.value).where(ServerSetting.key.not_in(LOGO_KEYS.values()))
    )
    return with_changes(environment, {key: value for key, value in rows})


def current_looks(session: Session, settings: Settings) -> Looks:
    """Return the looks from these settings, with the stored logos."""
    is_logo = ServerSetting.key.in_(LOGO_KEYS.values())
    logos: dict[str, Logo] = {}
    for key, value in session.execute(select(ServerSetting.key, ServerSetting.value).where(is_logo)):
        try:
            logos[key] = Logo.of_stored(value)
        except (KeyError, TypeError, ValueError) as error:
            log.warning("logo_left_out", setting=key, reason=repr(error))
    return looks_of(settings, **logos)


def with_changes(environment: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with these changes, except for unknown names and invalid values."""
    found = environment
    for name, value in changes.items():
        if name in LOGO_KEYS.values():
            continue
        if name not in LiveSettings.model_fields:
            log.warning("setting_left_out", setting=name, reason="unknown")
            continue
        try:
            found = found.model_copy(update={name: checked(name, value)})
        except ValidationError as error:
            log.warning("setting_left_out", setting=name, reason=fault_words(error.errors()[0]))
    return found


def checked(name: str, value: Any) -> Any:
    """Return the value of a setting after validation. Raises ValidationError."""
    return getattr(LiveSettings.model_validate({name: value}), name)


def list_announcements(session: Session, now: datetime) -> list[ServerAnnouncementOut]:
    """List current and coming announcements, most severe first."""
    is_ahead = or_(ServerAnnouncement.ends_at.is_(None), ServerAnnouncement.ends_at > now)
    found = [ServerAnnouncementOut.of(one) for one in session.scalars(select(ServerAnnouncement).where(is_ahead))]
    return sorted(found, key=lambda one: one.rank)
