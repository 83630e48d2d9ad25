"""What every route needs: settings, engine and clock of this server, taken from the application and never global."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlalchemy import Engine

from app.base import addresses
from app.base.config import Settings
from app.web.http.kept_answers import KeptAnswers
from app.web.http.tries import Tries
from app.web.http.waiting import Waiting


def server_clock() -> datetime:
    """Now, by the server's clock: the one that decides."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Server:
    """`clock` is asked once per decision; tests set it. answers: what `app.web.public_answers` keeps, apart from
    those of which there are too many; waiting: who waits for news; tries: uploads on their way."""

    settings: Settings
    engine: Engine
    clock: Callable[[], datetime] = server_clock
    answers: KeptAnswers = field(default_factory=KeptAnswers, compare=False)
    many_answers: KeptAnswers = field(default_factory=KeptAnswers, compare=False)
    waiting: Waiting = field(default_factory=Waiting, compare=False)
    tries: Tries = field(default_factory=Tries, compare=False)


def server_of(request: Request) -> Server:
    """The one that `create_app` put into the application's state."""
    return cast(Server, request.app.state.server)


async def serving_of(request: Request) -> Server:
    """The same as a dependency, for routes; what stands before every route takes it from the request, for each
    dependency costs the framework as much as a small query."""
    return server_of(request)


def public_address(request: Request, server: Server, path: str) -> str:
    """The whole address that people elsewhere use, for what this reader is shown."""
    return addresses.public_address(server.settings, path, requested=str(request.base_url))


ServerHere = Annotated[Server, Depends(serving_of)]
