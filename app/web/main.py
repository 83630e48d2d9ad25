"""The web application: routes, error handlers and middleware. It never opens gold, and loads no scorer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from anyio.to_thread import run_sync
from fastapi import FastAPI
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from starlette.middleware.gzip import GZipMiddleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.administration.refusals import FLUSH_SECONDS, RefusalCounts
from app.base.config import MEBIBYTE, Settings, get_settings
from app.base.db import engine_for_reading, get_engine
from app.base.logs import configure_logging, log
from app.base.private_folders import clear_left_folders
from app.base.storage import clear_interrupted_uploads, sealed_storage_of, storage_of
from app.operations.database_revision import OtherRevision, Tables, check_revision
from app.people.account_blocks import Blocked
from app.web import docs, pages
from app.web.administration import (
    api as administration,
    looks_api,
    operations_api as operations,
    people_api as all_people,
)
from app.web.boards import api as boards, exports, feeds, pictures, rankings, rows
from app.web.codabench import api as codabench
from app.web.competitions import api as competitions, organising_api as organising
from app.web.declarations import api as declarations
from app.web.declarations.editing_turns import editing_turns
from app.web.exports import api as organiser_exports
from app.web.gold import api as gold
from app.web.health import api as health
from app.web.html.guards import LogInFirst, to_blocked, to_login, to_second_factor
from app.web.html.rendering import STATIC, error_page
from app.web.http import files
from app.web.http.arrival import Arrivals, BoundedBodies, FinishedBodies, TimelyBodies
from app.web.http.context import Server
from app.web.http.errors import add_error_handlers
from app.web.http.identity import SecondFactorNeeded
from app.web.http.middleware import AnswerHead, Surroundings, Upgrading, watched
from app.web.http.openapi import describe, serve_description
from app.web.http.rate_limits import Elsewhere, RateLimits, publish_in_flight
from app.web.http.routers import add_routes
from app.web.http.static import StaticAssets
from app.web.judging import api as judging
from app.web.messages import api as messages
from app.web.moderation import api as moderation
from app.web.people import accounts, audit, data_api as own_data, roles
from app.web.people.passwords import password_turns
from app.web.people.provider_turns import provider_turns
from app.web.public_answers import PublicAnswers
from app.web.reports import api as reports
from app.web.rescoring import api as rescoring
from app.web.submissions import api as submissions, organisers_api as all_submissions, validations
from app.web.teams import api as teams, registration
from app.web.webhooks import api as webhooks
from evergold.scoring.tasks import unusable_plugins
from evergold.version import VERSION

DESCRIPTION = """\
Upload predictions, wait for their scores, read leaderboards.

- **Authentication**: `Authorization: Bearer evg_…`. Create a token on your account page, or with `POST /api/v1/tokens`.
- **Errors** have one shape everywhere: `{"error": {"code", "message", "details"}}`.
- **Scores** are fractions: with four decimals where gold is hidden, unless the phase says otherwise
  (`visibility.precision`), with all where it is public. An undefined score is `null` with a `reason`, never 0.
