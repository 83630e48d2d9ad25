"""An upload is sent again until its answer arrives; a late second try does not lose a first one that was in time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from evergold.client import Client, Refused, client as module
from evergold.client.http import CountedFile

ACCEPTED = httpx.Response(202, json={"id": "first", "status": "queued", "message": "In line."})
LATE = httpx.Response(409, json={"error": {"code": "phase_not_open", "message": "It ended.", "details": {}}})
FULL = httpx.Response(429, json={"error": {"code": "limit_reached", "message": "All used.", "details": {}}})
AWAY = httpx.Response(503, headers={"Retry-After": "5"})
SILENCE = httpx.ReadTimeout("no answer")

Answer = httpx.Response | httpx.TransportError


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the list of the client's pauses between its attempts."""
    slept: list[float] = []
    monkeypatch.setattr("evergold.client.http.time.sleep", slept.append)
    return slept


def sent(tmp_path: Path, *answers: Answer) -> tuple[str, list[str]]:
    """The id of the submission, and the key of every try; there must be as many tries as answers."""
    left: Iterator[Answer] = iter(answers)
    keys: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        given = next(left)
        if isinstance(given, httpx.TransportError):
            raise given
        return given

    file = tmp_path / "mine.csv"
    file.write_text("ID\n")
    with Client("http://server", "", transport=httpx.MockTransport(answer)) as client:
        accepted = client.submit(file, "a/b/c", wait=False)
    assert next(left, None) is None
    return accepted.id, keys


@pytest.mark.parametrize("trouble", [[], [SILENCE], [AWAY, SILENCE, AWAY]])
def test_every_try_has_the_same_key(tmp_path: Path, pauses: list[float], trouble: list[Answer]) -> None:
    accepted, keys = sent(tmp_path, *trouble, ACCEPTED)
    assert (accepted, len(keys), len(set(keys))) == ("first", len(trouble) + 1, 1)
    assert keys[0]


def test_two_uploads_have_two_keys(tmp_path: Path, pauses: list[float]) -> None:
    assert sent(tmp_path, ACCEPTED)[1] != sent(tmp_path, ACCEPTED)[1]


def test_a_second_try_that_overtook_the_first_is_repeated(tmp_path: Path, pauses: list[float]) -> None:
    """The first was in time and is just being accepted; the second finds the phase closed."""
    accepted, keys = sent(tmp_path, SILENCE, LATE, ACCEPTED)
    assert (accepted, len(keys), len(set(keys))) == ("first", 3, 1)
    assert pauses[-1] == module.OVERTAKEN_SECONDS


def test_a_first_try_that_never_arrived_is_refused_after_one_more(tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(Refused, match="It ended"):
        sent(tmp_path, SILENCE, LATE, LATE)


@pytest.mark.parametrize("refusal", [LATE, FULL])
def test_a_refusal_of_the_first_try_is_final(tmp_path: Path, pauses: list[float], refusal: httpx.Response) -> None:
    with pytest.raises(Refused):
        sent(tmp_path, refusal)
    assert pauses == []


def test_other_refusals_are_final_also_after_a_lost_answer(tmp_path: Path, pauses: list[float]) -> None:
    """Under the limit's lock the first try comes before the second, or does not come at all."""
    with pytest.raises(Refused, match="All used"):
        sent(tmp_path, SILENCE, FULL)


def test_who_has_too_many_answers_held_back_asks_again_after_a_pause(pauses: list[float]) -> None:
    """A script that waits for twenty submissions at once: some wait on the server, the others here."""
    ended = httpx.Response(200, json={"id": "first", "status": "rejected", "message": "No."})
    left = iter([FULL, FULL, ended])
    with Client("http://server", "", transport=httpx.MockTransport(lambda request: next(left))) as client:
        assert client.submission("first", wait_seconds=30).status == "rejected"
    assert len(pauses) == 2


def test_a_file_that_counts_is_read_and_gone_back_in_as_any_other() -> None:
    """Check that an HTTP library may go to the end for the size, and begin again for another attempt."""
    sent: list[int] = []
    file = CountedFile(io.BytesIO(b"abcdef"), sent.append)
    assert (file.seek(0, io.SEEK_END), file.tell()) == (6, 6)
    assert (file.seek(-4, io.SEEK_END), file.read(2), file.seek(1, io.SEEK_CUR), file.read()) == (2, b"cd", 5, b"f")
    assert (file.seek(1), file.read(2)) == (1, b"bc")
    assert sent == [4, 6, 3]
