"""Webhooks with their deliveries and the last boards sent; mails waiting for a digest, and its frequency.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import Json, UtcDateTime

revision: str = "0015"
down_revision: str | Sequence[str] | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

PACES = ("announcements_pace", "results_pace")
PACE = sa.String(length=20)


def upgrade() -> None:
    _make_webhooks()
    _make_deliveries()
    _make_boards()
    _make_digests()


def _make_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("form", sa.String(length=20), nullable=False),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("kinds", sa.String(length=300), nullable=False),
        sa.Column("address", sa.String(length=2000), nullable=False),
        sa.Column("bearer", sa.String(length=500), nullable=True),
        sa.Column("secret", sa.String(length=100), nullable=False),
        sa.Column("former_secret", sa.String(length=100), nullable=True),
        sa.Column("former_until", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("looked_at", UtcDateTime(), nullable=False),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.Column("disabled_why", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_webhooks_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_webhooks_team_id_teams")),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_webhooks_owner_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    for column in ("competition_id", "team_id", "owner_id"):
        op.create_index(op.f(f"ix_webhooks_{column}"), "webhooks", [column])


def _make_deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("about", Json, nullable=False),
        sa.Column("happened_at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("next_attempt_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("answered", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries_webhook_id_webhooks")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
    )
    due = ["status", "next_attempt_at"]
    op.create_index("ix_webhook_deliveries_status_next_attempt_at", "webhook_deliveries", due)
    op.create_index("ix_webhook_deliveries_webhook_id_id", "webhook_deliveries", ["webhook_id", "id"])


def _make_boards() -> None:
    op.create_table(
        "webhook_boards",
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(length=300), nullable=False),
        sa.Column("digest", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_boards_webhook_id_webhooks")),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_webhook_boards_phase_id_phases")),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_webhook_boards_board_id_boards")),
        sa.PrimaryKeyConstraint("webhook_id", "phase_id", "board_id", name=op.f("pk_webhook_boards")),
    )


def _make_digests() -> None:
    with op.batch_alter_table("mail_choices") as table:
        for name in PACES:
            table.add_column(sa.Column(name, PACE, nullable=False, server_default="at_once"))
    with op.batch_alter_table("mail_choices") as table:
        for name in PACES:
            table.alter_column(name, existing_type=PACE, existing_nullable=False, server_default=None)
    op.create_table(
        "digest_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("written_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_digest_items_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_digest_items_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_digest_items")),
    )
    for column in ("user_id", "competition_id", "due_at"):
        op.create_index(op.f(f"ix_digest_items_{column}"), "digest_items", [column])


def downgrade() -> None:
    for column in ("due_at", "competition_id", "user_id"):
        op.drop_index(op.f(f"ix_digest_items_{column}"), "digest_items")
    op.drop_table("digest_items")
    with op.batch_alter_table("mail_choices") as table:
        for name in reversed(PACES):
            table.drop_column(name)
    op.drop_table("webhook_boards")
    op.drop_index("ix_webhook_deliveries_webhook_id_id", "webhook_deliveries")
    op.drop_index("ix_webhook_deliveries_status_next_attempt_at", "webhook_deliveries")
    op.drop_table("webhook_deliveries")
    for column in ("owner_id", "team_id", "competition_id"):
        op.drop_index(op.f(f"ix_webhooks_{column}"), "webhooks")
    op.drop_table("webhooks")
