"""The HTTP client behind the command line: what a server can be asked, safely repeated when the network fails.

Everything here may be tried again: an upload carries an Idempotency-Key, so that the server counts it once.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from urllib.parse import quote

import httpx

#: Seconds before each further try: about a minute in all for what must arrive, a moment for what is only looked at.
PATIENT = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
BRIEF = (0.3, 1.0)
#: Answers of a proxy or an overloaded server, not of ours: worth another try.
_PASSING = frozenset({502, 503, 504})
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
WAIT_SECONDS = 30
#: While others are before us: how many they are is no news that a server would tell.
QUEUED_WAIT_SECONDS = 10
#: A second try may overtake the first on the server, by no more than this.
OVERTAKEN_SECONDS = 3.0
TERMINAL = frozenset({"scored", "rejected", "failed"})

Json = dict[str, Any]
Noticed = Callable[[str], None]


class Unreachable(Exception):
    """No usable answer, after all tries; the message says what happened last."""


class Refused(Exception):
    """The server answered with an error of its own."""

    def __init__(self, status: int, code: str, message: str, details: Json) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details


@dataclass(frozen=True)
class Place:
    """`competition/phase/task` or `competition/phase/board`."""

    competition: str
    phase: str
    name: str

    def path(self, kind: str) -> str:
        """The resource below a phase: kind is `tasks` or `boards`."""
        competition, phase, name = (quote(part, safe="") for part in (self.competition, self.phase, self.name))
        return f"/competitions/{competition}/phases/{phase}/{kind}/{name}"


@contextmanager
def connect(server: str, token: str | None, version: str) -> Iterator[httpx.Client]:
    """A client for this server's API, with the token if there is one."""
    headers = {"User-Agent": f"evergold/{version}"} | ({"Authorization": f"Bearer {token}"} if token else {})
    # Tokens are for the server that was named: a redirect to another one must not carry them along.
    with httpx.Client(base_url=f"{server}/api/v1", headers=headers, timeout=_TIMEOUT) as client:
        yield client


# ---------------------------------------------------------------------------------------------------------- requests


def register(client: httpx.Client, *, username: str, email: str, password: str, display_name: str) -> Json:
    """A new account."""
    form = {"username": username, "email": email, "password": password, "display_name": display_name}
    return _json(_once(client, "POST", "/register", json=form))


def create_token(client: httpx.Client, *, username: str, password: str, name: str) -> Json:
    """A new token of this account, with its secret, which is shown this once."""
    return _json(_once(client, "POST", "/tokens", json={"username": username, "password": password, "name": name}))


def revoke_token(client: httpx.Client, token_id: int) -> None:
    """End a token."""
    _once(client, "DELETE", f"/tokens/{token_id}")


def who_am_i(client: httpx.Client) -> Json:
    """The account that the token belongs to."""
    return _json(_repeated(client, "GET", "/me"))


def list_competitions(client: httpx.Client) -> list[Json]:
    """All competitions, with phases, tasks and boards."""
    listed: list[Json] = _json(_repeated(client, "GET", "/competitions"))["competitions"]
    return listed


def list_submissions(client: httpx.Client, limit: int) -> list[Json]:
    """My latest submissions, newest first."""
    listed: list[Json] = _json(_repeated(client, "GET", "/submissions", params={"limit": limit}))["submissions"]
    return listed


def get_submission(
    client: httpx.Client,
    submission_id: str,
    wait_seconds: int = 0,
    pauses: Sequence[float] = BRIEF,
    seen: str | None = None,
) -> Json:
    """A submission; with a wait, as soon as it is terminal, has another stamp than `seen`, or the time is over."""
    timeout = httpx.Timeout(30.0 + wait_seconds, connect=10.0)
    params: Json = {"wait": wait_seconds} if wait_seconds else {}
    if seen is not None:
        params["seen"] = seen
    path = f"/submissions/{quote(submission_id, safe='')}"
    return _json(_repeated(client, "GET", path, pauses, params=params, timeout=timeout))


