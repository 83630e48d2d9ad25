"""who takes part: registrations, confirmed addresses, teams with captains and invitations

Whoever was in a team is registered from now on; nothing changes for competitions that declare nothing of the kind.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0008"
down_revision: str | Sequence[str] | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_OF_COMPETITIONS = ("registration", "teams")


def upgrade() -> None:
    with op.batch_alter_table("competitions") as competitions:
        for name in _OF_COMPETITIONS:
            competitions.add_column(sa.Column(name, app.base.db.Json, nullable=False, server_default=sa.text("'{}'")))
    with op.batch_alter_table("competitions") as competitions:
        for name in _OF_COMPETITIONS:
            competitions.alter_column(name, existing_type=app.base.db.Json, server_default=None)
    with op.batch_alter_table("teams") as teams:
        teams.add_column(sa.Column("captain_id", sa.Integer(), nullable=True))
        teams.create_foreign_key(op.f("fk_teams_captain_id_users"), "users", ["captain_id"], ["id"])
    with op.batch_alter_table("team_members") as members:
        members.add_column(sa.Column("joined_at", app.base.db.UtcDateTime(), nullable=True))
    _create_registrations()
    _create_tables_of_teams()
    _register_members()


def _create_registrations() -> None:
    op.create_table(
        "registrations",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("registered_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("terms_sha256", sa.String(length=64), nullable=True),
        sa.Column("terms_accepted_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("decided_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("decided_by", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_registrations_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_registrations_user_id_users")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_registrations")),
    )
    op.create_index(op.f("ix_registrations_user_id"), "registrations", ["user_id"])
    op.create_index("ix_registrations_competition_id_status", "registrations", ["competition_id", "status"])
    op.create_table(
        "email_confirmations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("expires_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("confirmed_at", app.base.db.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_email_confirmations_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_confirmations")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_email_confirmations_secret_hash")),
    )
    op.create_index(op.f("ix_email_confirmations_user_id"), "email_confirmations", ["user_id"])


def _create_tables_of_teams() -> None:
    op.create_table(
        "team_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("expires_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("ended_at", app.base.db.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_team_invitations_created_by_id_users")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_team_invitations_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_invitations")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_team_invitations_secret_hash")),
    )
    op.create_index(op.f("ix_team_invitations_team_id"), "team_invitations", ["team_id"])
    op.create_table(
        "former_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("left_at", app.base.db.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_former_members_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_former_members_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_former_members_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_members")),
    )
    op.create_index(op.f("ix_former_members_team_id"), "former_members", ["team_id"])
    op.create_index("ix_former_members_user_id_competition_id", "former_members", ["user_id", "competition_id"])


def _register_members() -> None:
    op.execute(
        "INSERT INTO registrations (competition_id, user_id, status, registered_at) "
        "SELECT m.competition_id, m.user_id, 'approved', t.created_at "
        "FROM team_members m JOIN teams t ON t.id = m.team_id WHERE t.kind = 'team'"
    )


def downgrade() -> None:
    for table in ("former_members", "team_invitations", "email_confirmations", "registrations"):
        op.drop_table(table)
    with op.batch_alter_table("team_members") as members:
        members.drop_column("joined_at")
    with op.batch_alter_table("teams") as teams:
        teams.drop_constraint(op.f("fk_teams_captain_id_users"), type_="foreignkey")
        teams.drop_column("captain_id")
    with op.batch_alter_table("competitions") as competitions:
        for name in _OF_COMPETITIONS:
            competitions.drop_column(name)
