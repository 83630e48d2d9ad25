"""Standings with their ranking value, so that an index can count ranks without reading a board.

Values are filled in when a board's standings are next recomputed.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | Sequence[str] | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BY_VALUE, BY_KIND = "ix_standings_place_value", "ix_teams_competition_id_kind"


def upgrade() -> None:
    op.add_column("standings", sa.Column("value", sa.Double(), nullable=True))
    op.create_index(BY_VALUE, "standings", ["phase_task_id", "board_id", "value", "is_whole", "gold"])
    op.create_index(BY_KIND, "teams", ["competition_id", "kind"])


def downgrade() -> None:
    op.drop_index(BY_KIND, "teams")
    op.drop_index(BY_VALUE, "standings")
    with op.batch_alter_table("standings") as changed:
        changed.drop_column("value")
