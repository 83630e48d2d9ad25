"""A real server on loopback with a small competition in it, and people who can talk to it."""

from __future__ import annotations

import codecs
import hashlib
import re
import socket
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import uvicorn
from fastapi import FastAPI
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import Engine, delete, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_upload, stored_path
from app.models import OutgoingMail, PublicFile, ScoringRun, Submission, TokenScope, User
from app.people import auth
from app.web.html.rendering import environment
from app.web.http import csrf
from app.web.http.context import Server
from app.web.http.identity import SESSION_COOKIE
from app.web.http.rate_limits import RateLimits
from app.web.people.passwords import password_turns
from tests import world
from tests.canary import Visitor
from tests.lanes import SERVER_THREAD
from tests.rich_world import own
from tests.web.routes import application
from tests.world import COMPETITION, NOW, PHASE, TASK

PASSWORD = "a long pass phrase"
TASK_PATH = f"/api/v1/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}"
SUBMIT = f"{TASK_PATH}/submissions"
BOARD = f"/api/v1/competitions/{COMPETITION}/phases/{PHASE}/boards/zero-shot"
CONTENT = b"ID,Language,Setting,Label\n1,EN,zero_shot,0\n"
BROWSER = {"Accept": "text/html"}
#: Two seconds of processor time, spent by one of all the processes that run tests.
COMPILED = Path(__file__).parent / "__pycache__"
COMPILED.mkdir(exist_ok=True)  # Python makes none where PYTHONDONTWRITEBYTECODE is set
environment().bytecode_cache = FileSystemBytecodeCache(str(COMPILED))


@dataclass
class Site:
    """The server, its rows, and its clock. transport: how clients reach it, if not through a socket."""

    url: str
    app: FastAPI
    settings: Settings
    engine: Engine
    now: datetime = NOW
    transport: httpx.BaseTransport | None = None
    clients: ExitStack = field(default_factory=ExitStack)

    def set_clock(self, now: datetime) -> None:
        self.now = now

    def client(self, **headers: str) -> httpx.Client:
        """Return a client; every answer of the API to it must match the API's description, and nothing may quote gold.

        The site closes it at its end, so that a forgotten client leaves no socket to a later test.
        """
        hooks = {"response": [self._check_documented]}
        client = Visitor(base_url=self.url, headers=headers, timeout=60, event_hooks=hooks, transport=self.transport)
        self.clients.callback(client.close)
        return client

    def _check_documented(self, response: httpx.Response) -> None:
        for template, statuses in _documented_at(response.request.method.lower(), response.request.url.path):
            assert str(response.status_code) in statuses, (template, response.status_code)

    def person(self, username: str, *, is_administrator: bool = False) -> Person:
        """Return somebody with a token."""
        user = world.add_user(self.engine, username, is_administrator=is_administrator)
        return Person(self, user, self.with_token(user))

    def with_token(self, user: User) -> httpx.Client:
        """Return a client with a new API token of every scope."""
        with writing(self.engine) as session:
            _, secret = auth.create_token(session, user, "test", NOW)
        return self.client(Authorization=f"Bearer {secret}")

    def browser(self, user: User) -> httpx.Client:
        """Return a browser in which somebody is logged in, whether they have a password or not."""
        with writing(self.engine) as session:
            _, secret = auth.start_session(session, user, self.now, 24)
        browser = self.client(**BROWSER)
        browser.cookies.set(SESSION_COOKIE, secret)
        browser.follow_redirects = True
        return browser

    def submissions(self) -> int:
        with reading(self.engine) as session:
            return len(session.scalars(own(Submission)).all())

    def stored(self) -> list[str]:
        """Return the sha256 of every stored file, and the names of partly stored ones."""
        folder = self.settings.storage_dir
        return sorted(path.name for path in folder.rglob("*") if path.is_file())

    def add_file(self, name: str, content: bytes, title: str = "A file") -> None:
        """Add a public file to the task."""
        stored = store_upload([content], FolderStorage(self.settings.storage_dir), 10**6)
        with writing(self.engine) as session:
            phase_task = world.the_phase_task(session)
            session.add(
                PublicFile(
                    phase_task_id=phase_task.id,
                    name=name,
                    title=title,
                    sha256=stored.sha256,
                    size_bytes=stored.size_bytes,
                )
            )


@lru_cache(maxsize=5000)
def _documented_at(method: str, path: str) -> list[tuple[str, frozenset[str]]]:
    """Return the documented routes at a path with their statuses; cached, as many tests ask for the same."""
    there = _documented().get(method, ())
    return [(template, statuses) for template, paths, statuses in there if paths.fullmatch(path)]


@cache
def _documented() -> dict[str, list[tuple[str, re.Pattern[str], frozenset[str]]]]:
    """Return, by method, each path of the API: its template, its pattern, and its documented statuses."""
    found: dict[str, list[tuple[str, re.Pattern[str], frozenset[str]]]] = {}
    for template, operations in application().openapi()["paths"].items():
        paths = re.compile(re.sub(r"\{\w+\}", "[^/]+", template))
        for method, operation in operations.items():
            found.setdefault(method, []).append((template, paths, frozenset(operation["responses"])))
    return found


