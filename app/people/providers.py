"""Data of log-ins with providers; apart from `app.people.provider_client`, whose libraries few processes need."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

_ORCID = re.compile(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]")


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secrets of one log-in: `state` returns with the person, `nonce` in the token; `verifier` goes with the code."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as the provider knows them.

    email: empty if unknown; is_email_proved: the provider states that they read it.
    orcid: the ORCID iD that they proved to have; username: a proposal.
    """

    issuer: str
    subject: str
    label: str
    email: str = ""
    is_email_proved: bool = False
    name: str = ""
    username: str = ""
    orcid: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def is_orcid(text: str) -> bool:
    """Return whether a text has the form of an ORCID iD."""
    return _ORCID.fullmatch(text) is not None
