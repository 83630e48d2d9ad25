"""503 "being upgraded" while the database's tables are of another revision than this process needs.

A process that runs while somebody migrates the database would else answer with errors, or write by rules of before. The
tables are looked at every other second, and by `app.web.http.errors` whenever something goes wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from anyio.to_thread import run_sync
from fastapi import Request
from sqlalchemy import Engine
from starlette.types import ASGIApp, Receive, Scope, Send

from app.base.db import make_engine
from app.base.logs import log
from app.operations.database_revision import Tables
from app.web.http.errors import being_upgraded

LOOK_SECONDS = 2.0
#: What tells how the server is, and needs no table; static files besides.
_ANSWERED = frozenset({"/healthz", "/readyz", "/status"})
_STATIC = "/static/"


class Upgrading:
    """Answers everything with 503 while the tables do not fit. Stands inside of what reads bodies to their end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        misfit = scope["app"].state.tables.misfit if scope["type"] == "http" else None
        if misfit is None or scope["path"] in _ANSWERED or scope["path"].startswith(_STATIC):
            await self._app(scope, receive, send)
        else:
            await being_upgraded(Request(scope), misfit)(scope, receive, send)


@asynccontextmanager
async def watched(tables: Tables, engine: Engine) -> AsyncIterator[None]:
    """Look again and again until the block ends, on a connection that nobody else waits for."""
    own = make_engine(engine.url.render_as_string(hide_password=False))
    task = asyncio.create_task(_keep_looking(tables, own))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        own.dispose()


async def _keep_looking(tables: Tables, engine: Engine) -> None:
    words = ""
    while True:
        misfit = await run_sync(tables.look, engine)
        if misfit is not None and str(misfit) != words:
            log.error("being_upgraded", reason=str(misfit))
        elif misfit is None and words:
            log.info("upgrade_ended")
        words = str(misfit or "")
        await asyncio.sleep(LOOK_SECONDS)
