"""The settings that administrators may change while the server runs; until then the environment sets them.

Each is a field here, once, which defines its variable `EVERGOLD_…` (`app.base.config.Settings` inherits it), its field
on the administrators' page, and its name in the API and for `evergold admin set`. Only settings that are safe to change
without a
restart belong here: none that a process reads once at its start, no secrets, none that could lock everybody out.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.base.colours import DARK, LIGHT, Scheme, accent_fault, read_colour
from app.base.text import is_address, is_control
from evergold.scoring.characters import can_be_name

_DOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+")

Registration = Literal["open", "closed"]
Rule = Literal["anybody", "approved", "admins"]
Required = Literal["optional", "administrators", "organisers"]


def _setting(default: Any, title: str, group: str, description: str, **bounds: Any) -> Any:
    """Return a field with its label and its section on the page."""
    return Field(default, title=title, description=description, json_schema_extra={"group": group}, **bounds)


PEOPLE, ORGANISERS, LIMITS, STORAGE, LOOKS = "Accounts", "Organisers", "Limits", "Storage", "Looks"
#: The name of a server that has none of its own.
PRODUCT = "Evergold"
SERVER_NAME_CHARACTERS, FRONT_CHARACTERS, MOST_FEATURED = 60, 20_000, 12


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
        "domains, separated by commas, that new addresses must belong to, subdomains included; empty: any",
    )
    banned_domains: str = _setting(
        "",
        "Banned domains",
        PEOPLE,
        "domains, separated by commas, whose addresses nobody may register, subdomains included",
    )
    second_factor: Required = _setting(
        "optional",
        "Second factor",
        PEOPLE,
        "who needs a second factor to log in: nobody, administrators, or also organisers",
    )
    contact: str = _setting(
        "",
        "Contact",
        PEOPLE,
        "e-mail address or page of the people who run this server, shown to everybody",
    )

    organise: Rule = _setting(
        "admins",
        "Who may create competitions",
        ORGANISERS,
        "anybody with a confirmed address, people whom administrators approved, or administrators alone",
    )
    competitions_per_organiser: int = _setting(
        5,
        "Competitions of an organiser",
        ORGANISERS,
        "how many competitions a person may own; administrators: any number; 0: none",
        ge=0,
    )
    mebibytes_per_organiser: int = _setting(
        1024, "MiB of an organiser", ORGANISERS, "total size of files and gold of the person's competitions", ge=0
    )
    blueprint_days: int = _setting(
        180,
        "Days of an abandoned draft",
        ORGANISERS,
        "days until an abandoned draft is deleted, two weeks after a mail; 0: never",
        ge=0,
    )

    registrations_per_hour: int = _setting(
        60,
        "New accounts in an hour",
        LIMITS,
        "new accounts per network address, which a whole lecture hall may share; 0: no limit",
        ge=0,
    )
    registrations_per_day_and_block: int = _setting(
        300,
        "New accounts in a day",
        LIMITS,
        "new accounts per block of network addresses: /24, or /48 of IPv6; 0: no limit",
        ge=0,
    )
    validations_per_hour: int = _setting(
        60, "Checks in an hour", LIMITS, "files validated without submitting, per person; 0: no limit", ge=0
    )
    checked_mebibytes_per_day: int = _setting(
        2048,
        "Checked MiB in a day",
        LIMITS,
        "size of files validated without submitting, per person; 0: no limit",
        ge=0,
    )
    questions_per_hour: int = _setting(
        10, "Questions in an hour", LIMITS, "questions to organisers, per person; 0: no limit", ge=0
    )

    rejected_days: int = _setting(
        30, "Days of rejected files", STORAGE, "how long the files of rejected submissions are kept; 0: for ever", ge=0
    )

    server_name: str = _setting(
        PRODUCT, "Name", LOOKS, "name of this server on pages, in mails and in authenticator apps"
    )
    accent: str = _setting(
        "",
        "Colour",
        LOOKS,
        "colour of links and buttons on light pages, such as #1c6047; its contrast must meet WCAG AA",
    )
    accent_dark: str = _setting(
        "",
        "Colour on dark pages",
        LOOKS,
        "colour of links and buttons on dark pages; empty: derived from that of light pages",
    )
    front_text: str = _setting("", "Front page", LOOKS, "Markdown for visitors, replaces the default introduction")
    featured: str = _setting(
        "",
        "Featured competitions",
        LOOKS,
        "names of competitions that come first on the front page, separated by commas",
    )

    @field_validator("server_name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        name = " ".join(name.split())
        if not can_be_name(name) or len(name) > SERVER_NAME_CHARACTERS:
            raise ValueError(f"one line of 1 to {SERVER_NAME_CHARACTERS} characters")
        return name

    @field_validator("accent")
    @classmethod
    def _check_accent(cls, accent: str) -> str:
        return _accent(accent, LIGHT)

    @field_validator("accent_dark")
    @classmethod
    def _check_accent_dark(cls, accent: str) -> str:
        return _accent(accent, DARK)

    @field_validator("front_text")
    @classmethod
    def _check_front_text(cls, text: str) -> str:
        if len(text) > FRONT_CHARACTERS or any(is_control(character) for character in text):
            raise ValueError(
                f"at most {FRONT_CHARACTERS:,} characters, none of them control characters; this has {len(text):,}"
            )
        return text

    @field_validator("featured")
    @classmethod
    def _check_featured(cls, featured: str) -> str:
        names = names_in(featured)
        if len(names) > MOST_FEATURED or any(len(name) > 100 or not name.isprintable() for name in names):
            raise ValueError(f"at most {MOST_FEATURED} names of competitions, separated by commas")
        return ", ".join(names)

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
            raise ValueError(f"domains such as uni.example, separated by commas; '{wrong[0]}' is not a domain")
        return ", ".join(wanted)

    def refusal_of(self, email: str) -> str:
        """Return a sentence on why this address may not be registered; "" if it may."""
        domain = email.rpartition("@")[2].lower()
        if _is_among(domain, domains_in(self.banned_domains)):
            return "This server takes no addresses of this domain."
        allowed = domains_in(self.mail_domains)
        if allowed and not _is_among(domain, allowed):
            return f"This server takes addresses of {', '.join(allowed)} only."
        return ""


def _accent(text: str, scheme: Scheme) -> str:
    if not text.strip():
        return ""
    colour = read_colour(text)
    if colour is None:
        raise ValueError(f"a colour of six hexadecimal digits, such as #1c6047; {text.strip()[:20]!r} is not one")
    if fault := accent_fault(colour, scheme):
        raise ValueError(fault)
    return colour


def names_in(text: str) -> list[str]:
    """Return the names of competitions in a setting, in order, without duplicates."""
    return list(dict.fromkeys(part.strip() for part in text.replace("\n", ",").split(",") if part.strip()))


def domains_in(text: str) -> list[str]:
    """Return the domains in a setting, in lower case, in order, without duplicates."""
    return list(dict.fromkeys(part.strip().lower().removeprefix("@") for part in text.split(",") if part.strip()))


def _is_among(domain: str, domains: list[str]) -> bool:
    """Return whether this is one of the domains, or a subdomain of one."""
    return any(domain == one or domain.endswith(f".{one}") for one in domains)
