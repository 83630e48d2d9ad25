"""scopes and expiry of tokens, password resets, the audit log, outgoing mail, signs of life

Tokens from before this may do all that they could, and do not expire.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

import app.base.db

revision: str = "0005"
down_revision: str | Sequence[str] | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REFUSAL = "the audit log is append-only"


def upgrade() -> None:
    with op.batch_alter_table("api_tokens") as batch_op:
        batch_op.add_column(
            sa.Column("scopes", sa.String(length=100), nullable=False, server_default="read submit organise")
        )
        batch_op.add_column(sa.Column("expires_at", app.base.db.UtcDateTime(), nullable=True))
    with op.batch_alter_table("api_tokens") as batch_op:
        batch_op.alter_column("scopes", existing_type=sa.String(length=100), server_default=None)
    op.create_table(
        "password_resets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("expires_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("ended_at", app.base.db.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_password_resets_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_resets")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_password_resets_secret_hash")),
    )
    op.create_index(op.f("ix_password_resets_user_id"), "password_resets", ["user_id"])
    op.create_table(
        "outgoing_mail",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipient", sa.String(length=320), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("next_attempt_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("ended_at", app.base.db.UtcDateTime(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outgoing_mail")),
    )
    op.create_index("ix_outgoing_mail_status_next_attempt_at", "outgoing_mail", ["status", "next_attempt_at"])
    op.create_table(
        "heartbeats",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("beat_at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("counts", app.base.db.Json, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_heartbeats")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", app.base.db.UtcDateTime(), nullable=False),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        sa.Column("details", app.base.db.Json, nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_audit_log_actor_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index("ix_audit_log_subject", "audit_log", ["subject"])
    if op.get_bind().dialect.name == "postgresql":
        _refuse_changes_on_postgresql()
    else:
        _refuse_changes_on_sqlite()


def _refuse_changes_on_postgresql() -> None:
    op.execute(
        f"""
        CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$
        """
    )
    for when, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        name = f"audit_log_refuses_{when.split()[0].lower()}"
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {when} ON audit_log "
            f"FOR EACH {each} EXECUTE FUNCTION refuse_change_of_audit_log()"
        )


def _refuse_changes_on_sqlite() -> None:
    for deed in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_log_refuses_{deed.lower()} BEFORE {deed} ON audit_log "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


def downgrade() -> None:
    op.drop_table("audit_log")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change_of_audit_log()")
    op.drop_table("heartbeats")
    op.drop_table("outgoing_mail")
    op.drop_table("password_resets")
    with op.batch_alter_table("api_tokens") as batch_op:
        batch_op.drop_column("expires_at")
        batch_op.drop_column("scopes")
