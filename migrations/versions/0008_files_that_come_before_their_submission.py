"""Files uploaded before their submission, as by clients of Codabench.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import UtcDateTime

revision: str = "0008"
down_revision: str | Sequence[str] | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "held_uploads",
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("announced_at", UtcDateTime(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_held_uploads_user_id_users")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_held_uploads")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_held_uploads_secret_hash")),
    )
    op.create_index(op.f("ix_held_uploads_user_id"), "held_uploads", ["user_id"])
    op.create_index(op.f("ix_held_uploads_announced_at"), "held_uploads", ["announced_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_held_uploads_announced_at"), "held_uploads")
    op.drop_index(op.f("ix_held_uploads_user_id"), "held_uploads")
    op.drop_table("held_uploads")
