"""revisions: every declaration of a competition, with its files

A competition from before this has its first revision when it is applied the next time, as every start of a server does.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0012"
down_revision: str | Sequence[str] | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("made_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("author", sa.String(length=100), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("changes", app.base.db.Json, nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_revisions_author_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_revisions_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revisions")),
        sa.UniqueConstraint("competition_id", "number", name=op.f("uq_revisions_competition_id_number")),
    )
    op.create_table(
        "revision_files",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=300), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revisions.id"], name=op.f("fk_revision_files_revision_id_revisions")
        ),
        sa.PrimaryKeyConstraint("revision_id", "path", name=op.f("pk_revision_files")),
    )
    op.create_index(op.f("ix_revision_files_sha256"), "revision_files", ["sha256"])


def downgrade() -> None:
    op.drop_index(op.f("ix_revision_files_sha256"), table_name="revision_files")
    op.drop_table("revision_files")
    op.drop_table("revisions")
