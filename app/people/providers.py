"""Data of log-ins with providers, separate from `app.people.provider_client`, whose libraries few processes need."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

_ORCID = re.compile(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]")


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secrets of one log-in: `state` is returned with the person, `nonce` in the token; `verifier` is sent with the
    code.
    """

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person as identified by the provider.

    email: empty if unknown; is_email_proved: the provider verified it.
    orcid: the person's verified ORCID iD; username: a proposal.
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
        """Return the person as JSON."""
        return asdict(self)


def is_orcid(text: str) -> bool:
    """Return whether a text has the form of an ORCID iD."""
    return _ORCID.fullmatch(text) is not None
