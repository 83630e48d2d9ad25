"""method cards, row marks, ranked baselines

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0009"
down_revision: str | Sequence[str] | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

#: Table, column, what it is for rows from before.
_ADDED = (("competitions", "method_card", "'{}'"), ("phase_tasks", "ranked_baselines", "'[]'"))


def upgrade() -> None:
    for table, column, before in _ADDED:
        with op.batch_alter_table(table) as changed:
            changed.add_column(sa.Column(column, app.base.db.Json, nullable=False, server_default=sa.text(before)))
        with op.batch_alter_table(table) as changed:
            changed.alter_column(column, existing_type=app.base.db.Json, server_default=None)
    op.create_table(
        "method_cards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("document", app.base.db.Json, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("changed_at", app.base.db.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_method_cards_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_method_cards_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_method_cards")),
        sa.UniqueConstraint("submission_id", "number", name=op.f("uq_method_cards_submission_id_number")),
    )
    op.create_index(
        "uq_method_cards_current",
        "method_cards",
        ["submission_id"],
        unique=True,
        sqlite_where=sa.text("is_current"),
        postgresql_where=sa.text("is_current"),
    )
    _create_row_marks()


def _create_row_marks() -> None:
    op.create_table(
        "row_marks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("set_at", app.base.db.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_row_marks_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_row_marks_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_row_marks_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_row_marks_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_row_marks")),
    )
    op.create_index(op.f("ix_row_marks_phase_task_id"), "row_marks", ["phase_task_id"])
    for name, columns, where in (
        ("uq_row_marks_team", ["phase_task_id", "team_id"], "submission_id IS NULL"),
        ("uq_row_marks_submission", ["submission_id"], "submission_id IS NOT NULL"),
    ):
        op.create_index(
            name,
            "row_marks",
            columns,
            unique=True,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )


def downgrade() -> None:
    op.drop_table("row_marks")
    op.drop_table("method_cards")
    for table, column, _ in reversed(_ADDED):
        with op.batch_alter_table(table) as changed:
            changed.drop_column(column)
