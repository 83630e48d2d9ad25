"""gold versions and their commitments; sealed files, their keys; which gold a run was scored against

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0004"
down_revision: str | Sequence[str] | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "worker_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("retired_at", app.base.db.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_keys")),
        sa.UniqueConstraint("key_id", name=op.f("uq_worker_keys_key_id")),
    )
    op.create_table(
        "sealed_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sealed_at", app.base.db.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sealed_files")),
        sa.UniqueConstraint("sha256", name=op.f("uq_sealed_files_sha256")),
    )
    op.create_table(
        "sealed_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sealed_file_id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("sealed_key", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sealed_file_id"], ["sealed_files.id"], name=op.f("fk_sealed_keys_sealed_file_id_sealed_files")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sealed_keys")),
        sa.UniqueConstraint("sealed_file_id", "key_id", name=op.f("uq_sealed_keys_sealed_file_id_key_id")),
    )
    op.create_index(op.f("ix_sealed_keys_key_id"), "sealed_keys", ["key_id"])
    op.create_table(
        "gold_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("content_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sealed_file_id", sa.Integer(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("published_at", app.base.db.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_gold_versions_created_by_id_users")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_gold_versions_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["sealed_file_id"], ["sealed_files.id"], name=op.f("fk_gold_versions_sealed_file_id_sealed_files")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gold_versions")),
        sa.UniqueConstraint("phase_task_id", "number", name=op.f("uq_gold_versions_phase_task_id_number")),
    )
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("gold_version_id", sa.Integer(), nullable=True))
        runs.add_column(sa.Column("outcomes_id", sa.Integer(), nullable=True))
        runs.create_foreign_key(
            op.f("fk_runs_gold_version_id_gold_versions"), "gold_versions", ["gold_version_id"], ["id"]
        )
        runs.create_foreign_key(op.f("fk_runs_outcomes_id_sealed_files"), "sealed_files", ["outcomes_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("runs") as runs:
        runs.drop_constraint(op.f("fk_runs_outcomes_id_sealed_files"), type_="foreignkey")
        runs.drop_constraint(op.f("fk_runs_gold_version_id_gold_versions"), type_="foreignkey")
        runs.drop_column("outcomes_id")
        runs.drop_column("gold_version_id")
    op.drop_table("gold_versions")
    op.drop_index(op.f("ix_sealed_keys_key_id"), table_name="sealed_keys")
    op.drop_table("sealed_keys")
    op.drop_table("sealed_files")
    op.drop_table("worker_keys")
