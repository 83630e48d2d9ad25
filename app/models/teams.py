"""Participation: registrations, confirmed addresses, invitations to teams, and former members."""

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
    """Admission rule of a competition."""

    OPEN = "open"
    CONFIRMED = "confirmed"  # confirmed e-mail address
    APPROVAL = "approval"  # approval by the organisers
    DOMAIN = "domain"  # confirmed address in one of the declared domains
    LIST = "list"  # user name or confirmed address on the declared list
    CODE = "code"  # the organisers' code, without a confirmed address: for a class


class RegistrationStatus(StrEnum):
    UNCONFIRMED = "unconfirmed"  # waits for a confirmed e-mail address
    PENDING = "pending"  # waits for the organisers
    APPROVED = "approved"
    REFUSED = "refused"


class Registration(Base):
    """The registration of one person for one competition. Written only by `app.teams.registration`."""

    __tablename__ = "registrations"
    __table_args__ = (Index("ix_registrations_competition_id_status", "competition_id", "status"),)

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    status: Mapped[RegistrationStatus] = mapped_column(String(20))
    registered_at: Mapped[datetime]
    terms_sha256: Mapped[str | None] = mapped_column(String(64))  # of the last accepted text
    terms_accepted_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))  # None: decided by the competition's rule
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict)  # by question; see `app.teams.questions`

    user: Mapped[User] = relationship(lazy="raise")


class AcceptedTerms(Base):
    """The text of accepted terms, stored permanently; referenced by `Registration.terms_sha256`."""

    __tablename__ = "accepted_terms"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)  # of the text, not a stored file
    text: Mapped[str] = mapped_column(Text)


class JoiningCode(Base):
    """A code with which anybody may take part; a competition has at most one open code.

    Only its hash is stored. Written only by `app.teams.codes`.
    """

    __tablename__ = "joining_codes"

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line
    made_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]  # ended, or replaced by a newer one


class EmailConfirmation(Base):
    """A link that confirms an e-mail address; only the hash of its secret is stored.

    It is for the address at that time: after a change, the new address must be confirmed as well.
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
    """A link for joining a team, which has at most one open link. Only the secret's hash is stored."""

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
    """A former membership in a team, from joined_at to left_at; its submissions count for the person as well."""

    __tablename__ = "former_members"
    __table_args__ = (Index("ix_former_members_user_id_competition_id", "user_id", "competition_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    joined_at: Mapped[datetime | None]  # None: since the team's creation
    left_at: Mapped[datetime]


class TeamKind(StrEnum):
    TEAM = "team"
    BASELINE = "baseline"  # system of the organisers: a named row without a rank


class Team(Base):
    """The submitter in a competition, with the quota; a single person is a team of one, created when first needed."""

    __tablename__ = "teams"
    __table_args__ = (
        UniqueConstraint("competition_id", "name"),
        Index("ix_teams_competition_id_kind", "competition_id", "kind"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    kind: Mapped[TeamKind] = mapped_column(String(20), default=TeamKind.TEAM)
    captain_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # see app.teams.find.captain_of
    created_at: Mapped[datetime]
    # Last time a worker took one of its files, or later after long scoring; see app.runs.claims.
    last_turn_at: Mapped[datetime | None]
    # If merged: the team that now has its members and submissions; see app.submissions.merging.
    merged_into_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), index=True)


class TeamMember(Base):
    """A membership; one team per person and competition."""

    __tablename__ = "team_members"
    __table_args__ = (UniqueConstraint("competition_id", "user_id"),)

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    joined_at: Mapped[datetime | None]  # None: since the team's creation

    team: Mapped[Team] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")


class OfferStatus(StrEnum):
    OPEN = "open"  # until answered, or until the competition's date
    TAKEN_BACK = "taken back"  # by the team that made it, which may repeat it
    DECLINED = "declined"  # cannot be repeated
    ENDED = "ended"  # one of the two teams has merged with a third
    ACCEPTED = "accepted"


class MergeOffer(Base):
    """An offer to another team to merge into the offering one.

    Written only by `app.teams.merge_offers` and `app.submissions.merging`.
    """

    __tablename__ = "merge_offers"
    __table_args__ = (UniqueConstraint("asking_id", "asked_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    asking_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    asked_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))  # author of the offer
    status: Mapped[OfferStatus] = mapped_column(String(20), default=OfferStatus.OPEN)
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]

    asking: Mapped[Team] = relationship(lazy="raise", foreign_keys=[asking_id])
    asked: Mapped[Team] = relationship(lazy="raise", foreign_keys=[asked_id])
    user: Mapped[User] = relationship(lazy="raise")
