"""Identity providers in a separate node process: without node tests are skipped, and in CI they fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.oidc.there import FOLDER, why_not as why_not
from tests.processes import kill, short_folder, start, wait_until

SECRET = "the client's secret, which is long enough for a key"
CLIENTS = ("uni", "hub", "orcid")

#: Who has accounts there, and what the providers say of them.
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"email": "ada@example.org", "email_verified": True, "name": "Ada Lovelace", "preferred_username": "ada"},
    "grace": {"email": "Grace@example.org", "email_verified": True, "preferred_username": "Grace Hopper"},
    "root": {"email": "root@example.org", "email_verified": True},
    "mallory": {"email": "ada@example.org", "email_verified": False, "preferred_username": "mallory"},
    "said": {"email": "ada@example.org", "email_verified": "true"},  # a text is no claim
    "silent": {},
    "0000-0002-1825-0097": {"given_name": "Josiah", "family_name": "Carberry", "email": "ada@example.org"},
    "octo": {
        "account": {"id": 583231, "login": "octocat", "name": "The Octocat"},
        "emails": [
            {"email": "ada@example.org", "verified": False, "primary": False},
            {"email": "octo@example.org", "verified": True, "primary": True},
        ],
    },
}


@dataclass(frozen=True, slots=True)
class Providers:
    """The addresses of two OpenID Connect providers, and of one with GitHub's protocol."""

    uni: str
    hub: str
    github: str

    def bend(self, how: str, issuer: str = "") -> None:
        """Falsify the next ID token."""
        httpx.post(f"{issuer or self.uni}/bend", json={"how": how}, timeout=10).raise_for_status()


@contextmanager
def providers() -> Iterator[Providers]:
    """Start the providers, and yield them."""
    said = {"people": PEOPLE, "clients": CLIENTS, "secret": SECRET}
    with short_folder() as folder:
        node = shutil.which("node") or "node"
        command: list[str | Path] = [node, FOLDER / "providers.mjs", json.dumps(said)]
        service = start("providers", command, folder, {"PATH": "/usr/bin:/bin", "NODE_NO_WARNINGS": "1"})
        try:
            wait_until(lambda: "\n{" in f"\n{service.said()}" and service.said().endswith("\n"), "they answer", service)
            addresses = next(line for line in service.said().splitlines() if line.startswith('{"uni"'))
            yield Providers(**json.loads(addresses))
        finally:
            kill(service)


def answer_of(address: str, login: str) -> str:
    """Log in at the provider as this person; return the address to which it sends the browser back."""
    with httpx.Client(timeout=30) as browser:
        for _ in range(8):
            answer = browser.get(address)
            assert answer.status_code in (302, 303), answer.text
            address = str(answer.url.join(answer.headers["Location"]))
            parts = urlsplit(address)
            if parts.path.startswith("/interaction/"):
                address = f"{address}/as/{login}"
            elif parts.path.startswith("/login/"):
                return address
    raise AssertionError("the provider does not send the browser back")
