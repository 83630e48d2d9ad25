"""Rights of organisers: existing organisers get all of them. Invitations may come from the server's command line.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | Sequence[str] | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ALL = "edit submissions gold messages"
TABLES = ("competition_roles", "role_invitations")


def upgrade() -> None:
    rights = sa.String(length=80)
    for name in TABLES:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("rights", rights, nullable=False, server_default=""))
        with op.batch_alter_table(name) as table:
            table.alter_column("rights", existing_type=rights, existing_nullable=False, server_default=None)
        written = sa.table(name, sa.column("role", sa.String()), sa.column("rights", rights))
        op.execute(written.update().where(written.c.role == "organiser").values(rights=ALL))
    with op.batch_alter_table("role_invitations") as table:
        table.alter_column("invited_by_id", existing_type=sa.Integer(), nullable=True)


def downgrade() -> None:
    op.execute("DELETE FROM role_invitations WHERE invited_by_id IS NULL")
    with op.batch_alter_table("role_invitations") as table:
        table.alter_column("invited_by_id", existing_type=sa.Integer(), nullable=False)
    for name in TABLES:
        with op.batch_alter_table(name) as table:
            table.drop_column("rights")
