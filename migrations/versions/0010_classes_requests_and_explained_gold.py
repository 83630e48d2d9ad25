"""Codes for joining a competition, requests to organise, and sealed explanations of invalid gold.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import UtcDateTime

revision: str = "0010"
down_revision: str | Sequence[str] | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("gold_versions", sa.Column("explanation", sa.Text(), nullable=True))
    op.create_table(
        "joining_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_joining_codes_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["made_by_id"], ["users.id"], name=op.f("fk_joining_codes_made_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_joining_codes")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_joining_codes_secret_hash")),
    )
    op.create_index(op.f("ix_joining_codes_competition_id"), "joining_codes", ["competition_id"])
    op.create_table(
        "organising_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.Column("answered_by", sa.String(length=100), nullable=True),
        sa.Column("is_approved", sa.Boolean(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_organising_requests_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organising_requests")),
    )
    op.create_index(op.f("ix_organising_requests_user_id"), "organising_requests", ["user_id"])
    op.create_index(op.f("ix_organising_requests_answered_at"), "organising_requests", ["answered_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_organising_requests_answered_at"), "organising_requests")
    op.drop_index(op.f("ix_organising_requests_user_id"), "organising_requests")
    op.drop_table("organising_requests")
    op.drop_index(op.f("ix_joining_codes_competition_id"), "joining_codes")
    op.drop_table("joining_codes")
    op.drop_column("gold_versions", "explanation")
