"""Redis: addresses as Celery writes them, passwords, certificates, and connections that end."""

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
from redis import AuthenticationError, Redis, RedisError
from redis.connection import parse_url

from app.base.config import Settings
from app.base.redis_address import redis_address
from app.base.redis_client import redis_connections
from tests.services import Valkey


@contextmanager
def client(address: str) -> Iterator[Redis]:
    translated = redis_address(address)
    assert translated is not None
    with Redis.from_pool(redis_connections(translated, wait_seconds=5.0)) as asking:
        yield asking


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("redis://redis", {"host": "redis", "db": 0}),
        ("redis://:p%40ss@host:6380/3", {"host": "host", "port": 6380, "db": 3, "password": "p@ss"}),
        (
            "valkey://user:secret@[::1]:6380/1",
            {"host": "::1", "port": 6380, "db": 1, "username": "user", "password": "secret"},
        ),
        ("redis://host/0?ssl_cert_reqs=none&foo=1", {"host": "host", "db": 0}),
        ("rediss://host/0?ssl_cert_reqs=CERT_NONE", {"host": "host", "db": 0, "ssl_cert_reqs": "none"}),
        ("valkeys://host", {"host": "host", "db": 0}),
        ("redis+socket:///run/a%20b.sock?virtual_host=3", {"path": "/run/a b.sock", "db": 3}),
        ("redis+unix:///run/valkey.sock?db=2", {"path": "/run/valkey.sock", "db": 2}),
    ],
)
def test_an_address_leads_where_celery_says(address: str, parts: dict[str, object]) -> None:
    translated = redis_address(address)
    assert translated is not None
    found = parse_url(translated)  # type: ignore[no-untyped-call]
    found.pop("connection_class", None)
    assert found == parts


@pytest.mark.parametrize("address", ["", "memory://", "amqp://rabbit/", "sentinel://host:26379"])
def test_other_addresses_lead_to_no_redis(address: str) -> None:
    assert redis_address(address) is None


def test_settings_name_a_broker_that_messages_can_be_sent_to() -> None:
    for address in ("amqp://rabbit/", "redis://host/first", "redis://host:port/0"):
        with pytest.raises(ValueError, match=r"broker_url"):
            Settings(broker_url=address)


def test_databases_are_apart(valkey: Valkey) -> None:
    with client(valkey.address) as asking, client(valkey.address.replace("/0", "/1")) as other:
        asking.set("a", "1")
        assert (asking.get("a"), other.get("a")) == (b"1", None)


def test_a_password_is_given_and_a_wrong_one_refused(valkey: Valkey) -> None:
    with client(valkey.address) as asking:
        asking.config_set("requirepass", "right")
    with client(valkey.address) as asking, pytest.raises(AuthenticationError):
        asking.ping()
    with client(valkey.address.replace("//", "//:wrong@")) as asking, pytest.raises(AuthenticationError):
        asking.ping()
    for who in (":right", "default:right"):
        with client(valkey.address.replace("//", f"//{who}@")) as asking:
            assert asking.ping()


def test_a_connection_that_its_server_closed_is_made_anew(valkey: Valkey) -> None:
    with client(valkey.address) as asking:
        assert asking.ping()
        valkey.stop()
        with pytest.raises(RedisError):
            asking.ping()
        valkey.start()
        assert asking.ping()


@contextmanager
def a_server_with_tls(tls: ssl.SSLContext) -> Iterator[str]:
    """Serve one client with TLS, with an answer for every command; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain, suppress(OSError), tls.wrap_socket(plain, server_side=True) as connected:
                while asked := connected.recv(1000):
                    connected.sendall(asked.count(b"*") * b"+PONG\r\n")

        serving = threading.Thread(target=serve)
        serving.start()
        yield f"rediss://127.0.0.1:{listener.getsockname()[1]}"
        serving.join(10)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the certificate, with its key, of a server at 127.0.0.1 that no authority vouches for."""
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
    with a_server_with_tls(tls) as address, client(address + query.format(certificate)) as asking:
        if is_believed:
            assert asking.ping()
        else:
            with pytest.raises(RedisError, match="CERTIFICATE_VERIFY_FAILED"):
                asking.ping()
