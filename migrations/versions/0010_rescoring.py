"""rescoring as a set: runs beside the current ones

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0010"
down_revision: str | Sequence[str] | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "rescorings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("with_rejected", sa.Boolean(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("told_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("ended_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("difference", app.base.db.Json, nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rescorings_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_rescorings_created_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescorings")),
    )
    op.create_index(op.f("ix_rescorings_competition_id"), "rescorings", ["competition_id"])
    op.create_table(
        "rescored_tasks",
        sa.Column("rescoring_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=False),
        sa.Column("gold_version_id", sa.Integer(), nullable=True),
        sa.Column("options", app.base.db.Json, nullable=False),
        sa.Column("items_sha256", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["rescoring_id"], ["rescorings.id"], name=op.f("fk_rescored_tasks_rescoring_id_rescorings")
        ),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_rescored_tasks_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["gold_version_id"], ["gold_versions.id"], name=op.f("fk_rescored_tasks_gold_version_id_gold_versions")
        ),
        sa.PrimaryKeyConstraint("rescoring_id", "phase_task_id", name=op.f("pk_rescored_tasks")),
    )
    op.create_index(op.f("ix_rescored_tasks_phase_task_id"), "rescored_tasks", ["phase_task_id"])
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("rescoring_id", sa.Integer(), nullable=True))
        runs.add_column(sa.Column("replaced_id", sa.Integer(), nullable=True))
        runs.create_foreign_key(op.f("fk_runs_rescoring_id_rescorings"), "rescorings", ["rescoring_id"], ["id"])
        runs.create_foreign_key(op.f("fk_runs_replaced_id_runs"), "runs", ["replaced_id"], ["id"])
        runs.create_unique_constraint(op.f("uq_runs_rescoring_id_submission_id"), ["rescoring_id", "submission_id"])


def downgrade() -> None:
    """Runs that were never published go with their sets: nothing would say what they are."""
    op.execute(
        "DELETE FROM scores WHERE run_id IN (SELECT id FROM runs WHERE rescoring_id IS NOT NULL AND NOT is_current)"
        " AND run_id NOT IN (SELECT replaced_id FROM runs WHERE replaced_id IS NOT NULL)"
    )
    op.execute(
        "DELETE FROM runs WHERE rescoring_id IS NOT NULL AND NOT is_current"
        " AND id NOT IN (SELECT replaced_id FROM runs WHERE replaced_id IS NOT NULL)"
    )
    with op.batch_alter_table("runs") as runs:
        runs.drop_constraint(op.f("uq_runs_rescoring_id_submission_id"), type_="unique")
        runs.drop_constraint(op.f("fk_runs_replaced_id_runs"), type_="foreignkey")
        runs.drop_constraint(op.f("fk_runs_rescoring_id_rescorings"), type_="foreignkey")
        runs.drop_column("replaced_id")
        runs.drop_column("rescoring_id")
    op.drop_index(op.f("ix_rescored_tasks_phase_task_id"), table_name="rescored_tasks")
    op.drop_table("rescored_tasks")
    op.drop_index(op.f("ix_rescorings_competition_id"), table_name="rescorings")
    op.drop_table("rescorings")
