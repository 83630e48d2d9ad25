"""files that are only checked

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0013"
down_revision: str | Sequence[str] | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "validations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("asked_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("sent_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("started_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("finished_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("claim_token", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_expires_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("problems", app.base.db.Json, nullable=False),
        sa.Column("problems_omitted", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["phase_task_id"],
            ["phase_tasks.id"],
            name=op.f("fk_validations_phase_task_id_phase_tasks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_validations_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validations")),
        sa.UniqueConstraint("user_id", "idempotency_key", name=op.f("uq_validations_user_id_idempotency_key")),
    )
    op.create_index(op.f("ix_validations_phase_task_id"), "validations", ["phase_task_id"])
    op.create_index("ix_validations_status_asked_at", "validations", ["status", "asked_at"])


def downgrade() -> None:
    op.drop_index("ix_validations_status_asked_at", table_name="validations")
    op.drop_index(op.f("ix_validations_phase_task_id"), table_name="validations")
    op.drop_table("validations")
