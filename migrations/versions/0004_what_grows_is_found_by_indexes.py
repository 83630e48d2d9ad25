"""Indexes on growing tables: teams of a person, recently finished runs, files.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

from collections.abc import Sequence

from alembic import op

revision: str = "0004"
down_revision: str | Sequence[str] | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_index("ix_team_members_user_id", "team_members", ["user_id"])
    op.create_index("ix_runs_finished_at", "runs", ["finished_at"])
    op.create_index("ix_file_downloads_competition_id_file", "file_downloads", ["competition_id", "file"])


def downgrade() -> None:
    op.drop_index("ix_file_downloads_competition_id_file", "file_downloads")
    op.drop_index("ix_runs_finished_at", "runs")
    op.drop_index("ix_team_members_user_id", "team_members")
