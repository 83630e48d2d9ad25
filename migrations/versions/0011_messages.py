"""announcements, questions, and who wants which mail

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0011"
down_revision: str | Sequence[str] | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("outgoing_mail", sa.Column("unsubscribe", sa.String(length=500), nullable=True))
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("published_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("edited_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("withdrawn_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("mailed_to", sa.String(length=200), nullable=False),
        sa.Column("mailed_count", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_announcements_author_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_announcements_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
        sa.UniqueConstraint("competition_id", "key", name=op.f("uq_announcements_competition_id_key")),
    )
    op.create_index(op.f("ix_announcements_competition_id"), "announcements", ["competition_id"])
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("asker_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("shows_name", sa.Boolean(), nullable=False),
        sa.Column("asked_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("answered_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("answer_edited_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("answered_by_id", sa.Integer(), nullable=True),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("closed_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("key", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(["answered_by_id"], ["users.id"], name=op.f("fk_questions_answered_by_id_users")),
        sa.ForeignKeyConstraint(["asker_id"], ["users.id"], name=op.f("fk_questions_asker_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_questions_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("asker_id", "key", name=op.f("uq_questions_asker_id_key")),
    )
    op.create_index(op.f("ix_questions_asker_id"), "questions", ["asker_id"])
    op.create_index(op.f("ix_questions_competition_id"), "questions", ["competition_id"])
    op.create_table(
        "mail_choices",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("announcements", sa.Boolean(), nullable=False),
        sa.Column("results", sa.Boolean(), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_mail_choices_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_mail_choices")),
    )


def downgrade() -> None:
    op.drop_table("mail_choices")
    op.drop_index(op.f("ix_questions_competition_id"), table_name="questions")
    op.drop_index(op.f("ix_questions_asker_id"), table_name="questions")
    op.drop_table("questions")
    op.drop_index(op.f("ix_announcements_competition_id"), table_name="announcements")
    op.drop_table("announcements")
    with op.batch_alter_table("outgoing_mail") as mail:
        mail.drop_column("unsubscribe")
