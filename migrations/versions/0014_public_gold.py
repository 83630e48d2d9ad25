"""gold that is declared public, and what single items came to

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | Sequence[str] | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("phase_tasks") as asked:
        asked.add_column(sa.Column("gold_is_public", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("phase_tasks") as asked:
        asked.alter_column("gold_is_public", existing_type=sa.Boolean(), server_default=None)
    op.add_column("runs", sa.Column("item_results", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("item_results")
    with op.batch_alter_table("phase_tasks") as asked:
        asked.drop_column("gold_is_public")
