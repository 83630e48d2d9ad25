"""Archives of a person's data, deletions of accounts, consents; names in the audit log may be erased with an account.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import UtcDateTime

revision: str = "0012"
down_revision: str | Sequence[str] | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REFUSAL = "the audit log is append-only"
#: Columns of the audit log that never change.
_FIXED = ("id", "at", "actor_id", "action", "request_id")


def upgrade() -> None:
    op.create_table(
        "data_archives",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.Column("ready_at", UtcDateTime(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_data_archives_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_archives")),
    )
    op.create_index(op.f("ix_data_archives_user_id"), "data_archives", ["user_id"])
    op.create_index(op.f("ix_data_archives_ended_at"), "data_archives", ["ended_at"])
    op.create_table(
        "account_deletions",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("reminded_at", UtcDateTime(), nullable=True),
        sa.Column("told_at", UtcDateTime(), nullable=True),
        sa.Column("is_erasing", sa.Boolean(), nullable=False),
        sa.Column("done_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_account_deletions_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_account_deletions")),
    )
    op.create_index(op.f("ix_account_deletions_due_at"), "account_deletions", ["due_at"])
    op.create_table(
        "publication_consents",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("given_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_publication_consents_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_publication_consents_user_id_users")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_publication_consents")),
    )
    op.create_index(op.f("ix_publication_consents_user_id"), "publication_consents", ["user_id"])
    if op.get_bind().dialect.name == "postgresql":
        _let_names_be_erased_on_postgresql()
    else:
        _let_names_be_erased_on_sqlite()


def _let_names_be_erased_on_postgresql() -> None:
    same = " AND ".join(f"NEW.{name} IS NOT DISTINCT FROM OLD.{name}" for name in _FIXED)
    op.execute(
        f"""
        CREATE OR REPLACE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF {same} AND EXISTS (SELECT 1 FROM account_deletions WHERE is_erasing) THEN
                    RETURN NEW;
                END IF;
            END IF;
            RAISE EXCEPTION '{REFUSAL}';
        END $$
        """  # noqa: S608 - of names written above
    )


def _let_names_be_erased_on_sqlite() -> None:
    same = " AND ".join(f'NEW."{name}" IS OLD."{name}"' for name in _FIXED)
    allowed = f"{same} AND EXISTS (SELECT 1 FROM account_deletions WHERE is_erasing)"  # noqa: S608 - names from above
    op.execute("DROP TRIGGER audit_log_refuses_update")
    op.execute(
        f"CREATE TRIGGER audit_log_refuses_update BEFORE UPDATE ON audit_log WHEN NOT ({allowed}) "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"""
            CREATE OR REPLACE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$
            """
        )
    else:
        op.execute("DROP TRIGGER audit_log_refuses_update")
        op.execute(
            "CREATE TRIGGER audit_log_refuses_update BEFORE UPDATE ON audit_log "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )
    op.drop_index(op.f("ix_publication_consents_user_id"), "publication_consents")
    op.drop_table("publication_consents")
    op.drop_index(op.f("ix_account_deletions_due_at"), "account_deletions")
    op.drop_table("account_deletions")
    op.drop_index(op.f("ix_data_archives_ended_at"), "data_archives")
    op.drop_index(op.f("ix_data_archives_user_id"), "data_archives")
    op.drop_table("data_archives")