def choose_submission(
    client: httpx.Client, submission_id: str, *, board: str | None = None, undo: bool = False
) -> Json:
    """Let this submission count, on one board or on all, or no longer; the submission."""
    path = f"/submissions/{quote(submission_id, safe='')}/choice"
    params = {"board": board} if board is not None and not undo else {}
    return _json(_repeated(client, "DELETE" if undo else "PUT", path, params=params))


def get_card(client: httpx.Client, submission_id: str) -> Json:
    """The method card of a submission, with what is asked and its history."""
    return _json(_repeated(client, "GET", f"/submissions/{quote(submission_id, safe='')}/card"))


def edit_card(client: httpx.Client, submission_id: str, card: Json, version: int) -> Json:
    """Let the card say this, unless somebody was faster than who looked at this version."""
    path = f"/submissions/{quote(submission_id, safe='')}/card"
    return _json(_once(client, "PUT", path, json=card, params={"version": version}))


def await_end(client: httpx.Client, submission: Json, noticed: Callable[[Json], None]) -> Json:
    """The submission in its terminal state; `noticed` sees every state on the way."""
    while submission["status"] not in TERMINAL:
        noticed(submission)
        wait_seconds = QUEUED_WAIT_SECONDS if submission["status"] == "queued" else WAIT_SECONDS
        submission = get_submission(client, submission["id"], wait_seconds, PATIENT, submission.get("stamp"))
    return submission


def get_board(client: httpx.Client, place: Place) -> Json:
    """A board as JSON."""
    return _json(_repeated(client, "GET", place.path("boards")))


def get_board_csv(client: httpx.Client, place: Place) -> str:
    """A board as CSV."""
    return _repeated(client, "GET", place.path("boards"), headers={"Accept": "text/csv"}).text


def get_board_table(client: httpx.Client, place: Place, asked: dict[str, Any]) -> str:
    """A board as a table for a paper: Markdown or LaTeX."""
    return _repeated(client, "GET", f"{place.path('boards')}/table", params=asked).text


def get_citation(client: httpx.Client, competition: str, place: Place | None) -> str:
    """BibTeX: of a competition, or of the official board at this place."""
    path = f"{place.path('boards')}" if place else f"/competitions/{quote(competition, safe='')}"
    return _repeated(client, "GET", f"{path}/citation").text


def submit(
    client: httpx.Client,
    place: Place,
    path: Path,
    *,
    track: str = "",
    method: str,
    description: str,
    card: Json | None = None,
    idempotency_key: str,
    sent: Callable[[int], None],
    noticed: Noticed,
) -> Json:
    """The accepted submission. `card`: more about the system; `sent`: bytes sent so far, from 0 again at each try;
    `noticed`: why there is another."""
    fields = {"method": method, "description": description} | ({"track": track} if track else {})
    if card:
        fields["card"] = json.dumps(card)

    def send() -> httpx.Response:
        with path.open("rb") as file:
            counted = cast(IO[bytes], Counted(file, sent))  # it has all that httpx calls
            return client.post(
                f"{place.path('tasks')}/submissions",
                files={"file": (path.name, counted)},
                data=fields,
                headers={"Idempotency-Key": idempotency_key},
            )

    lost: list[str] = []

    def note_lost(reason: str) -> None:
        lost.append(reason)
        noticed(reason)

    try:
        return _json(_tried_again(send, note_lost, PATIENT))
    except Refused as refused:
        if not lost or refused.code != "phase_not_open":
            raise
    # The deadline has passed, but the try whose answer got lost was in time, perhaps, and is just being accepted.
    time.sleep(OVERTAKEN_SECONDS)
    return _json(_tried_again(send, noticed, PATIENT))


