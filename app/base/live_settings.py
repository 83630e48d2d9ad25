"""The settings that administrators may change while the server runs; the environment sets them until then.

Each is a field here, once: it has its variable `EVERGOLD_…` (`app.base.config.Settings` inherits it), its field on the
administrators' page, and its name in the API and for `evergold admin set`. Only what is safe to change without a
restart belongs here: nothing that a process reads once at its start, no secret, nothing that could lock everybody out.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.base.text import is_address

_DOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+")

Registration = Literal["open", "closed"]
Rule = Literal["anybody", "approved", "admins"]
Required = Literal["optional", "administrators", "organisers"]


def _setting(default: Any, title: str, group: str, description: str, **bounds: Any) -> Any:
    """Return a field with its label and its section on the page."""
    return Field(default, title=title, description=description, json_schema_extra={"group": group}, **bounds)


PEOPLE, ORGANISERS, LIMITS, STORAGE = "New accounts", "Organisers", "Limits", "Storage"


class LiveSettings(BaseModel):
    """The settings that may change while the server runs, with their defaults; names include the units."""

    model_config = ConfigDict(frozen=True)

    registration: Registration = _setting(
        "open", "Registration", PEOPLE, "closed: no new accounts, except those made with `evergold account create`"
    )
    mail_domains: str = _setting(
        "",
        "Domains of addresses",
        PEOPLE,
        "domains, with commas, one of which every new address must have; subdomains count; empty: any",
    )
    banned_domains: str = _setting(
        "", "Banned domains", PEOPLE, "domains, with commas, whose addresses nobody may register; subdomains count"
    )
    second_factor: Required = _setting(
        "optional",
        "Second factor",
        PEOPLE,
        "who must log in with a second factor: nobody, administrators, or organisers as well",
    )
    contact: str = _setting(
        "",
        "Contact",
        PEOPLE,
        "address of who runs this server, for mail or of a page: shown where people should write to them",
    )

    organise: Rule = _setting(
        "admins",
        "Who may create competitions",
        ORGANISERS,
        "who may make competitions in the browser: anybody with a confirmed address, whom "
        "`evergold account approve` approved, or administrators alone",
    )
    competitions_per_organiser: int = _setting(
        5, "Competitions of an organiser", ORGANISERS, "that one who is no administrator may own; 0: none", ge=0
    )
    mebibytes_per_organiser: int = _setting(
        1024, "MiB of an organiser", ORGANISERS, "of files and gold of theirs, all together", ge=0
    )
    blueprint_days: int = _setting(
        180,
        "Days of an abandoned draft",
        ORGANISERS,
        "how long a competition that nobody goes on writing is kept, told two weeks before; 0: ever",
        ge=0,
    )

    registrations_per_hour: int = _setting(
        60, "New accounts in an hour", LIMITS, "per address; a whole lecture hall may share one; 0: no limit", ge=0
    )
    registrations_per_day_and_block: int = _setting(
        300, "New accounts in a day", LIMITS, "per block of addresses: /24, or /48 of IPv6; 0: no limit", ge=0
    )
    validations_per_hour: int = _setting(
        60, "Checks in an hour", LIMITS, "files that are only checked, per person; 0: no limit", ge=0
    )
    checked_mebibytes_per_day: int = _setting(
        2048, "Checked MiB in a day", LIMITS, "of files that are only checked, per person; 0: no limit", ge=0
    )
    questions_per_hour: int = _setting(
        10, "Questions in an hour", LIMITS, "to organisers, per person; 0: no limit", ge=0
    )

    rejected_days: int = _setting(
        30, "Days of rejected files", STORAGE, "how long the files of rejected submissions are kept; 0: for ever", ge=0
    )

    @field_validator("contact")
    @classmethod
    def _check_contact(cls, contact: str) -> str:
        if contact and not is_address(contact) and not contact.startswith(("https://", "http://")):
            raise ValueError("an e-mail address, or an address that begins with https:// or http://")
        return contact

    @field_validator("mail_domains", "banned_domains")
    @classmethod
    def _check_domains(cls, domains: str) -> str:
        wanted = domains_in(domains)
        wrong = [domain for domain in wanted if not _DOMAIN.fullmatch(domain)]
        if wrong:
            raise ValueError(f"domains such as uni.example, with commas; '{wrong[0]}' is none")
        return ", ".join(wanted)

    def refusal_of(self, email: str) -> str:
        """Return why this address may not be registered, in a sentence; empty if it may."""
        domain = email.rpartition("@")[2].lower()
        if _is_among(domain, domains_in(self.banned_domains)):
            return "This server takes no addresses of this domain."
        allowed = domains_in(self.mail_domains)
        if allowed and not _is_among(domain, allowed):
            return f"This server takes addresses of {', '.join(allowed)} only."
        return ""


def domains_in(text: str) -> list[str]:
    """Return the domains in a setting, in lower case, in order, each once."""
    return list(dict.fromkeys(part.strip().lower().removeprefix("@") for part in text.split(",") if part.strip()))


def _is_among(domain: str, domains: list[str]) -> bool:
    """Return whether this is one of the domains, or a subdomain of one."""
    return any(domain == one or domain.endswith(f".{one}") for one in domains)
