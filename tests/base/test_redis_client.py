"""Our own client of Redis: addresses as Celery writes them, answers of every kind, and connections that end."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.base.config import Settings
from app.base.redis_client import RedisClient, RedisPlace, Refused, redis_place
from tests.services import Valkey
from tests.threads import in_threads


def place(address: str) -> RedisPlace:
    found = redis_place(address)
    assert found is not None
    return found


def client(valkey: Valkey, **changed: str) -> RedisClient:
    return RedisClient(place(changed.get("address", valkey.address)), wait_seconds=5.0)


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("redis://redis", ("redis", 6379, "", 0, "", "", None)),
        ("redis://:p%40ss@host:6380/3", ("host", 6380, "", 3, "", "p@ss", None)),
        ("valkey://user:secret@[::1]:6380/1", ("::1", 6380, "", 1, "user", "secret", None)),
        ("rediss://host/0?ssl_cert_reqs=none", ("host", 6379, "", 0, "", "", {"ssl_cert_reqs": "none"})),
        ("redis+socket:///run/a%20b.sock?virtual_host=3", ("127.0.0.1", 6379, "/run/a b.sock", 3, "", "", None)),
        ("redis+unix:///run/valkey.sock?db=2", ("127.0.0.1", 6379, "/run/valkey.sock", 2, "", "", None)),
    ],
)
def test_an_address_leads_where_celery_says(address: str, parts: tuple[object, ...]) -> None:
    found = place(address)
    assert (
        found.host,
        found.port,
        found.path,
        found.database,
        found.username,
        found.password,
        found.tls,
    ) == parts


@pytest.mark.parametrize("address", ["", "memory://", "amqp://rabbit/", "sentinel://host:26379"])
def test_other_addresses_lead_to_no_redis(address: str) -> None:
    assert redis_place(address) is None


def test_a_password_is_in_no_word_of_a_place() -> None:
    assert "secret" not in repr(place("redis://:secret@host"))


def test_settings_name_a_broker_that_messages_can_be_sent_to() -> None:
    with pytest.raises(ValueError, match="broker_url is redis://"):
        Settings(broker_url="amqp://rabbit/")


def test_answers_of_every_kind(valkey: Valkey) -> None:
    with_newline = "two\r\nlines — ü".encode()
    asked = [("PING",), ("SET", "a", with_newline), ("GET", "a"), ("GET", "b"), ("LPUSH", "l", 1, "2")]
    assert client(valkey).answers([*asked, ("LRANGE", "l", 0, -1)]) == [
        *(b"PONG", b"OK", with_newline, None, 2),
        [b"2", b"1"],
    ]


def test_a_command_that_is_refused_leaves_the_connection_usable(valkey: Valkey) -> None:
    asking = client(valkey)
    with pytest.raises(Refused, match="WRONGTYPE"):
        asking.answers([("SET", "a", "1"), ("LPUSH", "a", "2"), ("GET", "a")])
    assert asking.answer("GET", "a") == b"1"
    assert len(asking._idle) == 1


def test_databases_are_apart(valkey: Valkey) -> None:
    client(valkey).answer("SET", "a", "1")
    assert client(valkey, address=valkey.address.replace("/0", "/1")).answer("GET", "a") is None


def test_a_password_is_given_and_a_wrong_one_refused(valkey: Valkey) -> None:
    client(valkey).answer("CONFIG", "SET", "requirepass", "right")
    with pytest.raises(Refused, match="NOAUTH"):
        client(valkey).answer("PING")
    with pytest.raises(Refused, match="WRONGPASS"):
        client(valkey, address=valkey.address.replace("//", "//:wrong@")).answer("PING")
    for who in (":right", "default:right"):
        assert client(valkey, address=valkey.address.replace("//", f"//{who}@")).answer("PING") == b"PONG"


def test_threads_get_their_own_answers(valkey: Valkey) -> None:
    asking = client(valkey)
    assert in_threads(20, lambda number: int(asking.answer("ECHO", number))) == list(range(20))


def test_a_connection_that_its_server_closed_is_made_anew(valkey: Valkey) -> None:
    asking = client(valkey)
    assert asking.answer("PING") == b"PONG"
    valkey.stop()
    with pytest.raises(OSError, match=r"."):
        asking.answer("PING")
    valkey.start()
    assert asking.answer("PING") == b"PONG"


@contextmanager
def a_server_that_says(answer: bytes, tls: ssl.SSLContext | None = None, query: str = "") -> Iterator[RedisClient]:
    """To one client, once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain, suppress(ssl.SSLError), tls.wrap_socket(plain, server_side=True) if tls else plain as connected:
                connected.recv(100)
                connected.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        address = f"redis{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}{query}"
        yield RedisClient(place(address), wait_seconds=5.0)
        serving.join(10)


@pytest.mark.parametrize("answer", [b"", b"$5\r\nab", b"+PON", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_half_an_answer_and_none_at_all_are_a_connection_that_broke(answer: bytes) -> None:
    with a_server_that_says(answer) as asking, pytest.raises(OSError, match="connection ended|Protocol error"):
        asking.answer("GET", "a")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a server at 127.0.0.1 that nobody vouches for, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "redis")])
    now, here = datetime.now(UTC), x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.add_extension(here, critical=False).sign(key, hashes.SHA256())
    of_key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path_factory.mktemp("certificate") / "both.pem"
    file.write_bytes(of_key + signed.public_bytes(Encoding.PEM))
    return file


@pytest.mark.parametrize(
    ("query", "is_believed"),
    [("", False), ("?ssl_ca_certs={}", True), ("?ssl_cert_reqs=none", True), ("?ssl_cert_reqs=CERT_NONE", True)],
)
def test_with_tls_a_server_has_to_show_a_certificate_that_counts(
    certificate: Path, query: str, is_believed: bool
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with a_server_that_says(b"+PONG\r\n", tls, query.format(certificate)) as asking:
        if is_believed:
            assert asking.answer("PING") == b"PONG"
        else:
            with pytest.raises(ssl.SSLCertVerificationError):
                asking.answer("PING")


def test_of_many_connections_few_wait_to_be_used_again(valkey: Valkey) -> None:
    asking = client(valkey)
    barrier = threading.Barrier(12)

    def ask(_: int) -> None:
        connection = asking._connection()
        barrier.wait(10)
        connection.close()
        asking.answer("PING")

    in_threads(12, ask)
    assert 1 <= len(asking._idle) <= 8
    asking.close()
    assert asking._idle == []
