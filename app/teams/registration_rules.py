"""Declared rules of participation; pure, applied by `app.teams.registration`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from app.models import Audience, Competition, RegistrationMode, User
from app.teams.questions import Question, question_of


@dataclass(frozen=True, slots=True)
class Rules:
    """The declaration of the competition."""

    mode: RegistrationMode = RegistrationMode.OPEN
    domains: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    terms: str = ""
    questions: tuple[Question, ...] = ()

    @property
    def terms_sha256(self) -> str | None:
        """Hash of the text that must be accepted; None if there is none."""
        return hashlib.sha256(self.terms.encode()).hexdigest() if self.terms else None

    @property
    def asks(self) -> bool:
        """True if there is a form: terms to accept, or questions."""
        return bool(self.terms or self.questions)

    @property
    def needs_address(self) -> bool:
        """True if the address must be confirmed."""
        is_asked = self.mode in (RegistrationMode.CONFIRMED, RegistrationMode.DOMAIN, RegistrationMode.LIST)
        return is_asked or (self.mode is RegistrationMode.APPROVAL and bool(self.domains))

    @property
    def is_silent(self) -> bool:
        """True if nobody has to register before the first upload; the address may still have to be confirmed."""
        return self.mode in (RegistrationMode.OPEN, RegistrationMode.CONFIRMED) and not self.asks

    @property
    def files_for(self) -> Audience:
        """Default audience of files: everyone if there are no requirements."""
        is_open = self.mode is RegistrationMode.OPEN and not self.asks
        return Audience.EVERYONE if is_open else Audience.PARTICIPANTS

    def names(self, user: User) -> bool:
        """True if the user name is on the list."""
        return self.mode is RegistrationMode.LIST and user.username in self.allowed

    def fits(self, email: str) -> bool:
        """True if the address is admitted; with `approval`, without a decision.

        `*.uni.edu` matches everything that ends with `.uni.edu`.
        """
        if self.mode is RegistrationMode.CONFIRMED:
            return True
        if self.mode is RegistrationMode.LIST:
            return email.lower() in self.allowed
        domain = email.lower().rpartition("@")[2]
        return any(domain.endswith(one[1:]) if one.startswith("*.") else domain == one for one in self.domains)


def rules_of(competition: Competition) -> Rules:
    """Return the declared rules with defaults."""
    said = competition.registration
    return Rules(
        mode=RegistrationMode(said.get("mode") or RegistrationMode.OPEN),
        domains=tuple(domain.lower() for domain in said.get("domains", ())),
        allowed=tuple(name.lower() for name in said.get("allowed", ())),
        terms=said.get("terms", ""),
        questions=tuple(question_of(question) for question in said.get("questions", ())),
    )
