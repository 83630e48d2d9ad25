"""Log-ins with providers, second factors, lists of log-ins, and the ORCID iD that people show.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import Json, UtcDateTime

revision: str = "0009"
down_revision: str | Sequence[str] | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("users") as table:
        table.add_column(sa.Column("orcid", sa.String(length=19), nullable=True))
    op.create_table(
        "identities",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("issuer", sa.String(length=300), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_identities_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identities")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_identities_issuer_subject")),
    )
    op.create_index(op.f("ix_identities_user_id"), "identities", ["user_id"])
    op.create_table(
        "provider_logins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("state_hash", sa.String(length=64), nullable=True),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("verifier", sa.String(length=128), nullable=False),
        sa.Column("following", sa.String(length=2000), nullable=False),
        sa.Column("linking_id", sa.Integer(), nullable=True),
        sa.Column("proved", Json, nullable=True),
        sa.Column("mailed_to_id", sa.Integer(), nullable=True),
        sa.Column("mailed_hash", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["linking_id"], ["users.id"], name=op.f("fk_provider_logins_linking_id_users")),
        sa.ForeignKeyConstraint(["mailed_to_id"], ["users.id"], name=op.f("fk_provider_logins_mailed_to_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_logins")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_provider_logins_secret_hash")),
    )
    for column in ("linking_id", "mailed_to_id", "expires_at"):
        op.create_index(op.f(f"ix_provider_logins_{column}"), "provider_logins", [column])
    with op.batch_alter_table("login_sessions") as table:
        table.add_column(sa.Column("way", sa.String(length=60), nullable=False, server_default=""))
        table.add_column(sa.Column("device", sa.String(length=100), nullable=False, server_default=""))
        table.add_column(sa.Column("seen_at", UtcDateTime(), nullable=True))
        table.add_column(sa.Column("second_at", UtcDateTime(), nullable=True))
        table.add_column(sa.Column("challenge", sa.String(length=100), nullable=True))
    with op.batch_alter_table("login_sessions") as table:
        table.alter_column("way", server_default=None)
        table.alter_column("device", server_default=None)
    op.create_table(
        "authenticators",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("last_step", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_authenticators_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_authenticators")),
    )
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("credential", sa.String(length=1400), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
        sa.UniqueConstraint("credential", name=op.f("uq_passkeys_credential")),
    )
    op.create_index(op.f("ix_passkeys_user_id"), "passkeys", ["user_id"])
    op.create_table(
        "recovery_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_codes")),
    )
    op.create_index(op.f("ix_recovery_codes_user_id"), "recovery_codes", ["user_id"])
    op.create_table(
        "second_steps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("following", sa.String(length=2000), nullable=False),
        sa.Column("way", sa.String(length=60), nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_second_steps_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_steps")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_second_steps_secret_hash")),
    )
    op.create_index(op.f("ix_second_steps_user_id"), "second_steps", ["user_id"])
    op.create_index(op.f("ix_second_steps_expires_at"), "second_steps", ["expires_at"])
    op.create_table(
        "known_devices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_known_devices_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_known_devices")),
        sa.UniqueConstraint("user_id", "secret_hash", name=op.f("uq_known_devices_user_id_secret_hash")),
    )


def downgrade() -> None:
    op.drop_table("known_devices")
    op.drop_index(op.f("ix_second_steps_expires_at"), "second_steps")
    op.drop_index(op.f("ix_second_steps_user_id"), "second_steps")
    op.drop_table("second_steps")
    op.drop_index(op.f("ix_recovery_codes_user_id"), "recovery_codes")
    op.drop_table("recovery_codes")
    op.drop_index(op.f("ix_passkeys_user_id"), "passkeys")
    op.drop_table("passkeys")
    op.drop_table("authenticators")
    with op.batch_alter_table("login_sessions") as table:
        for column in ("challenge", "second_at", "seen_at", "device", "way"):
            table.drop_column(column)
    for column in ("expires_at", "mailed_to_id", "linking_id"):
        op.drop_index(op.f(f"ix_provider_logins_{column}"), "provider_logins")
    op.drop_table("provider_logins")
    op.drop_index(op.f("ix_identities_user_id"), "identities")
    op.drop_table("identities")
    with op.batch_alter_table("users") as table:
        table.drop_column("orcid")
