"""503 "being upgraded" while the database schema has another revision than this process needs.

Otherwise a process that runs during a migration would fail, or write by outdated rules. The schema is checked every two
seconds, and by `app.web.http.errors` after every database or internal error.
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
#: Health routes, which need no table; static files are served too.
_ANSWERED = frozenset({"/healthz", "/readyz", "/status"})
_STATIC = "/static/"


class Upgrading:
    """Middleware that answers every request with 503 while the schema does not fit.

    Must run inside the middleware that drains bodies.
    """

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
    """Check the schema repeatedly until the block ends, on a separate connection."""
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
