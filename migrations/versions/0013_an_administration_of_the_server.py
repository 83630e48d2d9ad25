"""Live settings, announcements to everybody, blocked people, limits of single organisers.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import Json, UtcDateTime

revision: str = "0013"
down_revision: str | Sequence[str] | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_OF_USERS = ("blocked_reason", "blocked_at", "mebibytes_limit", "competitions_limit", "is_barred_organiser")


def upgrade() -> None:
    with op.batch_alter_table("users") as table:
        table.add_column(sa.Column("is_barred_organiser", sa.Boolean(), nullable=False, server_default=sa.false()))
        table.add_column(sa.Column("competitions_limit", sa.Integer(), nullable=True))
        table.add_column(sa.Column("mebibytes_limit", sa.Integer(), nullable=True))
        table.add_column(sa.Column("blocked_at", UtcDateTime(), nullable=True))
        table.add_column(sa.Column("blocked_reason", sa.Text(), nullable=False, server_default=""))
    with op.batch_alter_table("users") as table:
        table.alter_column("is_barred_organiser", existing_type=sa.Boolean(), server_default=None)
        table.alter_column("blocked_reason", existing_type=sa.Text(), server_default=None)
    op.create_table(
        "server_settings",
        sa.Column("key", sa.String(length=60), nullable=False),
        sa.Column("value", Json, nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.Column("changed_by", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_server_settings")),
    )
    op.create_table(
        "server_announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=20), nullable=False),
        sa.Column("starts_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("created_by", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server_announcements")),
    )
    op.create_index(op.f("ix_server_announcements_ends_at"), "server_announcements", ["ends_at"])
    op.create_table(
        "live_revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_live_revision")),
    )


def downgrade() -> None:
    op.drop_table("live_revision")
    op.drop_index(op.f("ix_server_announcements_ends_at"), "server_announcements")
    op.drop_table("server_announcements")
    op.drop_table("server_settings")
    with op.batch_alter_table("users") as table:
        for name in _OF_USERS:
            table.drop_column(name)
