"""Who takes part: registrations for a competition, confirmed addresses, invitations to teams, and who left a team."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS


class RegistrationMode(StrEnum):
    """Who may take part in a competition."""

    OPEN = "open"
    CONFIRMED = "confirmed"  # who has confirmed their address
    APPROVAL = "approval"  # whom the organisers let in
    DOMAIN = "domain"  # whose confirmed address has one of the declared domains
    LIST = "list"  # whose user name or confirmed address is on the declared list


class RegistrationStatus(StrEnum):
    UNCONFIRMED = "unconfirmed"  # waits until the person has confirmed the e-mail address
    PENDING = "pending"  # waits for the organisers
    APPROVED = "approved"
    REFUSED = "refused"


class Registration(Base):
    """One person in one competition. Written by `app.teams.registration` only."""

    __tablename__ = "registrations"
    __table_args__ = (Index("ix_registrations_competition_id_status", "competition_id", "status"),)

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    status: Mapped[RegistrationStatus] = mapped_column(String(20))
    registered_at: Mapped[datetime]
    terms_sha256: Mapped[str | None] = mapped_column(String(64))  # of the text that was accepted last
    terms_accepted_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # None: the competition's own rule
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict)  # by question; `app.teams.questions` reads them

    user: Mapped[User] = relationship(lazy="raise")


class AcceptedTerms(Base):
    """A text of terms that somebody accepted, kept for good; `Registration.terms_sha256` says who accepted which."""

    __tablename__ = "accepted_terms"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)  # of the text: no stored file
    text: Mapped[str] = mapped_column(Text)


class EmailConfirmation(Base):
    """A link that proves that an address is its user's; only the hash of its secret is kept.

    It speaks of the address as it was then: whoever changes it confirms the new one, too.
    """

    __tablename__ = "email_confirmations"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    email: Mapped[str] = mapped_column(String(320))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]


class TeamInvitation(Base):
    """A link with which others join a team; a team has at most one that is open. Only the secret's hash is kept."""

    __tablename__ = "team_invitations"

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    created_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]  # revoked, or replaced by a newer one

    team: Mapped[Team] = relationship(lazy="raise")


class FormerMember(Base):
    """Somebody was a member of a team during [joined_at, left_at]; what it submitted then counts for them, too."""

    __tablename__ = "former_members"
    __table_args__ = (Index("ix_former_members_user_id_competition_id", "user_id", "competition_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    joined_at: Mapped[datetime | None]  # None: from the team's beginning
    left_at: Mapped[datetime]


class TeamKind(StrEnum):
    TEAM = "team"
    BASELINE = "baseline"  # the organiser's own system: a named row without a rank


class Team(Base):
    """Who submits to a competition and owns the quota; a person alone is a team of one, made at first need."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    kind: Mapped[TeamKind] = mapped_column(String(20), default=TeamKind.TEAM)
    captain_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # see app.teams.find.captain_of
    created_at: Mapped[datetime]
    # When a worker last took a file of it, or later, where that took long; see app.runs.turns.
    last_turn_at: Mapped[datetime | None]
    # Has it merged, the team that has all of its people and submissions now; see app.submissions.merging.
    merged_into_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), index=True)


class TeamMember(Base):
    """One team per person and competition."""

    __tablename__ = "team_members"
    __table_args__ = (UniqueConstraint("competition_id", "user_id"),)

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    joined_at: Mapped[datetime | None]  # None: from the team's beginning

    team: Mapped[Team] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")


class OfferStatus(StrEnum):
    OPEN = "open"  # until it is answered, or the competition's date
    TAKEN_BACK = "taken back"  # by the team that asked, which may ask again
    DECLINED = "declined"  # it is not asked again
    ENDED = "ended"  # one of the two has merged with a third
    ACCEPTED = "accepted"


class MergeOffer(Base):
    """One team asks another to become one with it; the asking team stays. Written by `app.teams.merge_offers` and
    `app.submissions.merging` only."""

    __tablename__ = "merge_offers"
    __table_args__ = (UniqueConstraint("asking_id", "asked_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    asking_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    asked_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))  # who asked
    status: Mapped[OfferStatus] = mapped_column(String(20), default=OfferStatus.OPEN)
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]

    asking: Mapped[Team] = relationship(lazy="raise", foreign_keys=[asking_id])
    asked: Mapped[Team] = relationship(lazy="raise", foreign_keys=[asked_id])
    user: Mapped[User] = relationship(lazy="raise")
