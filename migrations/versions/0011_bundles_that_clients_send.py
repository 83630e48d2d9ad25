"""Bundles uploaded by clients of Codabench to create a competition, with their results, stored for a day.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import UtcDateTime

revision: str = "0011"
down_revision: str | Sequence[str] | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "bundle_uploads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("announced_at", UtcDateTime(), nullable=False),
        sa.Column("claimed_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("competition", sa.String(length=60), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_bundle_uploads_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bundle_uploads")),
        sa.UniqueConstraint("key", name=op.f("uq_bundle_uploads_key")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_bundle_uploads_secret_hash")),
    )
    op.create_index(op.f("ix_bundle_uploads_user_id"), "bundle_uploads", ["user_id"])
    op.create_index(op.f("ix_bundle_uploads_announced_at"), "bundle_uploads", ["announced_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_bundle_uploads_announced_at"), "bundle_uploads")
    op.drop_index(op.f("ix_bundle_uploads_user_id"), "bundle_uploads")
    op.drop_table("bundle_uploads")
