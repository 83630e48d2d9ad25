"""Reports of texts, hidden texts, people blocked in a competition, paused scoring, and refused requests.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import Json, UtcDateTime

revision: str = "0014"
down_revision: str | Sequence[str] | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "text_reports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(length=20), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("reporter_id", sa.Integer(), nullable=False),
        sa.Column("reported_at", UtcDateTime(), nullable=False),
        sa.Column("closed_at", UtcDateTime(), nullable=True),
        sa.Column("closed_by", sa.String(length=100), nullable=True),
        sa.Column("outcome", sa.String(length=20), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_text_reports_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["reporter_id"], ["users.id"], name=op.f("fk_text_reports_reporter_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text_reports")),
        sa.UniqueConstraint(
            "reporter_id", "kind", "subject_id", name=op.f("uq_text_reports_reporter_id_kind_subject_id")
        ),
    )
    op.create_index(op.f("ix_text_reports_competition_id"), "text_reports", ["competition_id"])
    op.create_table(
        "hidden_texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("places", Json, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("hidden_at", UtcDateTime(), nullable=False),
        sa.Column("hidden_by", sa.String(length=100), nullable=False),
        sa.Column("shown_at", UtcDateTime(), nullable=True),
        sa.Column("shown_by", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_hidden_texts_author_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_hidden_texts_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_hidden_texts_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hidden_texts")),
    )
    op.create_index(op.f("ix_hidden_texts_author_id"), "hidden_texts", ["author_id"])
    op.create_index(op.f("ix_hidden_texts_competition_id"), "hidden_texts", ["competition_id"])
    op.create_index(
        "uq_hidden_texts_hidden",
        "hidden_texts",
        ["kind", "subject_id"],
        unique=True,
        sqlite_where=sa.text("shown_at IS NULL"),
        postgresql_where=sa.text("shown_at IS NULL"),
    )
    op.create_table(
        "competition_blocks",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("blocked_at", UtcDateTime(), nullable=False),
        sa.Column("blocked_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_competition_blocks_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_competition_blocks_user_id_users")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_competition_blocks")),
    )
    op.create_index(op.f("ix_competition_blocks_user_id"), "competition_blocks", ["user_id"])
    op.create_table(
        "scoring_holds",
        sa.Column("target", sa.String(length=220), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("host", sa.String(length=200), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("held_at", UtcDateTime(), nullable=False),
        sa.Column("held_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_scoring_holds_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_scoring_holds_task_id_tasks")),
        sa.PrimaryKeyConstraint("target", name=op.f("pk_scoring_holds")),
    )
    op.create_index(op.f("ix_scoring_holds_competition_id"), "scoring_holds", ["competition_id"])
    op.create_index(op.f("ix_scoring_holds_task_id"), "scoring_holds", ["task_id"])
    op.create_table(
        "refused_requests",
        sa.Column("hour", UtcDateTime(), nullable=False),
        sa.Column("rule", sa.String(length=40), nullable=False),
        sa.Column("who", sa.String(length=40), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("hour", "rule", "who", name=op.f("pk_refused_requests")),
    )


def downgrade() -> None:
    op.drop_table("refused_requests")
    op.drop_index(op.f("ix_scoring_holds_task_id"), "scoring_holds")
    op.drop_index(op.f("ix_scoring_holds_competition_id"), "scoring_holds")
    op.drop_table("scoring_holds")
    op.drop_index(op.f("ix_competition_blocks_user_id"), "competition_blocks")
    op.drop_table("competition_blocks")
    op.drop_index("uq_hidden_texts_hidden", "hidden_texts")
    op.drop_index(op.f("ix_hidden_texts_competition_id"), "hidden_texts")
    op.drop_index(op.f("ix_hidden_texts_author_id"), "hidden_texts")
    op.drop_table("hidden_texts")
    op.drop_index(op.f("ix_text_reports_competition_id"), "text_reports")
    op.drop_table("text_reports")
