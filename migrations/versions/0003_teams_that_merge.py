"""Merging of teams: offers, the successor of a team, and the team for which a submission was sent.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import UtcDateTime

revision: str = "0003"
down_revision: str | Sequence[str] | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


COLUMNS = (("teams", "merged_into_id"), ("submissions", "sent_for_id"))


def upgrade() -> None:
    for table, column in COLUMNS:
        with op.batch_alter_table(table) as changed:
            changed.add_column(sa.Column(column, sa.Integer(), nullable=True))
            changed.create_foreign_key(f"fk_{table}_{column}_teams", "teams", [column], ["id"])
    op.create_index(op.f("ix_teams_merged_into_id"), "teams", ["merged_into_id"])
    op.create_table(
        "merge_offers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("asking_id", sa.Integer(), nullable=False),
        sa.Column("asked_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["asked_id"], ["teams.id"], name=op.f("fk_merge_offers_asked_id_teams")),
        sa.ForeignKeyConstraint(["asking_id"], ["teams.id"], name=op.f("fk_merge_offers_asking_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_merge_offers_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_offers")),
        sa.UniqueConstraint("asking_id", "asked_id", name=op.f("uq_merge_offers_asking_id_asked_id")),
    )
    op.create_index(op.f("ix_merge_offers_asked_id"), "merge_offers", ["asked_id"])


def downgrade() -> None:
    op.drop_table("merge_offers")
    op.drop_index(op.f("ix_teams_merged_into_id"), "teams")
    for table, column in reversed(COLUMNS):
        with op.batch_alter_table(table) as changed:
            changed.drop_constraint(f"fk_{table}_{column}_teams", type_="foreignkey")
            changed.drop_column(column)
