"""Signatures by the Standard Webhooks specification: HMAC-SHA256 of id, time and body with a secret `whsec_…`."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret in the format of the specification."""
    return _PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(message: str, body: bytes, keys: Iterable[str], now: datetime) -> Mapping[str, str]:
    """Return the headers of a message, with a signature for each of the secrets that are currently valid."""
    seconds = str(int(now.timestamp()))
    content = f"{message}.{seconds}.".encode() + body
    signatures = [b64encode(hmac.digest(_key(one), content, hashlib.sha256)).decode() for one in keys]
    return {
        "webhook-id": message,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }


def _key(secret: str) -> bytes:
    return b64decode(secret.removeprefix(_PREFIX))
