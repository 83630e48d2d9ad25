"""hill climbing: the Ladder's step, what changed between a team's submissions, and alerts

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0006"
down_revision: str | Sequence[str] | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("phases") as phases:
        phases.add_column(sa.Column("ladder_step", sa.Double(), nullable=True))
    op.create_table(
        "line_changes",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("previous_id", sa.Uuid(), nullable=True),
        sa.Column("changed", sa.Integer(), nullable=True),
        sa.Column("of_lines", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_line_changes_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(
            ["previous_id"], ["submissions.id"], name=op.f("fk_line_changes_previous_id_submissions")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_line_changes")),
    )
    op.create_table(
        "climbing_alerts",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("at", app.base.db.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_climbing_alerts_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_climbing_alerts_team_id_teams")),
        sa.PrimaryKeyConstraint("team_id", "phase_task_id", name=op.f("pk_climbing_alerts")),
    )


def downgrade() -> None:
    op.drop_table("climbing_alerts")
    op.drop_table("line_changes")
    with op.batch_alter_table("phases") as phases:
        phases.drop_column("ladder_step")
