"""Signed messages are accepted by the library of the specification, and by the ten lines of our own guide."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from app.webhooks.signing import new_secret, signed_headers

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"
BODY = '{"type":"test","data":{"name":"Œuvre"}}'.encode()
Verified = Callable[[str, dict[str, str], bytes], bool]


@pytest.fixture(scope="module")
def verified() -> Verified:
    """The function as the guide has it."""
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Verified] = {}
    exec(code, names)  # noqa: S102 - our own guide
    return names["verified"]


def by_library(secret: str, headers: dict[str, str], body: bytes) -> bool:
    try:
        Verifier(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


@pytest.mark.parametrize("way", ["library", "guide"])
def test_only_what_we_signed_is_believed(way: str, verified: Verified) -> None:
    check = {"library": by_library, "guide": verified}[way]
    secret, other, now = new_secret(), new_secret(), datetime.now(UTC)
    headers = dict(signed_headers("msg_1", BODY, [secret], now))
    assert check(secret, headers, BODY)
    assert not check(other, headers, BODY)
    assert not check(secret, headers, BODY + b" ")
    assert not check(secret, {**headers, "webhook-id": "msg_2"}, BODY)
    assert not check(secret, dict(signed_headers("msg_1", BODY, [secret], now - timedelta(minutes=6))), BODY)
    both = dict(signed_headers("msg_1", BODY, [other, secret], now))
    assert check(secret, both, BODY)
    assert check(other, both, BODY), "while a secret is exchanged either is enough"


def test_secrets_are_long_and_never_the_same() -> None:
    found = {new_secret() for _ in range(100)}
    assert len(found) == 100
    assert all(re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", one) for one in found)
