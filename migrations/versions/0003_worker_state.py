"""progress of runs, and what workers can do

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0003"
down_revision: str | Sequence[str] | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_PROGRESS = ("items_done", "items_total", "seconds_left")


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("host", sa.String(length=200), nullable=False),
        sa.Column("processes", sa.Integer(), nullable=False),
        sa.Column("queues", app.base.db.Json, nullable=False),
        sa.Column("device", sa.String(length=40), nullable=True),
        sa.Column("versions", app.base.db.Json, nullable=False),
        sa.Column("models", app.base.db.Json, nullable=False),
        sa.Column("self_check", sa.String(length=20), nullable=True),
        sa.Column("self_check_words", app.base.db.Json, nullable=False),
        sa.Column("self_checked_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("started_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("seen_at", app.base.db.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"])
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("checked_at", app.base.db.UtcDateTime(), nullable=True))
        for name in _PROGRESS:
            runs.add_column(sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("runs") as runs:
        for name in reversed(_PROGRESS):
            runs.drop_column(name)
        runs.drop_column("checked_at")
    op.drop_index("ix_workers_seen_at", table_name="workers")
    op.drop_table("workers")
