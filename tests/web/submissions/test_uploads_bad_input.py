"""Uploads that are wrong, too large, broken off, or come from nowhere good: a clear answer, and nothing left behind."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from app.base import storage
from app.base.errors import EvergoldError
from app.base.storage import FolderStorage, UploadWriter
from app.web.http import arrival
from app.web.http.multipart import Policy, Upload, receive
from tests import lanes
from tests.attacks.malformed_bodies import request_in_pieces
from tests.web.site import CONTENT, SUBMIT, Person, Site, file_of, read_all, talk

TYPE = "multipart/form-data; boundary=b"
FILE_PART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
END = b"\r\n--b--\r\n"
GIBIBYTE = 2**30


def part(name: str, value: bytes) -> bytes:
    return b'--b\r\nContent-Disposition: form-data; name="' + name.encode() + b'"\r\n\r\n' + value + b"\r\n"


WHOLE = part("method", b"mBERT") + FILE_PART + CONTENT + END


def refusal(person: Person, body: bytes, content_type: str = TYPE) -> tuple[int, str, str]:
    """Return status, code and sentence of the answer, after a check that nothing was stored."""
    response = person.client.post(SUBMIT, content=body, headers={"Content-Type": content_type})
    assert person.site.submissions() == 0
    assert person.site.stored() == []
    error = response.json()["error"]
    fields = error["details"].get("fields", {})
    return response.status_code, error["code"], " ".join([error["message"], *fields.values()])


# ------------------------------------------------------------------------------------------------------- malformed


def test_the_body_that_all_the_others_vary_is_accepted(ada: Person) -> None:
    response = ada.client.post(SUBMIT, content=WHOLE, headers={"Content-Type": TYPE})
    assert (response.status_code, response.json()["method"]) == (202, "mBERT")


@pytest.mark.parametrize("content_type", ["application/json", "text/csv", "application/x-www-form-urlencoded", ""])
def test_what_is_not_multipart_is_refused(ada: Person, content_type: str) -> None:
    status, code, sentence = refusal(ada, CONTENT, content_type)
    assert (status, code) == (415, "not_multipart")
    assert "multipart/form-data" in sentence


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (WHOLE, "multipart/form-data"),
        (WHOLE, "multipart/form-data; boundary="),
        (WHOLE, "multipart/form-data; boundary=other"),
        (WHOLE, f"multipart/form-data; boundary={'b' * 300}"),
        (CONTENT, TYPE),
        (WHOLE.replace(b"Content-Disposition", b"X-Something"), TYPE),
        (WHOLE.replace(b'; name="file"', b""), TYPE),
        (WHOLE.replace(b"form-data; name", b"attachment; name"), TYPE),
        (b"--b\r\nX: " + b"x" * 10_000 + b"\r\n\r\n" + CONTENT + END, TYPE),
        (b"--b\r\n" + b"X: y\r\n" * 50 + b"\r\n" + CONTENT + END, TYPE),
        (WHOLE.removesuffix(END), TYPE),
        (WHOLE.removesuffix(b"--\r\n"), TYPE),
        (FILE_PART, TYPE),
        (b"", TYPE),
        (WHOLE.replace(b"\r\n", b"\n"), TYPE),
        (b"x" + WHOLE, TYPE),
        (WHOLE.replace(b'"a.csv"', b'"a.csv"\r\nContent-Length: 3'), TYPE),
        (WHOLE.replace(b'"a.csv"', b'"a.csv"\r\nContent-Length: -1'), TYPE),
        (WHOLE.replace(b'"a.csv"', b'"a.csv"\r\nno header'), TYPE),
    ],
    ids=[
        "no boundary",
        "empty boundary",
        "another boundary",
        "endless boundary",
        "no boundary in the body",
        "no disposition",
        "no name",
        "another disposition",
        "endless header",
        "endless headers",
        "no end",
        "half an end",
        "only a beginning",
        "nothing",
        "half line ends",
        "something before the first boundary",
        "a part that is longer than it says",
        "a part of negative length",
        "a header without a colon",
    ],
)
def test_malformed_multipart_is_refused(ada: Person, body: bytes, content_type: str) -> None:
    assert refusal(ada, body, content_type)[:2] == (400, "malformed_upload")


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (part("method", b"mBERT") + b"--b--\r\n", "invalid_form", "The file is missing"),
        (FILE_PART + CONTENT + b"\r\n" + FILE_PART + CONTENT + END, "invalid_form", "sent twice"),
        (part("method", b"a") + part("method", b"b") + FILE_PART + CONTENT + END, "invalid_form", "sent twice"),
        (part("methd", b"mBERT") + FILE_PART + CONTENT + END, "invalid_form", "'description', 'languages', 'method'"),
        (part("method", b"m\xff") + FILE_PART + CONTENT + END, "invalid_form", "not UTF-8"),
        (part("method", b"m" * 201) + FILE_PART + CONTENT + END, "invalid_form", "At most 200 characters"),
        (part("description", b"m" * 40_000) + FILE_PART + CONTENT + END, "invalid_form", "too long"),
        (FILE_PART + END, "empty_upload", "empty"),
        (FILE_PART.replace(b"a.csv", b"") + END, "invalid_form", "No file was chosen"),
    ],
    ids=[
        "no file",
        "two files",
        "a field twice",
        "an unknown field",
        "not UTF-8",
        "a long method",
        "an endless description",
        "an empty file",
        "no file chosen",
    ],
)
def test_wrong_fields_are_told_by_name(site: Site, ada: Person, body: bytes, code: str, said: str) -> None:
    response = ada.client.post(SUBMIT, content=body, headers={"Content-Type": TYPE})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (422, code)
    assert said in " ".join([error["message"], *error["details"].get("fields", {}).values()])
    assert site.submissions() == 0
    assert not [name for name in site.stored() if len(name) != 64]  # nothing half-stored


def test_a_name_is_shown_and_never_used_as_a_path(site: Site, ada: Person) -> None:
    body = WHOLE.replace(b"a.csv", b"../../../etc/passwd\x01")
    response = ada.client.post(SUBMIT, content=body, headers={"Content-Type": TYPE})
    assert response.json()["filename"] == "passwd"
    assert [path.name for path in site.settings.storage_dir.rglob("*") if path.is_file()] == [
        file_of(site, CONTENT).name
    ]


@pytest.mark.parametrize(
    ("sent", "filename"),
    [
        ('results "final".csv'.replace('"', "%22").encode(), 'results "final".csv'),  # as browsers quote it
        (b'results \\"final\\".csv', 'results "final".csv'),  # as older programs do
        ("Ergebnis für später.csv".encode(), "Ergebnis für später.csv"),
        (b"f\xfcr.csv", "f\N{REPLACEMENT CHARACTER}r.csv"),  # Latin-1: not UTF-8, and no reason to refuse the file
    ],
)
def test_a_file_is_called_as_its_sender_called_it(ada: Person, sent: bytes, filename: str) -> None:
    response = ada.client.post(SUBMIT, content=WHOLE.replace(b"a.csv", sent), headers={"Content-Type": TYPE})
    assert (response.status_code, response.json()["filename"]) == (202, filename)


def test_a_nul_in_a_field_is_refused(site: Site, ada: Person) -> None:
    response = ada.client.post(SUBMIT, content=WHOLE.replace(b"mBERT", b"m\0"), headers={"Content-Type": TYPE})
    assert (response.status_code, site.submissions()) == (422, 0)


# -------------------------------------------------------------------------------------------------------- too large


def test_one_byte_too_many_is_refused(site: Site, ada: Person) -> None:
    assert ada.submit(b"x" * 1_000_000).status_code == 202
    response = ada.submit(b"x" * 1_000_001)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "upload_too_large"
    assert response.json()["error"]["details"]["limit_bytes"] == 1_000_000
    assert site.submissions() == 1
    assert len(site.stored()) == 1


def test_the_servers_own_bound_holds_too(site: Site, ada: Person) -> None:
    site.settings.upload_limit_bytes = 1_000
    assert ada.submit(b"x" * 1_001).status_code == 413


def head(site: Site, ada: Person, *more: str) -> bytes:
    token = ada.client.headers["Authorization"]
    lines = [f"POST {SUBMIT} HTTP/1.1", "Host: x", f"Authorization: {token}", f"Content-Type: {TYPE}", *more, "", ""]
    return "\r\n".join(lines).encode()


def test_ten_gigabytes_are_refused_by_their_announcement(site: Site, ada: Person) -> None:
    began = time.monotonic()
    answer = talk(site.url, head(site, ada, f"Content-Length: {10 * GIBIBYTE}"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b"upload_too_large" in answer
    assert time.monotonic() - began < 3
    assert site.stored() == []


def test_an_endless_stream_of_zeros_is_cut_off(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunked, so that nobody knows how much will come: it is read to the bound, and a little for courtesy."""
    monkeypatch.setattr(arrival, "LINGER_SECONDS", 0.5)
    sent, answer = pour(site, ada, GIBIBYTE // 4)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert sent < 64 * 2**20  # the bound, the courtesy, and what lies in the buffers between us
    assert site.stored() == []


def pour(site: Site, ada: Person, size_bytes: int) -> tuple[int, bytes]:
    """Return how much of a chunked body of zeros the server let us send, and its response."""
    host, port = site.url.removeprefix("http://").split(":")
    zeros = b"%x\r\n" % 65536 + bytes(65536) + b"\r\n"
    sent = 0
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head(site, ada, "Transfer-Encoding: chunked"))
        connection.sendall(b"%x\r\n" % len(FILE_PART) + FILE_PART + b"\r\n")
        try:
            while sent < size_bytes:
                connection.sendall(zeros)
                sent += 65536
        except OSError:  # the server had enough
            pass
        return sent, read_all(connection)


