"""Announcements waiting for a digest by number, so that the mail has their current text.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | Sequence[str] | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLE, COLUMN = "digest_items", "announcement_id"


def upgrade() -> None:
    with op.batch_alter_table(TABLE) as table:
        table.add_column(sa.Column(COLUMN, sa.Integer(), nullable=True))
        table.create_foreign_key(
            op.f("fk_digest_items_announcement_id_announcements"), "announcements", [COLUMN], ["id"]
        )
        table.create_index(op.f("ix_digest_items_announcement_id"), [COLUMN])


def downgrade() -> None:
    """Copy the texts of announcements into rows that only have their number."""
    words = "SELECT {} FROM announcements WHERE announcements.id = digest_items.announcement_id"
    op.execute(
        f"UPDATE digest_items SET title = ({words.format('title')}), text = ({words.format('text')}) "  # noqa: S608
        "WHERE announcement_id IS NOT NULL"
    )
    with op.batch_alter_table(TABLE) as table:
        table.drop_index(op.f("ix_digest_items_announcement_id"))
        table.drop_constraint(op.f("fk_digest_items_announcement_id_announcements"), type_="foreignkey")
        table.drop_column(COLUMN)