@dataclass
class Person:
    """A user and a client that sends the user's token."""

    site: Site
    user: User
    client: httpx.Client

    def submit(self, content: bytes = CONTENT, path: str = SUBMIT, **more: Any) -> httpx.Response:
        headers = more.pop("headers", {})
        return self.client.post(path, files={"file": ("predictions.csv", content)}, data=more, headers=headers)

    def submitted(self, content: bytes = CONTENT, **more: Any) -> dict[str, Any]:
        """Submit and return the accepted submission."""
        response = self.submit(content, **more)
        assert response.status_code == 202, response.text
        document: dict[str, Any] = response.json()
        return document


@dataclass
class Client:
    """Somebody with a token for the API and a browser for the pages."""

    bare: httpx.Client
    token: str
    cookie: str
    forgery: str

    def send(self, method: str, path: str, *, accept: str | None = None, **body: Any) -> httpx.Response:
        """Send a request: like a program to the API, like a browser to pages, whose forms carry the right token."""
        is_api = path.startswith("/api/")
        headers = {"Accept": accept or ("application/json" if is_api else "text/html")}
        if self.token:
            one = {"Authorization": f"Bearer {self.token}"} if is_api else {"Cookie": f"{SESSION_COOKIE}={self.cookie}"}
            headers |= one
        if not is_api and method != "GET":
            body["data"] = {**body.pop("data", {}), csrf.FORM_FIELD: self.forgery}
        return self.bare.request(method, path, headers=headers, **body)


def secrets_of(engine: Engine, user: User) -> tuple[str, str, str]:
    """Return an API token with every scope, the cookie of a browser, and the token of its forms."""
    with writing(engine) as session:
        _, token = auth.create_token(session, user, "test", NOW, scopes=frozenset(TokenScope))
        login, cookie = auth.start_session(session, user, NOW, hours=48)
        return token, cookie, csrf.mask(login.csrf_token)


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Yield the address at which uvicorn serves the application, in a thread of this process."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none", proxy_headers=False)
    )
    thread = threading.Thread(target=server.run, name=SERVER_THREAD)
    thread.start()
    app.state.in_flight, app.state.connections = server.server_state.tasks, server.server_state.connections
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@contextmanager
def a_site(app: FastAPI, url: str, engine: Engine, settings: Settings) -> Iterator[Site]:
    """Yield the running server, now with these settings, on this database, its clock standing at NOW."""
    site = Site(url, app, settings, engine)
    app.state.server = Server(settings, engine, lambda: site.now)
    app.state.tables.look(engine)  # a late request of the last test may have seen its database half gone
    app.state.rate_limits = RateLimits(settings)
    app.state.password_turns = password_turns(settings)
    with site.clients:
        yield site
    wait_for_requests(app)
    _close_connections(app)
    engine.dispose()


def wait_for_requests(app: FastAPI) -> None:
    """Wait for a browser's last requests, which may still be on their way to the database that the next
    test replaces.
    """
    _wait_until_empty(app.state.in_flight)


def _close_connections(app: FastAPI) -> None:
    """Close connections that were left open: what is sent on them would reach the database of the next test."""
    for connection in list(app.state.connections):
        connection.loop.call_soon_threadsafe(connection.shutdown)
    _wait_until_empty(app.state.connections)


def _wait_until_empty(those: Collection[object]) -> None:
    deadline = time.monotonic() + 10
    while those and time.monotonic() < deadline:
        time.sleep(0.005)


@contextmanager
def log_in(site: Site, username: str = "ada", *, is_confirmed: bool = True) -> Iterator[httpx.Client]:
    """Yield a browser that registered on the page and is logged in; the address is confirmed, and no mail waits for
    that.
    """
    with site.client(**BROWSER) as browser:
        browser.follow_redirects = True
        form = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
        page = browser.get("/register").text
        page = browser.post("/register", data={**form, "csrf_token": csrf_of(page)}).text
        assert "Log out" in page
        if is_confirmed:
            _confirm(site, username)
        yield browser


def _confirm(site: Site, username: str) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        user.email_confirmed_at = site.now
        session.execute(delete(OutgoingMail).where(OutgoingMail.user_id == user.id))


def register(site: Site, username: str = "ada") -> None:
    """Register an account with PASSWORD."""
    with log_in(site, username):
        pass


def without_log(said: str) -> str:
    """Return the output of a command in this process, without the server's own log."""
    return "".join(line for line in said.splitlines(keepends=True) if "[info " not in line)


def csrf_of(page: str) -> str:
    """Return the token of the first form on a page."""
    return page.split('name="csrf_token" value="')[1].split('"')[0]


def run_of(site: Site, submission: dict[str, Any]) -> int:
    """Return the id of a submission's run."""
    with reading(site.engine) as session:
        wanted = select(ScoringRun.id).where(ScoringRun.submission_id == UUID(submission["id"]))
        return session.scalars(wanted).one()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_of(site: Site, content: bytes) -> Path:
    return stored_path(site.settings.storage_dir, sha256(content))


def talk(url: str, request: bytes, wait_seconds: float = 5.0) -> bytes:
    """Send raw bytes and read the answer until the server closes or is silent."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait_seconds) as connection:
        connection.sendall(request)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    try:
        while chunk := connection.recv(65536):
            answer += chunk
    except (TimeoutError, ConnectionError):
        pass
    return answer


def csv_text(response: httpx.Response) -> str:
    """Return the table of an answer, which must begin with the byte-order mark."""
    assert response.content.startswith(codecs.BOM_UTF8)
    return response.content.decode("utf-8-sig")