"""
TAGS = [
    {"name": "competitions", "description": "Competitions: their dates, tasks and files."},
    {"name": "taking part", "description": "Registering for a competition, and teams."},
    {"name": "submissions", "description": "Upload a file and wait for its scores."},
    {"name": "boards", "description": "The leaderboards."},
    {"name": "feeds", "description": "Feeds and calendars to subscribe to."},
    {"name": "exports", "description": "Tables and citations for papers."},
    {"name": "organising", "description": "For organisers of a competition, and administrators."},
    {"name": "accounts", "description": "Accounts and API tokens."},
    {"name": "administration", "description": "For administrators of the server."},
    {"name": "server", "description": "The server itself."},
]
#: Downloads have a single representation, so that their sha256 can be their ETag.
UNCOMPRESSED = ("application/octet-stream", "image/png", "application/zip")


#: Time that a starting web process waits for a database that does not respond (yet).
DATABASE_SECONDS = 30.0


class DatabaseNotReady(RuntimeError):
    """The server cannot start: the database is missing or lacks our tables."""


def create_app(settings: Settings | None = None, *, is_watched_over: bool = False) -> FastAPI:
    """Return the application for these settings (default: from the environment).

    is_watched_over: the process that started this one has checked the database schema and restarts it when it ends.
    Then the process does not exit on a schema of another revision, but answers requests with "being upgraded".
    """
    settings = settings or get_settings()
    configure_logging(settings.log_format)
    app = FastAPI(
        title="Evergold",
        summary="Scores NLP shared tasks whose gold stays hidden.",
        description=DESCRIPTION,
        version=VERSION,
        openapi_tags=TAGS,
        openapi_url=None,  # we serve it, see `serve_description`
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # as FastAPI's manual has it
    serve_description(app)
    app.state.server = Server(settings, get_engine(settings.database_address))
    app.state.tables, app.state.is_watched_over = Tables(), is_watched_over
    app.state.rate_limits, app.state.refusals = RateLimits(settings), RefusalCounts()
    app.state.rate_limits.on_refused = app.state.refusals.note
    app.state.password_turns = password_turns(settings)
    app.state.provider_turns = provider_turns()
    app.state.editing_turns = editing_turns()
    app.state.lately = health.CachedHealth()
    for part in (
        submissions,  # matched first, for the speed of uploads
        health,
        competitions,
        organising,
        files,
        gold,
        registration,
        teams,
        rows,
        validations,
        all_submissions,
        reports,
        boards,
        pictures,
        declarations,
        exports,
        feeds,
        rankings,
        rescoring,
        roles,
        judging,
        accounts,
        own_data,
        audit,
        administration,
        looks_api,
        operations,
        all_people,
        messages,
        moderation,
        webhooks,
        organiser_exports,
        docs,
        pages,
    ):
        add_routes(app.router, part.router)
    if settings.codabench_api:
        for router in codabench.ROUTERS:
            add_routes(app.router, router)
    app.mount("/static", StaticAssets(directory=STATIC))
    add_error_handlers(app, error_page)
    app.add_exception_handler(LogInFirst, to_login)
    app.add_exception_handler(SecondFactorNeeded, to_second_factor)
    app.add_exception_handler(Blocked, to_blocked)
    pages.check_guards()
    # The middleware added last is the outermost.
    # Compressed fast, for these responses have one reader; cached responses are compressed well, once.
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=3, exclude_content_types=UNCOMPRESSED)
    app.add_middleware(PublicAnswers, limit_bytes=settings.answers_mebibytes * MEBIBYTE)
    app.add_middleware(AnswerHead)
    app.add_middleware(Arrivals)
    app.add_middleware(Upgrading)
    app.add_middleware(BoundedBodies)
    app.add_middleware(FinishedBodies)
    app.add_middleware(TimelyBodies)
    app.add_middleware(Surroundings, https_only=settings.secure_cookies)
    if settings.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=settings.trusted_proxies)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    for plugin in unusable_plugins():
        log.warning("task_type_left_out", reason=str(plugin))
    try:
        await run_sync(_check_database, app.state.server.engine)
    except OtherRevision as other:
        if not app.state.is_watched_over:
            raise DatabaseNotReady(str(other)) from None
        app.state.tables.misfit = other
    settings = app.state.server.settings
    for storage in (storage_of(settings), sealed_storage_of(settings)):
        await run_sync(clear_interrupted_uploads, storage.folder, time.time())
    await run_sync(clear_left_folders, settings)
    server = app.state.server
    async with watched(app.state.tables, server.live, server.engine), _telling_of_tries(app), _counting_refusals(app):
        yield


@asynccontextmanager
async def _counting_refusals(app: FastAPI) -> AsyncIterator[None]:
    """Write the counts of refused requests to the database periodically and at the end of the block."""
    flush = partial(app.state.refusals.flush, app.state.server.engine)

    async def rounds() -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await run_sync(flush)

    task = asyncio.create_task(rounds())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await run_sync(flush)


@asynccontextmanager
async def _telling_of_tries(app: FastAPI) -> AsyncIterator[None]:
    """Publish in-flight uploads to other web processes during the block, which only PostgreSQL allows."""
    server = app.state.server
    if server.engine.dialect.name != "postgresql":
        yield
        return
    app.state.elsewhere = Elsewhere(server.engine)
    task = asyncio.create_task(publish_in_flight(server.tries, app.state.elsewhere))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _check_database(engine: Engine) -> None:
    """Check the schema, waiting for a database that restarts; raise OtherRevision, DatabaseNotReady."""
    give_up_at = time.monotonic() + DATABASE_SECONDS
    while True:
        try:
            with engine_for_reading(engine).connect() as connection:
                check_revision(connection)
        except SQLAlchemyError as error:
            is_away = isinstance(error, OperationalError) and engine.dialect.name != "sqlite"
            if not is_away or time.monotonic() > give_up_at:
                raise DatabaseNotReady(f"The database cannot be used ({type(error).__name__}).") from error
        else:
            return
        time.sleep(0.2)