def validate(
    client: httpx.Client,
    place: Place,
    path: Path,
    *,
    idempotency_key: str,
    sent: Callable[[int], None],
    noticed: Noticed,
    wait_seconds: int = WAIT_SECONDS,
) -> Json:
    """What the server says of a file that it only checks; arguments as for `submit`."""

    def send() -> httpx.Response:
        with path.open("rb") as file:
            counted = cast(IO[bytes], Counted(file, sent))
            return client.post(
                f"{place.path('tasks')}/validations",
                files={"file": (path.name, counted)},
                headers={"Idempotency-Key": idempotency_key},
            )

    validation = _json(_tried_again(send, noticed, PATIENT))
    timeout = httpx.Timeout(30.0 + wait_seconds, connect=10.0)
    while validation["status"] in ("queued", "running"):
        address, params = f"/validations/{quote(validation['id'], safe='')}", {"wait": wait_seconds}
        validation = _json(_repeated(client, "GET", address, PATIENT, params=params, timeout=timeout))
    return validation


def ask(client: httpx.Client, path: str, **arguments: Any) -> httpx.Response:
    """Look at something; tried again when the network fails."""
    return _repeated(client, "GET", path, **arguments)


def tell(client: httpx.Client, method: str, path: str, **arguments: Any) -> httpx.Response:
    """Change something, once."""
    return _once(client, method, path, **arguments)


def download(client: httpx.Client, path: str, target: Path, **arguments: Any) -> int:
    """Write what there is to this file, whole or not at all; its size in bytes. Raises OSError."""
    part = target.with_name(f"{target.name}.part")
    try:
        with client.stream("GET", path, **arguments) as response, part.open("wb") as file:
            if not response.is_success:
                response.read()
                _checked(response)
            for chunk in response.iter_bytes():
                file.write(chunk)
        part.replace(target)
    except httpx.TransportError as error:
        raise Unreachable(_reason(error)) from None
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


class Counted:
    """A file that tells how far it was read."""

    def __init__(self, file: BinaryIO, sent: Callable[[int], None]) -> None:
        self._file = file
        self._sent = sent

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._sent(self._file.tell())
        return chunk

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()


# --------------------------------------------------------------------------------------------------------- transport


def _once(client: httpx.Client, method: str, path: str, **arguments: Any) -> httpx.Response:
    """For what must not be repeated by itself."""
    try:
        return _checked(client.request(method, path, **arguments))
    except httpx.TransportError as error:
        raise Unreachable(_reason(error)) from None


def _repeated(
    client: httpx.Client, method: str, path: str, pauses: Sequence[float] = BRIEF, **arguments: Any
) -> httpx.Response:
    return _tried_again(lambda: client.request(method, path, **arguments), lambda reason: None, pauses)


def _tried_again(send: Callable[[], httpx.Response], noticed: Noticed, pauses: Sequence[float]) -> httpx.Response:
    """Send until there is an answer of the server's own, with growing pauses."""
    for pause in (*pauses, None):
        try:
            response = send()
        except httpx.UnsupportedProtocol as error:  # no use in trying again
            raise Unreachable(_reason(error)) from None
        except httpx.TransportError as error:
            reason = _reason(error)
        else:
            if response.status_code not in _PASSING:
                return _checked(response)
            reason = f"it answered {response.status_code}"
        if pause is None:
            break
        noticed(reason)
        time.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads tries, protects no secret
    raise Unreachable(reason)


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        error = response.json()["error"]
        raise Refused(response.status_code, error["code"], error["message"], error.get("details") or {})
    except (ValueError, KeyError, TypeError):
        status = f"{response.status_code} {response.reason_phrase}".strip()
        moved = f" and points to {response.headers['Location']}" if response.has_redirect_location else ""
        raise Refused(response.status_code, "not_evergold", f"It answered {status}{moved}.", {}) from None


def _json(response: httpx.Response) -> Json:
    try:
        document: Json = response.json()
    except ValueError:
        raise Refused(response.status_code, "not_evergold", "It does not answer as Evergold does.", {}) from None
    return document


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.ConnectTimeout | httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
        return "no answer in time"
    return str(error) or type(error).__name__
