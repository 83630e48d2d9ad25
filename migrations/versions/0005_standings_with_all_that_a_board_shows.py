"""Standings with everything that a board shows of their runs; existing standings become invalid.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | Sequence[str] | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SYSTEM = "fk_standings_system_id_systems"


def upgrade() -> None:
    with op.batch_alter_table("standings") as changed:
        changed.add_column(sa.Column("system_id", sa.Integer(), nullable=True))
        changed.add_column(sa.Column("facts", sa.Text(), nullable=False, server_default=""))
        changed.create_foreign_key(SYSTEM, "systems", ["system_id"], ["id"])
    with op.batch_alter_table("standings") as changed:
        changed.alter_column("facts", existing_type=sa.Text(), existing_nullable=False, server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("standings") as changed:
        changed.drop_constraint(SYSTEM, type_="foreignkey")
        changed.drop_column("facts")
        changed.drop_column("system_id")
