"""The expiry of the certificate at the server's public address: looked up next to the sweep, shown in `health`.

Only the sweep connects to it, never a web request. The expiry is read from any certificate, even an untrusted one.
"""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import writing
from app.models import Heartbeat
from app.operations.health import PartOut
from evergold.moments import moment_words

CERTIFICATE = "certificate"
#: A certificate that expires sooner is reported as unhealthy.
LEAST_LEFT = timedelta(days=21)
#: Time limit of the connection, and of each response of the handshake.
SECONDS = 10.0
_ENDS_AT = "ends_at"


def public_place(settings: Settings) -> tuple[str, int] | None:
    """Return host and port of the public address; None if it is unknown or not https."""
    parts = urlsplit(settings.base_url)
    return (parts.hostname, parts.port or 443) if parts.scheme == "https" and parts.hostname else None


def note_certificate(engine: Engine, settings: Settings, now: datetime) -> None:
    """Look up when the certificate expires and record it; an unreachable address is recorded as well."""
    place = public_place(settings)
    if place is None:
        return
    try:
        found = {_ENDS_AT: end_of_certificate(*place).isoformat()}
    except (OSError, ValueError):  # unreachable, or no TLS there
        found = {}
    with writing(engine) as session:
        row = session.get(Heartbeat, CERTIFICATE, with_for_update=True)
        if row is None:
            session.add(Heartbeat(name=CERTIFICATE, beat_at=now, counts=found))
        else:
            row.beat_at, row.counts = now, found


def end_of_certificate(host: str, port: int) -> datetime:
    """Return the expiry time of the certificate of this address. Raises OSError, ValueError."""
    from cryptography import x509  # no other work of the sweep needs it

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # only its date is read, and nothing is sent
    with (
        socket.create_connection((host, port), SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"").not_valid_after_utc


def certificate_part(session: Session, settings: Settings, now: datetime) -> list[PartOut]:
    """Return the state of the certificate; empty if the public address is not https."""
    place = public_place(settings)
    if place is None:
        return []
    row = session.get(Heartbeat, CERTIFICATE)
    if row is None:
        return [PartOut(name=CERTIFICATE, is_well=True, says="has not been checked yet")]
    if _ENDS_AT not in row.counts:
        says = f"could not be checked: {place[0]}:{place[1]} cannot be reached from the sweep's machine"
        return [PartOut(name=CERTIFICATE, is_well=True, says=says)]
    ends_at = datetime.fromisoformat(row.counts[_ENDS_AT]).astimezone(UTC)
    says = f"{'ended' if ends_at <= now else 'ends'} {moment_words(ends_at.replace(second=0))}"
    return [PartOut(name=CERTIFICATE, is_well=ends_at - now >= LEAST_LEFT, says=says)]
