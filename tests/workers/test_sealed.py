"""Sealed files: what was sealed comes back to the holder of a key, and nothing that was tampered with ever does."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from nacl.public import PrivateKey

from app.base.errors import EmptyUpload, UploadTooLarge
from app.base.storage import FolderStorage, stored_path
from app.gold.sealing import CHUNK_BYTES, SALT_BYTES, NoWorkerKey, Sealed, SealingWriter, key_id_of, unbound_line
from app.models import SealedKind
from tests.sealed import BINDING, a_key, sealed_in
from workers.gold_errors import SealBroken
from workers.keys import Keys, NoKeyForIt
from workers.sealed import open_into

SEALED_CHUNK = CHUNK_BYTES + 17
START = len(BINDING.line()) + 24


@pytest.fixture
def keys() -> Keys:
    return dict([a_key()])


@pytest.fixture
def key(keys: Keys) -> PrivateKey:
    return next(iter(keys.values()))


def opened(folder: Path, sealed: Sealed, keys: Keys, kind: SealedKind = SealedKind.GOLD) -> bytes:
    content = io.BytesIO()
    open_into(stored_path(folder, sealed.file.sha256), kind, sealed.keys, keys, content)
    return content.getvalue()


@pytest.mark.parametrize(
    "size",
    [1, CHUNK_BYTES - SALT_BYTES - 1, CHUNK_BYTES - SALT_BYTES, CHUNK_BYTES - SALT_BYTES + 1, 3 * CHUNK_BYTES + 5],
)
def test_what_was_sealed_comes_back(tmp_path: Path, keys: Keys, key: PrivateKey, size: int) -> None:
    content = bytes(range(251)) * (size // 251 + 1)
    sealed = sealed_in(tmp_path, content[:size], key)
    assert opened(tmp_path, sealed, keys) == content[:size]
    assert sealed.content_bytes == size


def test_it_may_come_in_pieces_of_any_size(tmp_path: Path, keys: Keys, key: PrivateKey) -> None:
    recipients = {key_id_of(bytes(key.public_key)): bytes(key.public_key)}
    writer = SealingWriter(FolderStorage(tmp_path), 10**9, what=BINDING, recipients=recipients)
    for piece in (b"a", b"", b"b" * 200_000, b"c" * CHUNK_BYTES):
        writer.write(piece)
    writer.finish()
    assert opened(tmp_path, writer.sealed, keys) == b"a" + b"b" * 200_000 + b"c" * CHUNK_BYTES


def test_nothing_of_the_content_is_on_the_disk(tmp_path: Path, key: PrivateKey) -> None:
    sealed_in(tmp_path, b"the label is CANARY" * 10_000, key)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()] == []


def test_the_commitment_is_the_sha256_of_salt_and_content(tmp_path: Path, keys: Keys, key: PrivateKey) -> None:
    sealed = sealed_in(tmp_path, b"gold", key)
    path = stored_path(tmp_path, sealed.file.sha256)
    opened = open_into(path, SealedKind.GOLD, sealed.keys, keys, io.BytesIO())
    assert len(opened.salt) == SALT_BYTES
    assert opened.commitment == sealed.commitment == hashlib.sha256(opened.salt + b"gold").hexdigest()


def test_equal_gold_has_another_commitment_each_time(tmp_path: Path, key: PrivateKey) -> None:
    """Check it, since otherwise anybody could find out the labels by trying."""
    first, second = (sealed_in(tmp_path, b"gold", key) for _ in range(2))
    assert first.commitment != second.commitment
    assert first.file.sha256 != second.file.sha256


def test_every_recipient_can_open_it_and_nobody_else(tmp_path: Path) -> None:
    (one_id, one), (two_id, two), stranger = a_key(), a_key(), a_key()
    sealed = sealed_in(tmp_path, b"gold", one, two)
    assert set(sealed.keys) == {one_id, two_id}
    assert opened(tmp_path, sealed, {one_id: one}) == opened(tmp_path, sealed, {two_id: two}) == b"gold"
    assert opened(tmp_path, sealed, dict([stranger, (two_id, two)])) == b"gold", "it has a key of something else, too"
    with pytest.raises(NoKeyForIt, match=f"this worker has {stranger[0]}"):
        opened(tmp_path, sealed, dict([stranger]))
    with pytest.raises(NoKeyForIt, match="this worker has no key"):
        opened(tmp_path, sealed, {})


def test_another_key_under_a_known_name_does_not_open_it(tmp_path: Path, key: PrivateKey) -> None:
    sealed = sealed_in(tmp_path, b"gold", key)
    _, stranger = a_key()
    with pytest.raises(NoKeyForIt, match="do not open"):
        opened(tmp_path, sealed, {next(iter(sealed.keys)): stranger})


# ----------------------------------------------------------------------------------------------------------- tampering

CONTENT = b"".join(bytes([number]) * CHUNK_BYTES for number in range(4))


def tampered(name: str, data: bytes) -> bytes:
    """The sealed file, damaged in a way that has a name."""
    body, chunk = data[START:], SEALED_CHUNK
    return {
        "nothing left": b"",
        "only its line": data[: START - 24],
        "only its header": data[:START],
        "cut between chunks": data[: START + chunk],
        "cut inside a chunk": data[:-10],
        "its last chunk is missing": data[: START + (len(body) // chunk) * chunk],
        "two chunks exchanged": data[:START] + body[chunk : 2 * chunk] + body[:chunk] + body[2 * chunk :],
        "a chunk left out": data[:START] + body[chunk:],
        "a chunk twice": data[:START] + body[:chunk] + body,
        "one bit of a chunk": data[: START + 100] + bytes([data[START + 100] ^ 1]) + data[START + 101 :],
        "one bit of the header": data[: START - 1] + bytes([data[START - 1] ^ 1]) + data[START:],
        "something behind it": data + b"x",
        "another version": data.replace(b"evergold-sealed 2", b"evergold-sealed 3", 1),
        "another kind": data.replace(BINDING.line(), unbound_line(SealedKind.OUTCOMES), 1),
        "no binding": data.replace(BINDING.line(), unbound_line(SealedKind.GOLD), 1),
        "said to be public": data.replace(b'"public":false', b'"public":true', 1),
        "said to be of another phase": data.replace(b'"evaluation"', b'"practice"', 1),
        "a line without an end": b"evergold-sealed 2 gold " + b"x" * 2**17,
    }[name]


@pytest.mark.parametrize(
    "damage",
    [
        "nothing left",
        "only its line",
        "only its header",
        "cut between chunks",
        "cut inside a chunk",
        "its last chunk is missing",
        "two chunks exchanged",
        "a chunk left out",
        "a chunk twice",
        "one bit of a chunk",
        "one bit of the header",
        "something behind it",
        "another version",
        "another kind",
        "no binding",
        "said to be public",
        "said to be of another phase",
        "a line without an end",
    ],
)
def test_what_was_tampered_with_does_not_open(tmp_path: Path, keys: Keys, key: PrivateKey, damage: str) -> None:
    sealed = sealed_in(tmp_path, CONTENT, key)
    path = stored_path(tmp_path, sealed.file.sha256)
    whole = path.read_bytes()
    assert tampered(damage, whole) != whole
    path.write_bytes(tampered(damage, whole))
    with pytest.raises(SealBroken):
        opened(tmp_path, sealed, keys)


@pytest.mark.parametrize("gold_line", [BINDING.line(), unbound_line(SealedKind.GOLD)])
def test_one_kind_never_passes_for_the_other_even_with_its_first_line_exchanged(
    tmp_path: Path, keys: Keys, key: PrivateKey, gold_line: bytes
) -> None:
    sealed = sealed_in(tmp_path, b"outcomes", key, what=SealedKind.OUTCOMES)
    path = stored_path(tmp_path, sealed.file.sha256)
    line = unbound_line(SealedKind.OUTCOMES)
    path.write_bytes(gold_line + path.read_bytes()[len(line) :])
    with pytest.raises(SealBroken):
        opened(tmp_path, sealed, keys)


def test_a_chunk_of_another_file_does_not_fit(tmp_path: Path, keys: Keys, key: PrivateKey) -> None:
    one, other = (sealed_in(tmp_path, CONTENT, key) for _ in range(2))
    path, from_other = (stored_path(tmp_path, sealed.file.sha256) for sealed in (one, other))
    mine, theirs = path.read_bytes(), from_other.read_bytes()
    path.write_bytes(mine[:START] + theirs[START : START + SEALED_CHUNK] + mine[START + SEALED_CHUNK :])
    with pytest.raises(SealBroken):
        opened(tmp_path, one, keys)


# ------------------------------------------------------------------------------------------------------------- refusals


def test_without_a_key_nothing_is_sealed(tmp_path: Path) -> None:
    with pytest.raises(NoWorkerKey, match="evergold gold keygen"):
        SealingWriter(FolderStorage(tmp_path), 100, what=BINDING, recipients={})
    assert list(tmp_path.iterdir()) == []


def test_too_much_is_refused_and_leaves_nothing(tmp_path: Path, key: PrivateKey) -> None:
    recipients = {key_id_of(bytes(key.public_key)): bytes(key.public_key)}
    writer = SealingWriter(FolderStorage(tmp_path), 1024, what=BINDING, recipients=recipients)
    writer.write(b"x" * 1024)
    with pytest.raises(UploadTooLarge, match="1 KiB allowed"):
        writer.write(b"x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_nothing_is_no_gold(tmp_path: Path, key: PrivateKey) -> None:
    recipients = {key_id_of(bytes(key.public_key)): bytes(key.public_key)}
    writer = SealingWriter(FolderStorage(tmp_path), 1024, what=BINDING, recipients=recipients)
    with pytest.raises(EmptyUpload):
        writer.finish()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_nothing_may_follow_a_last_chunk_that_is_exactly_full(tmp_path: Path, keys: Keys, key: PrivateKey) -> None:
    """Check that a reader that goes chunk by chunk notices data behind the complete content."""
    sealed = sealed_in(tmp_path, b"a" * (CHUNK_BYTES - SALT_BYTES), key)
    path = stored_path(tmp_path, sealed.file.sha256)
    assert path.stat().st_size == START + SEALED_CHUNK
    with path.open("ab") as file:
        file.write(b".")
    with pytest.raises(SealBroken, match="after its end"):
        opened(tmp_path, sealed, keys)
