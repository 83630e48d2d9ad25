"""A Python client for any Evergold server: one method for each action of a team. The command line uses it, too.

Every retried request is safe to repeat: an upload carries an Idempotency-Key, so that the server counts it once.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

import httpx

from evergold.client import credentials, http
from evergold.client.errors import Refused
from evergold.client.http import OnRetry, OnSent
from evergold.client.place import Place, quoted
from evergold.client.results import Board, Json, Submission, Validation

#: How long the server may hold back a response until there is news.
WAIT_SECONDS = 30
#: While queued: the server does not report a changed queue position as news.
QUEUED_WAIT_SECONDS = 10
#: A retry may overtake the first attempt on the server, by at most this much.
OVERTAKEN_SECONDS = 3.0


class Client:
    """A server's API, seen by the account that the token belongs to.

    server: its address; default: EVERGOLD_SERVER, else the server of the last `evergold login`.
    token: from the account page; default: EVERGOLD_TOKEN, else the one that `evergold login` stored for this server; ""
    for none: boards and competitions are public. Raises BadAddress for an invalid address. Every method raises
    Unreachable or Refused, both ClientError. A place is `competition/phase/task` or `competition/phase/board`, or a
    Place.
    """

    def __init__(
        self, server: str | None = None, token: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.server, kept = credentials.choose(server)
        self._http = http.connection(self.server, kept if token is None else token, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; `with Client(…) as client:` does so automatically."""
        self._http.close()

    # ----------------------------------------------------------------------------------------------------- submitting

    def submit(
        self,
        path: str | PathLike[str],
        to: str | Place,
        *,
        wait: bool = True,
        track: str = "",
        system: str = "",
        method: str = "",
        description: str = "",
        card: Mapping[str, Any] | None = None,
        idempotency_key: str = "",
        on_sent: OnSent | None = None,
        on_retry: OnRetry | None = None,
    ) -> Submission:
        """Submit a file; with `wait`, return its final state, else its state when accepted. A rejected file raises
        nothing.

        track, system, method, description, card: the fields of the submission page; card: a whole method card, as a
        dict. idempotency_key: uploads with the same key count once, whatever client sends them again; default: a new
        key, used for all attempts of this call. on_sent, on_retry: see `evergold.client.http`.
        """
        fields = {"method": method, "description": description}
        fields |= {name: value for name, value in (("track", track), ("system", system)) if value}
        if card:
            fields["card"] = json.dumps(card)
        key = idempotency_key or uuid.uuid4().hex
        upload = self._upload(Path(path), f"{_place(to).path('tasks')}/submissions", key, fields, on_sent)
        accepted = Submission.of(_accepted_in_time(upload, on_retry), self.server)
        return self.wait_for(accepted) if wait else accepted

    def wait_for(self, submission: Submission, on_news: Callable[[Submission], None] | None = None) -> Submission:
        """Wait for the final state of a submission and return it; `on_news` is called with every state before."""
        while not submission.is_final:
            if on_news:
                on_news(submission)
            seconds = QUEUED_WAIT_SECONDS if submission.status == "queued" else WAIT_SECONDS
            submission = self.submission(submission.id, wait_seconds=seconds, stamp=submission.document.get("stamp"))
        return submission

    def submission(self, submission_id: str, *, wait_seconds: int = 0, stamp: str | None = None) -> Submission:
        """Return one of your submissions.

        wait_seconds: wait at most so long, until the submission is final or its stamp differs from `stamp`.
        """
        params: Json = {} if stamp is None else {"seen": stamp}
        path = f"/submissions/{quoted(submission_id)}"
        if wait_seconds:
            answer = http.wait_for_news(self._http, path, params, wait_seconds)
        else:
            answer = http.send_repeatedly(self._http, "GET", path, params=params)
        return Submission.of(http.document(answer), self.server)

    def submissions(self, limit: int = 20, *, ranks_then: bool = False) -> list[Submission]:
        """List your latest submissions, newest first. ranks_then: True to add the rank right after each arrived
        (slower).
        """
        params: Json = {"limit": limit, **({"ranks_then": True} if ranks_then else {})}
        listed = self.document("/submissions", params=params)["submissions"]
        return [Submission.of(document, self.server) for document in listed]

    def choose(self, submission_id: str, *, board: str | None = None, undo: bool = False) -> Submission:
        """Choose this submission as the entry, on one board or on all, or undo the choice."""
        params = {"board": board} if board is not None and not undo else {}
        path = f"/submissions/{quoted(submission_id)}/choice"
        answer = http.send_repeatedly(self._http, "DELETE" if undo else "PUT", path, params=params)
        return Submission.of(http.document(answer), self.server)

    def withdraw(self, submission_id: str, *, undo: bool = False) -> Submission:
        """Take this submission off all boards; it still counts against the quota. undo: restore it."""
        method = "DELETE" if undo else "PUT"
        answer = http.send_repeatedly(self._http, method, f"/submissions/{quoted(submission_id)}/withdrawal")
        return Submission.of(http.document(answer), self.server)

    def card(self, submission_id: str) -> Json:
        """Return the method card of a submission, with its questions and history."""
        return self.document(f"/submissions/{quoted(submission_id)}/card")

    def edit_card(self, submission_id: str, card: Mapping[str, Any], version: int) -> Json:
        """Replace the card, unless it has been changed since this version."""
        path = f"/submissions/{quoted(submission_id)}/card"
        return http.document(self.send("PUT", path, json=dict(card), params={"version": version}))

    def validate(
        self,
        path: str | PathLike[str],
        to: str | Place,
        *,
        on_sent: OnSent | None = None,
        on_retry: OnRetry | None = None,
        wait_seconds: int = WAIT_SECONDS,
    ) -> Validation:
        """Validate a file on the server: nothing is submitted, and no quota is used.

        `evergold.scoring.validate` does the same locally, with the blind file.
        """
        upload = self._upload(Path(path), f"{_place(to).path('tasks')}/validations", uuid.uuid4().hex, {}, on_sent)
        checked = http.document(http.until_answered(upload, on_retry, http.PATIENT))
        while checked["status"] in ("queued", "running"):
            address = f"/validations/{quoted(checked['id'])}"
            checked = http.document(http.wait_for_news(self._http, address, {}, wait_seconds))
        return Validation.of(checked)

    # -------------------------------------------------------------------------------------------------------- looking

    def competitions(self, *, task_type: str = "", language: str = "", is_open: bool = False) -> list[Json]:
        """List the competitions, with phases, tasks and boards.

        task_type, language (a code such as `pt`): list only those with such a task; is_open: True to list only those
        that take submissions now.
        """
        filters = {"task_type": task_type, "language": language, "open": "true" if is_open else ""}
        params = {name: value for name, value in filters.items() if value}
        listed: list[Json] = self.document("/competitions", params=params)["competitions"]
        return listed

    def server_announcements(self) -> list[Json]:
        """List what the server announces to everybody now; an older server announces nothing."""
        try:
            listed: list[Json] = self.document("/announcements")["announcements"]
        except Refused as error:
            if error.status == 404:
                return []
            raise
        return listed

    def board(self, place: str | Place) -> Board:
        """Return a leaderboard."""
        return Board.of(self.document(_place(place).path("boards")))

    def board_csv(self, place: str | Place) -> str:
        """Return a board as CSV."""
        return self.csv(_place(place).path("boards"), headers={"Accept": "text/csv"})

    def compare_rows(self, place: str | Place, *teams: str) -> Json:
        """Return two rows of a board side by side. teams: their names on it; default: one's own, then the top."""
        answer: Json = self.get(f"{_place(place).path('boards')}/compare", params={"team": list(teams)}).json()
        return answer

    def ranking(self, place: str | Place) -> Json:
        """Return a ranking across tasks, `COMPETITION/PHASE/RANKING`."""
        answer: Json = self.get(_place(place).path("rankings")).json()
        return answer

    def ranking_csv(self, place: str | Place) -> str:
        """Return a ranking across tasks as CSV."""
        return self.csv(_place(place).path("rankings"), headers={"Accept": "text/csv"})

    def board_table(
        self,
        place: str | Place,
        format: str = "markdown",
        *,
        columns: Sequence[str] = (),
        decimals: int | None = None,
        official: bool = False,
    ) -> str:
        """Return a board as a table for a paper.

        format: `markdown` or `latex`; columns: `metric split` each, default: all; official: the board frozen when the
        phase closed.
        """
        params: Json = {"format": format, "column": list(columns), "decimals": decimals, "official": official or None}
        wanted = {name: value for name, value in params.items() if value not in (None, [])}
        return self.get(f"{_place(place).path('boards')}/table", params=wanted).text

    def citation(self, of: str | Place) -> str:
        """Return the BibTeX entry of a competition, by its name, or of the official board at a place."""
        if isinstance(of, Place) or "/" in of.strip("/"):
            return self.get(f"{_place(of).path('boards')}/citation").text
        return self.get(f"/competitions/{quoted(of.strip('/'))}/citation").text

    # --------------------------------------------------------------------------------------------------------- account

    def account(self) -> Json:
        """Return the account that the token belongs to."""
        return self.document("/me")

    def register(self, *, username: str, email: str, password: str, display_name: str = "") -> Json:
        """Create an account."""
        form = {"username": username, "email": email, "password": password, "display_name": display_name}
        return http.document(self.send("POST", "/register", json=form))

    def create_token(self, *, username: str, password: str, name: str) -> Json:
        """Create a token for this account; the result contains its secret, which is shown only once."""
        return http.document(
            self.send("POST", "/tokens", json={"username": username, "password": password, "name": name})
        )

    def revoke_token(self, token_id: int) -> None:
        """Revoke a token."""
        self.send("DELETE", f"/tokens/{token_id}")

    # ------------------------------------------------------------------------------------------------- everything else

    def get(self, path: str, **arguments: Any) -> httpx.Response:
        """Get a path below /api/v1, retried when the network fails; takes the arguments of httpx."""
        return http.send_repeatedly(self._http, "GET", path, **arguments)

    def csv(self, path: str, **arguments: Any) -> str:
        """Get a table below /api/v1 as text, without the byte-order mark that spreadsheets need."""
        return self.get(path, **arguments).content.decode("utf-8-sig")

    def document(self, path: str, **arguments: Any) -> Json:
        """Get a path below /api/v1 as a JSON object."""
        return http.document(self.get(path, **arguments))

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """Send a request that changes something and is never retried."""
        return http.send_once(self._http, method, path, **arguments)

    def download(self, path: str, target: str | PathLike[str], **arguments: Any) -> int:
        """Download to a file, completely or not at all; return its size in bytes. Raises OSError."""
        return http.download(self._http, path, Path(target), **arguments)

    def _upload(
        self, path: Path, to: str, key: str, fields: Mapping[str, str], on_sent: OnSent | None
    ) -> Callable[[], httpx.Response]:
        """Return a function that sends the file each time it is called, and returns the response."""

        def send() -> httpx.Response:
            with path.open("rb") as file:
                content = cast(IO[bytes], http.CountedFile(file, on_sent)) if on_sent else file
                return self._http.post(
                    to, files={"file": (path.name, content)}, data=fields, headers={"Idempotency-Key": key}
                )

        return send


def _accepted_in_time(upload: Callable[[], httpx.Response], on_retry: OnRetry | None) -> Json:
    """Return the accepted submission, even if the deadline passed between an attempt whose response was lost and the
    next one.
    """
    lost: list[str] = []

    def note_lost(reason: str) -> None:
        lost.append(reason)
        if on_retry:
            on_retry(reason)

    try:
        return http.document(http.until_answered(upload, note_lost, http.PATIENT))
    except Refused as refused:
        if not lost or refused.code != "phase_not_open":
            raise
    # The deadline has passed, but the try whose response got lost may have been in time, and is just being accepted.
    time.sleep(OVERTAKEN_SECONDS)
    return http.document(http.until_answered(upload, on_retry, http.PATIENT))


def _place(place: str | Place) -> Place:
    return place if isinstance(place, Place) else Place.parse(place)
