"""Log-ins with providers, and the ORCID iD that people show.

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


def downgrade() -> None:
    for column in ("expires_at", "mailed_to_id", "linking_id"):
        op.drop_index(op.f(f"ix_provider_logins_{column}"), "provider_logins")
    op.drop_table("provider_logins")
    op.drop_index(op.f("ix_identities_user_id"), "identities")
    op.drop_table("identities")
    with op.batch_alter_table("users") as table:
        table.drop_column("orcid")
