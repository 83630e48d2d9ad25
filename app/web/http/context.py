"""The context of every route: settings, engine and clock of this server, taken from the application, never global."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.administration.live import LiveState
from app.base import addresses
from app.base.config import Settings
from app.looks.look import Looks
from app.models import User
from app.people.act import UserAct
from app.web.http.caching import KeptAnswers
from app.web.http.rate_limits import InFlightUploads
from app.web.http.waiting import Waiting


def server_clock() -> datetime:
    """Return the current time of the server, which decides all deadlines."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Server:
    """Settings, engine and shared state of this server.

    environment: the settings with which this process started. clock: read once per decision; tests set it. answers:
    cache of `app.web.public_answers`; many_answers: a separate cache for responses with very many keys. waiting:
    clients waiting for news. tries: uploads in flight. live: settings and looks that administrators change while the
    server runs.
    """

    environment: Settings
    engine: Engine
    clock: Callable[[], datetime] = server_clock
    answers: KeptAnswers = field(default_factory=KeptAnswers, compare=False)
    many_answers: KeptAnswers = field(default_factory=KeptAnswers, compare=False)
    waiting: Waiting = field(default_factory=Waiting, compare=False)
    tries: InFlightUploads = field(default_factory=InFlightUploads, compare=False)
    live: LiveState = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "live", LiveState(self.environment, self.clock))

    @property
    def settings(self) -> Settings:
        """The current settings, including the changes of administrators."""
        return self.live.settings

    @property
    def looks(self) -> Looks:
        """The current name, logos and colours."""
        return self.live.looks

    def act(self, session: Session, user: User) -> UserAct:
        """Return the context of a change that this user makes in the session's transaction."""
        return UserAct(session, user, self.clock(), self.settings)


def server_of(request: Request) -> Server:
    """Return the server that `create_app` stored in the application's state."""
    return cast(Server, request.app.state.server)


async def get_server(request: Request) -> Server:
    """Return the server, as a dependency of routes.

    Code that runs before every route takes it from the request instead, because a dependency costs the framework as
    much time as a small query.
    """
    return server_of(request)


def public_address(request: Request, server: Server, path: str) -> str:
    """Return an absolute address to show to this viewer, which also works for other people."""
    return addresses.public_address(server.settings, path, requested=str(request.base_url))


ServerHere = Annotated[Server, Depends(get_server)]
