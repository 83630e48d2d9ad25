"""Programs of organisers: the program of a task, and its log in a run, for the organisers.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | Sequence[str] | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("tasks") as table:
        table.add_column(sa.Column("program_sha256", sa.String(length=64), nullable=True))
    with op.batch_alter_table("runs") as table:
        table.add_column(sa.Column("program_log", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("runs") as table:
        table.drop_column("program_log")
    with op.batch_alter_table("tasks") as table:
        table.drop_column("program_sha256")
