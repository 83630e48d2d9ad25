"""who sees what when: visibility, choices, snapshots

Phases and tasks from before this show everything to everybody, as they did; their boards are frozen from now on.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0007"
down_revision: str | Sequence[str] | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_OF_PHASE_TASKS = ("entry", "limits", "visibility")


def upgrade() -> None:
    _add_to_competitions()
    with op.batch_alter_table("phases") as phases:
        phases.add_column(sa.Column("choose_until", app.base.db.UtcDateTime(), nullable=True))
        phases.add_column(sa.Column("without_choice", sa.String(length=20), nullable=False, server_default="last"))
        phases.add_column(sa.Column("visibility", app.base.db.Json, nullable=False, server_default=sa.text("'{}'")))
        phases.add_column(sa.Column("carry_over", sa.String(length=100), nullable=True))
        phases.add_column(sa.Column("has_snapshot", sa.Boolean(), nullable=False, server_default=sa.true()))
    with op.batch_alter_table("phases") as phases:
        phases.alter_column("without_choice", existing_type=sa.String(length=20), server_default=None)
        phases.alter_column("visibility", existing_type=app.base.db.Json, server_default=None)
        phases.alter_column("has_snapshot", existing_type=sa.Boolean(), server_default=None)
    with op.batch_alter_table("phase_tasks") as asked:
        asked.add_column(sa.Column("gold_version", sa.String(length=100), nullable=False, server_default=""))
        for name in _OF_PHASE_TASKS:
            asked.add_column(sa.Column(name, app.base.db.Json, nullable=False, server_default=sa.text("'{}'")))
    with op.batch_alter_table("phase_tasks") as asked:
        asked.alter_column("gold_version", existing_type=sa.String(length=100), server_default=None)
        for name in _OF_PHASE_TASKS:
            asked.alter_column(name, existing_type=app.base.db.Json, server_default=None)
    _create_tables()


def _add_to_competitions() -> None:
    """A salt of its own for each."""
    with op.batch_alter_table("competitions") as competitions:
        competitions.add_column(sa.Column("neutral_salt", sa.String(length=64), nullable=True))
    table = sa.table("competitions", sa.column("id", sa.Integer()), sa.column("neutral_salt", sa.String()))
    for (competition_id,) in op.get_bind().execute(sa.select(table.c.id)).all():
        op.execute(table.update().where(table.c.id == competition_id).values(neutral_salt=secrets.token_hex(16)))
    with op.batch_alter_table("competitions") as competitions:
        competitions.alter_column("neutral_salt", existing_type=sa.String(length=64), nullable=False)


def _create_tables() -> None:
    op.create_table(
        "entry_choices",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("chosen_at", app.base.db.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_entry_choices_board_id_boards")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_entry_choices_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_entry_choices_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_entry_choices_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_entry_choices_user_id_users")),
        sa.PrimaryKeyConstraint("team_id", "phase_task_id", "board_id", name=op.f("pk_entry_choices")),
    )
    op.create_index(op.f("ix_entry_choices_submission_id"), "entry_choices", ["submission_id"])
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("closed_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("made_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("document", app.base.db.Json, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_snapshots_board_id_boards")),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_snapshots_phase_id_phases")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("phase_id", "board_id", "number", name=op.f("uq_snapshots_phase_id_board_id_number")),
    )


def downgrade() -> None:
    op.drop_table("snapshots")
    op.drop_index(op.f("ix_entry_choices_submission_id"), table_name="entry_choices")
    op.drop_table("entry_choices")
    with op.batch_alter_table("phase_tasks") as asked:
        for name in reversed(_OF_PHASE_TASKS):
            asked.drop_column(name)
        asked.drop_column("gold_version")
    with op.batch_alter_table("phases") as phases:
        for name in ("has_snapshot", "carry_over", "visibility", "without_choice", "choose_until"):
            phases.drop_column(name)
    with op.batch_alter_table("competitions") as competitions:
        competitions.drop_column("neutral_salt")