def test_an_endless_epilogue_counts_too(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "LINGER_SECONDS", 0.5)
    body = WHOLE + bytes(2_000_000)
    response = ada.client.post(SUBMIT, content=body, headers={"Content-Type": TYPE})
    assert (response.status_code, site.stored()) == (413, [])


def test_a_client_that_asks_first_sends_nothing(site: Site, ada: Person) -> None:
    """curl's `Expect: 100-continue`: the refusal comes instead of the invitation to go on."""
    ada.client.headers["Authorization"] = "Bearer evg_wrong"
    answer = talk(site.url, head(site, ada, "Content-Length: 5000000", "Expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"100 Continue" not in answer


def test_a_refused_upload_gets_to_read_why(site: Site, ada: Person) -> None:
    """Some megabytes to a wrong place: they are taken and thrown away, and the connection stays usable."""
    for _ in range(2):
        response = ada.submit(bytes(3_000_000), path=SUBMIT.replace("/idioms/", "/none/"))
        assert response.status_code == 404
        assert "connection" not in response.headers


def test_other_bodies_are_bounded_as_well(site: Site, ada: Person) -> None:
    response = ada.client.post("/api/v1/tokens", content=b"x" * 200_000, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")
    answer = talk(
        site.url,
        f"POST /api/v1/register HTTP/1.1\r\nHost: x\r\nContent-Length: {10 * GIBIBYTE}\r\n\r\n".encode(),
    )
    assert answer.startswith(b"HTTP/1.1 413 ")

    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    assert ada.client.post("/api/v1/register", content=endless()).status_code == 413


# -------------------------------------------------------------------------------------------------------- broken off


def test_a_connection_that_breaks_leaves_nothing(site: Site, ada: Person) -> None:
    host, port = site.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(head(site, ada, "Content-Length: 900000") + FILE_PART + b"x" * 600_000)
    wait_until(lambda: site.stored() != [])  # the first pieces are on the disk
    # Not a goodbye but a reset, as when a cable is pulled.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    wait_until(lambda: site.stored() == [])
    assert site.submissions() == 0


def test_a_sender_who_falls_silent_is_not_waited_for(site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "SILENCE_SECONDS", 0.3)
    monkeypatch.setattr(arrival, "LINGER_SECONDS", 0.1)
    answer = talk(site.url, head(site, ada, "Content-Length: 900000") + FILE_PART + b"x" * 300_000)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"upload_stalled" in answer
    assert site.stored() == []


def test_a_slow_sender_who_keeps_sending_is_waited_for(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival, "SILENCE_SECONDS", 1.5)  # less than all of it takes, ten times as much as a drop

    def drop_by_drop() -> Iterator[bytes]:
        for start in range(0, len(WHOLE), 16):
            time.sleep(0.15)
            yield WHOLE[start : start + 16]

    response = ada.client.post(SUBMIT, content=drop_by_drop(), headers={"Content-Type": TYPE})
    assert response.status_code == 202


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --------------------------------------------------------------------------------------------------------- full disk


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
def test_a_full_disk_is_507_and_nothing_is_half_stored(
    site: Site, ada: Person, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        monkeypatch.setattr(storage.UploadWriter, "_open", lambda writer: _FullFile())
    elif step == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    response = ada.submit()
    assert response.status_code == 507
    assert response.json()["error"]["code"] == "storage_full"
    assert "Nothing was stored" in response.json()["error"]["message"]
    monkeypatch.undo()
    assert site.stored() == []
    assert site.submissions() == 0
    assert ada.client.get("/healthz").status_code == 200


class _FullFile:
    def write(self, piece: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


# ------------------------------------------------------------------------------------------------------------- parser


async def received(chunks: list[bytes], folder: Path) -> Upload:
    policy = Policy(UploadWriter(FolderStorage(folder), 10**6), 10**6, frozenset({"method", "description"}))
    return await receive(request_in_pieces(chunks, TYPE), policy)


@settings(deadline=None, max_examples=lanes.examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(min_value=1, max_value=len(WHOLE) - 1)), seed=st.integers())
def test_it_does_not_matter_how_the_network_cuts_a_body(cuts: list[int], seed: int, tmp_path: Path) -> None:
    content = random.Random(seed).randbytes(300) + b"\r\n--\r\n-b--b\n--b\r--b--\r\n"  # nearly boundaries
    body = part("method", "naïve".encode()) + FILE_PART + content + END
    places = sorted({0, *(cut % len(body) for cut in cuts), len(body)})
    chunks = [body[start:stop] for start, stop in zip(places, places[1:], strict=False)]
    upload = asyncio.run(received(chunks, tmp_path))
    assert storage.stored_path(tmp_path, upload.file.sha256).read_bytes() == content
    assert dict(upload.fields) == {"method": "naïve"}


@settings(deadline=None, max_examples=lanes.examples(16), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(), places=st.lists(st.integers(min_value=0, max_value=len(WHOLE) - 1), min_size=1, max_size=6))
def test_a_damaged_body_is_refused_in_words_or_accepted(seed: int, places: list[int], tmp_path: Path) -> None:
    """Check that any bytes yield an expected error or an upload, never a crash, and never half a file."""
    damaged = bytearray(WHOLE)
    noise = random.Random(seed)
    for place in places:
        damaged[place] = noise.randrange(256)
    refused = refusal_of([bytes(damaged)], tmp_path)
    assert refused is None or 400 <= refused.status < 500
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and len(path.name) != 64] == []


def refusal_of(chunks: list[bytes], folder: Path) -> EvergoldError | None:
    try:
        asyncio.run(received(chunks, folder))
    except EvergoldError as refused:
        return refused
    return None
