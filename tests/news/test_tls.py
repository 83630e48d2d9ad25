"""News over real TLS: delivered where the certificate is right, and else refused in words before anything is sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.models import NewsKind, User
from app.webhooks.keeping import send_test
from tests.certificates import DAY, Authority, make_authority
from tests.news.hooked import NAME, appoint, deliver, deliveries, hook, in_writing
from tests.receiver import receiver
from tests.world import NOW


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def _trusted(monkeypatch: pytest.MonkeyPatch, authority: Authority) -> None:
    """Let this machine trust the authority; the variable is OpenSSL's own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    monkeypatch.setenv("SSL_CERT_DIR", str(Path(authority.folder) / "none"))


def test_a_right_certificate_is_delivered_to(engine: Engine, people: list[User], authority: Authority) -> None:
    olga = appoint(engine, people[3])
    with receiver(authority.server(NAME)) as there:
        webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED, scheme="https")
        in_writing(engine, send_test, webhook_id, NOW)
        assert deliver(engine) == 1
        [request] = there.received
    assert request.headers["host"] == f"{NAME}:{there.port}"
    assert deliveries(engine, webhook_id)[0].answered == 200


@pytest.mark.parametrize(
    ("host", "ends_in", "is_self_signed", "words"),
    [
        (NAME, DAY, True, "self-signed certificate"),
        (NAME, -DAY, False, "certificate has expired"),
        ("other.example.org", DAY, False, f"Hostname mismatch, certificate is not valid for '{NAME}'"),
    ],
)
def test_a_wrong_certificate_is_refused_in_words(
    engine: Engine,
    people: list[User],
    authority: Authority,
    host: str,
    ends_in: timedelta,
    is_self_signed: bool,
    words: str,
) -> None:
    olga = appoint(engine, people[3])
    context = authority.server(host, ends_at=datetime.now(UTC) + ends_in, is_self_signed=is_self_signed)
    with receiver(context) as there:
        webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED, scheme="https")
        in_writing(engine, send_test, webhook_id, NOW)
        assert deliver(engine) == 0
        assert there.received == []
    [delivery] = deliveries(engine, webhook_id)
    assert delivery.error == f"The receiver's certificate is not accepted: {words}."
