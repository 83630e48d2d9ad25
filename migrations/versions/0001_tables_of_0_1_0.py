"""The tables of Evergold 0.1.0, in the order in which they refer to each other.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations.types import Json, UtcDateTime

revision: str = "0001"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REFUSAL = "the audit log is append-only"


def upgrade() -> None:
    _make_people()
    _make_competitions()
    _make_teams()
    _make_gold()
    _make_submissions()
    _make_boards()
    _make_judging()
    _make_messages()
    _make_server()
    _refuse_changes_of_the_audit_log()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change_of_audit_log()")


def _make_people() -> None:
    """Create accounts, tokens and log-ins, mails, and the audit log."""
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(length=100), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("email_confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("display_name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("is_administrator", sa.Boolean(), nullable=False),
        sa.Column("is_approved_organiser", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
        sa.UniqueConstraint("username", name=op.f("uq_users_username")),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("prefix", sa.String(length=12), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(length=100), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_api_tokens_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_tokens_secret_hash")),
    )
    op.create_index(op.f("ix_api_tokens_user_id"), "api_tokens", ["user_id"])
    op.create_table(
        "login_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("csrf_token", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_login_sessions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_sessions")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_login_sessions_secret_hash")),
    )
    op.create_index(op.f("ix_login_sessions_user_id"), "login_sessions", ["user_id"])
    op.create_table(
        "password_resets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=True),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_password_resets_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_resets")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_password_resets_secret_hash")),
    )
    op.create_index(op.f("ix_password_resets_user_id"), "password_resets", ["user_id"])
    op.create_table(
        "mail_choices",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("announcements", sa.Boolean(), nullable=False),
        sa.Column("results", sa.Boolean(), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_mail_choices_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_mail_choices")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        sa.Column("details", Json, nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_audit_log_actor_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index("ix_audit_log_subject", "audit_log", ["subject"])


def _make_competitions() -> None:
    """Create the declarations of organisers and their history."""
    op.create_table(
        "competitions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("website", sa.String(length=500), nullable=False),
        sa.Column("contact", sa.String(length=320), nullable=False),
        sa.Column("tracks", Json, nullable=False),
        sa.Column("method_card", Json, nullable=False),
        sa.Column("registration", Json, nullable=False),
        sa.Column("rankings", Json, nullable=False),
        sa.Column("citation", Json, nullable=False),
        sa.Column("teams", Json, nullable=False),
        sa.Column("images", Json, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("neutral_salt", sa.String(length=64), nullable=False),
        sa.Column("stage", sa.String(length=20), nullable=False),
        sa.Column("halt", sa.String(length=20), nullable=False),
        sa.Column("halt_reason", sa.Text(), nullable=False),
        sa.Column("life_version", sa.Integer(), nullable=False),
        sa.Column("delete_at", UtcDateTime(), nullable=True),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_competitions_owner_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
        sa.UniqueConstraint("name", name=op.f("uq_competitions_name")),
    )
    op.create_index(op.f("ix_competitions_owner_id"), "competitions", ["owner_id"])
    op.create_table(
        "outgoing_mail",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipient", sa.String(length=320), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("link", sa.String(length=20), nullable=True),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("next_attempt_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("unsubscribe", sa.String(length=500), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_outgoing_mail_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_outgoing_mail_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outgoing_mail")),
    )
    op.create_index("ix_outgoing_mail_status_next_attempt_at", "outgoing_mail", ["status", "next_attempt_at"])
    op.create_index(op.f("ix_outgoing_mail_competition_id"), "outgoing_mail", ["competition_id"])
    op.create_index(op.f("ix_outgoing_mail_user_id"), "outgoing_mail", ["user_id"])
    op.create_table(
        "competition_roles",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("granted_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_competition_roles_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_competition_roles_user_id_users")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", "role", name=op.f("pk_competition_roles")),
    )
    op.create_index(op.f("ix_competition_roles_user_id"), "competition_roles", ["user_id"])
    op.create_table(
        "phases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("starts_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=True),
        sa.Column("entry_rule", sa.String(length=20), nullable=False),
        sa.Column("choose_until", UtcDateTime(), nullable=True),
        sa.Column("without_choice", sa.String(length=20), nullable=False),
        sa.Column("ladder_step", sa.Double(), nullable=True),
        sa.Column("visibility", Json, nullable=False),
        sa.Column("carry_over", sa.String(length=100), nullable=True),
        sa.Column("has_snapshot", sa.Boolean(), nullable=False),
        sa.Column("submissions_per_day", sa.Integer(), nullable=True),
        sa.Column("submissions_per_week", sa.Integer(), nullable=True),
        sa.Column("submissions_per_month", sa.Integer(), nullable=True),
        sa.Column("submissions_total", sa.Integer(), nullable=True),
        sa.Column("rejected_per_hour", sa.Integer(), nullable=False),
        sa.Column("upload_limit_bytes", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.CheckConstraint("ends_at IS NULL OR starts_at < ends_at", name=op.f("ck_phases_ends_after_start")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_phases_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phases")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_phases_competition_id_name")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("task_type", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("options", Json, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_tasks_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_tasks_competition_id_name")),
    )
    op.create_table(
        "boards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("rank_metric", sa.String(length=100), nullable=False),
        sa.Column("rank_split", sa.String(length=100), nullable=False),
        sa.Column("columns", Json, nullable=False),
        sa.Column("track", sa.String(length=100), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_boards_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_boards_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boards")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_boards_competition_id_name")),
    )
    op.create_table(
        "phase_tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=True),
        sa.Column("items_sha256", sa.String(length=64), nullable=True),
        sa.Column("gold_version", sa.String(length=100), nullable=False),
        sa.Column("options", Json, nullable=False),
        sa.Column("entry", Json, nullable=False),
        sa.Column("limits", Json, nullable=False),
        sa.Column("visibility", Json, nullable=False),
        sa.Column("files_from", Json, nullable=False),
        sa.Column("files_for", Json, nullable=False),
        sa.Column("gold_is_public", sa.Boolean(), nullable=False),
        sa.Column("ranked_baselines", Json, nullable=False),
        sa.Column("private_part", Json, nullable=False),
        sa.Column("board_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_phase_tasks_phase_id_phases")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_phase_tasks_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phase_tasks")),
        sa.UniqueConstraint("phase_id", "task_id", name=op.f("uq_phase_tasks_phase_id_task_id")),
    )
    op.create_index(op.f("ix_phase_tasks_task_id"), "phase_tasks", ["task_id"])
    op.create_table(
        "public_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_public_files_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_public_files")),
        sa.UniqueConstraint("phase_task_id", "name", name=op.f("uq_public_files_phase_task_id_name")),
    )
    op.create_table(
        "historic_rows",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.Column("achieved_at", UtcDateTime(), nullable=True),
        sa.Column("scores", Json, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("paper", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_historic_rows_board_id_boards")),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_historic_rows_phase_id_phases")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_historic_rows")),
    )
    op.create_index("ix_historic_rows_phase_id_board_id", "historic_rows", ["phase_id", "board_id"])
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("author", sa.String(length=100), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("changes", Json, nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_revisions_author_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_revisions_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revisions")),
        sa.UniqueConstraint("competition_id", "number", name=op.f("uq_revisions_competition_id_number")),
    )
    op.create_table(
        "revision_files",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=300), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revisions.id"], name=op.f("fk_revision_files_revision_id_revisions")
        ),
        sa.PrimaryKeyConstraint("revision_id", "path", name=op.f("pk_revision_files")),
    )
    op.create_index(op.f("ix_revision_files_sha256"), "revision_files", ["sha256"])
    op.create_table(
        "role_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("address", sa.String(length=320), nullable=True),
        sa.Column("secret_hash", sa.String(length=64), nullable=True),
        sa.Column("invited_by_id", sa.Integer(), nullable=False),
        sa.Column("invited_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_role_invitations_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["invited_by_id"], ["users.id"], name=op.f("fk_role_invitations_invited_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_invitations")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_role_invitations_secret_hash")),
    )
    op.create_index(op.f("ix_role_invitations_competition_id"), "role_invitations", ["competition_id"])
    op.create_index(op.f("ix_role_invitations_address"), "role_invitations", ["address"])
    op.create_table(
        "blueprints",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("base", sa.Integer(), nullable=True),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.Column("warned_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_blueprints_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_blueprints_owner_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blueprints")),
    )
    op.create_index(op.f("ix_blueprints_owner_id"), "blueprints", ["owner_id"])
    op.create_table(
        "blueprint_files",
        sa.Column("blueprint_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=300), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["blueprint_id"], ["blueprints.id"], name=op.f("fk_blueprint_files_blueprint_id_blueprints")
        ),
        sa.PrimaryKeyConstraint("blueprint_id", "path", name=op.f("pk_blueprint_files")),
    )
    op.create_index(op.f("ix_blueprint_files_sha256"), "blueprint_files", ["sha256"])
    op.create_table(
        "image_files",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_image_files_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("competition_id", "sha256", name=op.f("pk_image_files")),
    )
    op.create_index(op.f("ix_image_files_sha256"), "image_files", ["sha256"])


def _make_teams() -> None:
    """Create teams and registrations."""
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("captain_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_turn_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["captain_id"], ["users.id"], name=op.f("fk_teams_captain_id_users")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_teams_competition_id_competitions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_teams_competition_id_name")),
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_team_members_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_team_members_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_team_members_user_id_users")),
        sa.PrimaryKeyConstraint("team_id", "user_id", name=op.f("pk_team_members")),
        sa.UniqueConstraint("competition_id", "user_id", name=op.f("uq_team_members_competition_id_user_id")),
    )
    op.create_table(
        "former_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", UtcDateTime(), nullable=True),
        sa.Column("left_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_former_members_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_former_members_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_former_members_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_members")),
    )
    op.create_index(op.f("ix_former_members_team_id"), "former_members", ["team_id"])
    op.create_index("ix_former_members_user_id_competition_id", "former_members", ["user_id", "competition_id"])
    op.create_table(
        "team_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_team_invitations_created_by_id_users")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_team_invitations_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_invitations")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_team_invitations_secret_hash")),
    )
    op.create_index(op.f("ix_team_invitations_team_id"), "team_invitations", ["team_id"])
    op.create_table(
        "registrations",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("registered_at", UtcDateTime(), nullable=False),
        sa.Column("terms_sha256", sa.String(length=64), nullable=True),
        sa.Column("terms_accepted_at", UtcDateTime(), nullable=True),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.Column("decided_by", sa.String(length=100), nullable=True),
        sa.Column("answers", Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_registrations_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_registrations_user_id_users")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_registrations")),
    )
    op.create_index("ix_registrations_competition_id_status", "registrations", ["competition_id", "status"])
    op.create_index(op.f("ix_registrations_user_id"), "registrations", ["user_id"])
    op.create_table(
        "accepted_terms",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_accepted_terms")),
    )
    op.create_table(
        "email_confirmations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_email_confirmations_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_confirmations")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_email_confirmations_secret_hash")),
    )
    op.create_index(op.f("ix_email_confirmations_user_id"), "email_confirmations", ["user_id"])


def _make_gold() -> None:
    """Create sealed files, their keys, versions of gold, and workers."""
    op.create_table(
        "sealed_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sealed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sealed_files")),
        sa.UniqueConstraint("sha256", name=op.f("uq_sealed_files_sha256")),
    )
    op.create_table(
        "sealed_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sealed_file_id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("sealed_key", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sealed_file_id"], ["sealed_files.id"], name=op.f("fk_sealed_keys_sealed_file_id_sealed_files")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sealed_keys")),
        sa.UniqueConstraint("sealed_file_id", "key_id", name=op.f("uq_sealed_keys_sealed_file_id_key_id")),
    )
    op.create_index(op.f("ix_sealed_keys_key_id"), "sealed_keys", ["key_id"])
    op.create_table(
        "gold_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("content_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sealed_file_id", sa.Integer(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("publish_when_valid", sa.Boolean(), nullable=False),
        sa.Column("check_state", sa.String(length=20), nullable=False),
        sa.Column("checked_at", UtcDateTime(), nullable=True),
        sa.Column("check_attempts", sa.Integer(), nullable=False),
        sa.Column("check_sent_at", UtcDateTime(), nullable=True),
        sa.Column("check_failure", sa.Text(), nullable=True),
        sa.Column("problems", Json, nullable=False),
        sa.Column("problems_omitted", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_gold_versions_created_by_id_users")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_gold_versions_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["sealed_file_id"], ["sealed_files.id"], name=op.f("fk_gold_versions_sealed_file_id_sealed_files")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gold_versions")),
        sa.UniqueConstraint("phase_task_id", "number", name=op.f("uq_gold_versions_phase_task_id_number")),
    )
    op.create_table(
        "worker_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("retired_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_keys")),
        sa.UniqueConstraint("key_id", name=op.f("uq_worker_keys_key_id")),
    )


def _make_submissions() -> None:
    """Create submissions, scoring runs, and rescorings."""
    op.create_table(
        "systems",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_systems_task_id_tasks")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_systems_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_systems")),
        sa.UniqueConstraint("team_id", "task_id", "name", name=op.f("uq_systems_team_id_task_id_name")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("track", sa.String(length=100), nullable=True),
        sa.Column("system_id", sa.Integer(), nullable=True),
        sa.Column("method", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("submitted_at", UtcDateTime(), nullable=False),
        sa.Column("file_cleared_at", UtcDateTime(), nullable=True),
        sa.Column("is_late", sa.Boolean(), nullable=False),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_submissions_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(["system_id"], ["systems.id"], name=op.f("fk_submissions_system_id_systems")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_submissions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint("user_id", "idempotency_key", name=op.f("uq_submissions_user_id_idempotency_key")),
    )
    op.create_index(op.f("ix_submissions_system_id"), "submissions", ["system_id"], unique=False)
    op.create_index("ix_submissions_phase_task_id_submitted_at", "submissions", ["phase_task_id", "submitted_at"])
    op.create_index(
        "ix_submissions_team_id_phase_task_id_submitted_at", "submissions", ["team_id", "phase_task_id", "submitted_at"]
    )
    op.create_table(
        "validations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("not_before", UtcDateTime(), nullable=True),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("claim_token", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.Column("problems", Json, nullable=False),
        sa.Column("problems_omitted", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["phase_task_id"],
            ["phase_tasks.id"],
            name=op.f("fk_validations_phase_task_id_phase_tasks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_validations_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validations")),
        sa.UniqueConstraint("user_id", "idempotency_key", name=op.f("uq_validations_user_id_idempotency_key")),
    )
    op.create_index(op.f("ix_validations_phase_task_id"), "validations", ["phase_task_id"])
    op.create_index("ix_validations_status_asked_at", "validations", ["status", "asked_at"])
    op.create_table(
        "rescorings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("with_rejected", sa.Boolean(), nullable=False),
        sa.Column("created_by_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("told_at", UtcDateTime(), nullable=True),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("difference", Json, nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rescorings_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["created_by_id"], ["users.id"], name=op.f("fk_rescorings_created_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescorings")),
    )
    op.create_index(op.f("ix_rescorings_competition_id"), "rescorings", ["competition_id"])
    op.create_table(
        "rescored_tasks",
        sa.Column("rescoring_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=False),
        sa.Column("gold_version_id", sa.Integer(), nullable=True),
        sa.Column("options", Json, nullable=False),
        sa.Column("items_sha256", sa.String(length=64), nullable=True),
        sa.Column("private_part", Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["gold_version_id"], ["gold_versions.id"], name=op.f("fk_rescored_tasks_gold_version_id_gold_versions")
        ),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_rescored_tasks_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["rescoring_id"], ["rescorings.id"], name=op.f("fk_rescored_tasks_rescoring_id_rescorings")
        ),
        sa.PrimaryKeyConstraint("rescoring_id", "phase_task_id", name=op.f("pk_rescored_tasks")),
    )
    op.create_index(op.f("ix_rescored_tasks_phase_task_id"), "rescored_tasks", ["phase_task_id"])
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=False),
        sa.Column("gold_version_id", sa.Integer(), nullable=True),
        sa.Column("task_version", sa.Integer(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("queued_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("not_before", UtcDateTime(), nullable=True),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("checked_at", UtcDateTime(), nullable=True),
        sa.Column("items_done", sa.Integer(), nullable=True),
        sa.Column("items_total", sa.Integer(), nullable=True),
        sa.Column("seconds_left", sa.Integer(), nullable=True),
        sa.Column("claim_token", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.Column("problems", Json, nullable=False),
        sa.Column("problems_omitted", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("item_results", sa.LargeBinary(), nullable=True),
        sa.Column("private_scores", Json, nullable=True),
        sa.Column("outcomes_id", sa.Integer(), nullable=True),
        sa.Column("rescoring_id", sa.Integer(), nullable=True),
        sa.Column("replaced_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["gold_version_id"], ["gold_versions.id"], name=op.f("fk_runs_gold_version_id_gold_versions")
        ),
        sa.ForeignKeyConstraint(["outcomes_id"], ["sealed_files.id"], name=op.f("fk_runs_outcomes_id_sealed_files")),
        sa.ForeignKeyConstraint(["replaced_id"], ["runs.id"], name=op.f("fk_runs_replaced_id_runs")),
        sa.ForeignKeyConstraint(["rescoring_id"], ["rescorings.id"], name=op.f("fk_runs_rescoring_id_rescorings")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_runs_submission_id_submissions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("rescoring_id", "submission_id", name=op.f("uq_runs_rescoring_id_submission_id")),
    )
    op.create_index("ix_runs_status_is_current_queued_at", "runs", ["status", "is_current", "queued_at"])
    op.create_index(op.f("ix_runs_submission_id"), "runs", ["submission_id"])
    op.create_index(
        "uq_runs_current",
        "runs",
        ["submission_id"],
        unique=True,
        sqlite_where=sa.text("is_current"),
        postgresql_where=sa.text("is_current"),
    )
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=100), nullable=False),
        sa.Column("split", sa.String(length=100), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(length=200), nullable=True),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.CheckConstraint("(value IS NULL) != (reason IS NULL)", name=op.f("ck_scores_value_or_reason")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_scores_run_id_runs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scores")),
        sa.UniqueConstraint("run_id", "metric", "split", name=op.f("uq_scores_run_id_metric_split")),
    )


def _make_boards() -> None:
    """Create choices of teams, frozen boards, and findings."""
    op.create_table(
        "entry_choices",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("chosen_at", UtcDateTime(), nullable=False),
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
        "standings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("is_whole", sa.Boolean(), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("ladder_value", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_standings_board_id_boards")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_standings_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_standings_run_id_runs")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_standings_team_id_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_standings")),
    )
    op.create_index(
        "ix_standings_phase_task_id_board_id_team_id", "standings", ["phase_task_id", "board_id", "team_id"]
    )
    op.create_index("ix_standings_phase_task_id_team_id", "standings", ["phase_task_id", "team_id"])
    op.create_table(
        "kept_boards",
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("rules", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_kept_boards_board_id_boards")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_kept_boards_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("phase_task_id", "board_id", name=op.f("pk_kept_boards")),
    )
    op.create_table(
        "tallies",
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_tallies_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_tallies_team_id_teams")),
        sa.PrimaryKeyConstraint("phase_task_id", "team_id", name=op.f("pk_tallies")),
    )
    op.create_table(
        "board_statistics",
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_board_statistics_board_id_boards")),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_board_statistics_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("phase_task_id", "board_id", name=op.f("pk_board_statistics")),
    )
    op.create_table(
        "run_statistics",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("before", Json, nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_statistics_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_statistics")),
    )
    op.create_table(
        "gold_power",
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("gold", sa.String(length=300), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_gold_power_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("phase_task_id", name=op.f("pk_gold_power")),
    )
    op.create_table(
        "statistics_work",
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("computed_for", sa.String(length=50), nullable=True),
        sa.Column("seen", sa.String(length=50), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.Column("waiting_since", UtcDateTime(), nullable=True),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_statistics_work_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("phase_task_id", name=op.f("pk_statistics_work")),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("board_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("closed_at", UtcDateTime(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_snapshots_board_id_boards")),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_snapshots_phase_id_phases")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("phase_id", "board_id", "number", name=op.f("uq_snapshots_phase_id_board_id_number")),
    )
    op.create_table(
        "method_cards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("document", Json, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["system_id"], ["systems.id"], name=op.f("fk_method_cards_system_id_systems")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_method_cards_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_method_cards")),
        sa.UniqueConstraint("system_id", "number", name=op.f("uq_method_cards_system_id_number")),
    )
    op.create_index(
        "uq_method_cards_current",
        "method_cards",
        ["system_id"],
        unique=True,
        sqlite_where=sa.text("is_current"),
        postgresql_where=sa.text("is_current"),
    )
    op.create_table(
        "allowances",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=True),
        sa.Column("is_ranked", sa.Boolean(), nullable=False),
        sa.Column("extra_per_day", sa.Integer(), nullable=False),
        sa.Column("extra_total", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("granted_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name=op.f("fk_allowances_phase_id_phases")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_allowances_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_allowances_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_allowances")),
        sa.UniqueConstraint("phase_id", "team_id", name=op.f("uq_allowances_phase_id_team_id")),
    )
    op.create_index(op.f("ix_allowances_team_id"), "allowances", ["team_id"])
    op.create_table(
        "file_downloads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("phase", sa.String(length=100), nullable=False),
        sa.Column("task", sa.String(length=100), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("downloaded_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_file_downloads_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_file_downloads_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_downloads")),
    )
    op.create_index("ix_file_downloads_competition_id_id", "file_downloads", ["competition_id", "id"])
    op.create_table(
        "row_marks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("set_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_row_marks_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_row_marks_submission_id_submissions")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_row_marks_team_id_teams")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_row_marks_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_row_marks")),
    )
    op.create_index(op.f("ix_row_marks_phase_task_id"), "row_marks", ["phase_task_id"])
    op.create_index(
        "uq_row_marks_submission",
        "row_marks",
        ["submission_id"],
        unique=True,
        sqlite_where=sa.text("submission_id IS NOT NULL"),
        postgresql_where=sa.text("submission_id IS NOT NULL"),
    )
    op.create_index(
        "uq_row_marks_team",
        "row_marks",
        ["phase_task_id", "team_id"],
        unique=True,
        sqlite_where=sa.text("submission_id IS NULL"),
        postgresql_where=sa.text("submission_id IS NULL"),
    )
    op.create_table(
        "line_changes",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("previous_id", sa.Uuid(), nullable=True),
        sa.Column("changed", sa.Integer(), nullable=True),
        sa.Column("of_lines", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["previous_id"], ["submissions.id"], name=op.f("fk_line_changes_previous_id_submissions")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_line_changes_submission_id_submissions")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_line_changes")),
    )
    op.create_table(
        "climbing_alerts",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_climbing_alerts_phase_task_id_phase_tasks")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_climbing_alerts_team_id_teams")),
        sa.PrimaryKeyConstraint("team_id", "phase_task_id", name=op.f("pk_climbing_alerts")),
    )


def _make_judging() -> None:
    """Create rounds of human judgement."""
    op.create_table(
        "judging_rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("phase_task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("items_per_language", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=True),
        sa.Column("results", Json, nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_judging_rounds_competition_id_competitions")
        ),
        sa.ForeignKeyConstraint(
            ["phase_task_id"], ["phase_tasks.id"], name=op.f("fk_judging_rounds_phase_task_id_phase_tasks")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judging_rounds")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_judging_rounds_competition_id_name")),
    )
    op.create_index(op.f("ix_judging_rounds_phase_task_id"), "judging_rounds", ["phase_task_id"])
    op.create_table(
        "judged_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("languages", Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["judging_rounds.id"], name=op.f("fk_judged_entries_round_id_judging_rounds")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_judged_entries_submission_id_submissions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judged_entries")),
        sa.UniqueConstraint("round_id", "submission_id", name=op.f("uq_judged_entries_round_id_submission_id")),
    )
    op.create_index(op.f("ix_judged_entries_submission_id"), "judged_entries", ["submission_id"])
    op.create_table(
        "judged_texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("item", sa.String(length=500), nullable=False),
        sa.Column("text_key", sa.String(length=64), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("paraphrase", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["judging_rounds.id"], name=op.f("fk_judged_texts_round_id_judging_rounds")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judged_texts")),
        sa.UniqueConstraint(
            "round_id", "language", "item", "text_key", name=op.f("uq_judged_texts_round_id_language_item_text_key")
        ),
    )
    op.create_table(
        "judging_annotators",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["round_id"], ["judging_rounds.id"], name=op.f("fk_judging_annotators_round_id_judging_rounds")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judging_annotators_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judging_annotators")),
        sa.UniqueConstraint("round_id", "language", "name", name=op.f("uq_judging_annotators_round_id_language_name")),
    )
    op.create_index(op.f("ix_judging_annotators_user_id"), "judging_annotators", ["user_id"])
    op.create_table(
        "judged_answers",
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["judged_entries.id"], name=op.f("fk_judged_answers_entry_id_judged_entries")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["judged_texts.id"], name=op.f("fk_judged_answers_text_id_judged_texts")),
        sa.PrimaryKeyConstraint("entry_id", "text_id", name=op.f("pk_judged_answers")),
    )
    op.create_index(op.f("ix_judged_answers_text_id"), "judged_answers", ["text_id"])
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("is_removed", sa.Boolean(), nullable=False),
        sa.Column("mwe_sense", sa.Integer(), nullable=True),
        sa.Column("rest_sense", sa.Integer(), nullable=True),
        sa.Column("naturalness", sa.Integer(), nullable=True),
        sa.Column("decided_at", UtcDateTime(), nullable=False),
        sa.CheckConstraint("mwe_sense BETWEEN 0 AND 3", name=op.f("ck_judgements_mwe_sense_range")),
        sa.CheckConstraint("naturalness BETWEEN 0 AND 3", name=op.f("ck_judgements_naturalness_range")),
        sa.CheckConstraint("rest_sense BETWEEN 0 AND 3", name=op.f("ck_judgements_rest_sense_range")),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["judging_annotators.id"], name=op.f("fk_judgements_annotator_id_judging_annotators")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["judged_texts.id"], name=op.f("fk_judgements_text_id_judged_texts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sa.UniqueConstraint("annotator_id", "text_id", name=op.f("uq_judgements_annotator_id_text_id")),
    )
    op.create_index("ix_judgements_text_id", "judgements", ["text_id"])


def _make_messages() -> None:
    """Create announcements and questions."""
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=False),
        sa.Column("edited_at", UtcDateTime(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
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
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.Column("answer_edited_at", UtcDateTime(), nullable=True),
        sa.Column("answered_by_id", sa.Integer(), nullable=True),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("closed_at", UtcDateTime(), nullable=True),
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


def _make_server() -> None:
    """Create heartbeats."""
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("host", sa.String(length=200), nullable=False),
        sa.Column("processes", sa.Integer(), nullable=False),
        sa.Column("queues", Json, nullable=False),
        sa.Column("device", sa.String(length=40), nullable=True),
        sa.Column("versions", Json, nullable=False),
        sa.Column("models", Json, nullable=False),
        sa.Column("self_check", sa.String(length=20), nullable=True),
        sa.Column("self_check_words", Json, nullable=False),
        sa.Column("comparisons", Json, nullable=False),
        sa.Column("self_checked_at", UtcDateTime(), nullable=True),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("seen_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"])
    op.create_table(
        "heartbeats",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("beat_at", UtcDateTime(), nullable=False),
        sa.Column("counts", Json, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_heartbeats")),
    )


def _refuse_changes_of_the_audit_log() -> None:
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
    for statement in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_log_refuses_{statement.lower()} BEFORE {statement} ON audit_log "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


TABLES = (
    "users",
    "api_tokens",
    "login_sessions",
    "password_resets",
    "mail_choices",
    "audit_log",
    "competitions",
    "outgoing_mail",
    "competition_roles",
    "phases",
    "tasks",
    "boards",
    "phase_tasks",
    "public_files",
    "historic_rows",
    "revisions",
    "revision_files",
    "role_invitations",
    "blueprints",
    "blueprint_files",
    "image_files",
    "teams",
    "team_members",
    "former_members",
    "team_invitations",
    "registrations",
    "accepted_terms",
    "email_confirmations",
    "sealed_files",
    "sealed_keys",
    "gold_versions",
    "worker_keys",
    "systems",
    "submissions",
    "validations",
    "rescorings",
    "rescored_tasks",
    "runs",
    "scores",
    "entry_choices",
    "standings",
    "kept_boards",
    "tallies",
    "board_statistics",
    "run_statistics",
    "gold_power",
    "statistics_work",
    "snapshots",
    "method_cards",
    "allowances",
    "file_downloads",
    "row_marks",
    "line_changes",
    "climbing_alerts",
    "judging_rounds",
    "judged_entries",
    "judged_texts",
    "judging_annotators",
    "judged_answers",
    "judgements",
    "announcements",
    "questions",
    "workers",
    "heartbeats",
)
