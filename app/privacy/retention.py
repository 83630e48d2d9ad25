"""Retention: the rules by which the sweep deletes data about people, as the privacy page words them.

Each rule takes its time from the settings, or from the code that applies it, so that the page is always correct.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, delete, or_
from sqlalchemy.orm import Session

from app.administration.refusals import BY_ACCOUNT_KEPT
from app.base.config import Settings
from app.declarations.bundle_uploads import KEPT as BUNDLE_KEPT
from app.models import (
    ApiToken,
    EmailConfirmation,
    FileDownload,
    KnownDevice,
    LoginSession,
    PasswordReset,
    ProviderLogin,
    SecondStep,
)
from app.people.logins import KNOWN_DAYS
from app.privacy.archives import forget_archives
from app.privacy.views import RetentionOut
from app.submissions.held_uploads import HELD
from app.submissions.validations import KEPT as CHECK_KEPT


def retention_rules(settings: Settings) -> list[RetentionOut]:
    """Return the rules of this server, in the order of the privacy page. days: None for data that are kept for ever."""

    def rule(name: str, data: str, days: int | None, note: str = "") -> RetentionOut:
        return RetentionOut(name=name, data=data, days=days or None, note=note)

    return [
        rule(
            "submissions", "Submissions, their scores and rows on boards", None, "boards are public and stay for ever"
        ),
        rule("rejected_files", "Files of rejected submissions", settings.rejected_days, "their error report stays"),
        rule("checked_files", "Results of validated files", CHECK_KEPT.days, "the file is deleted at once"),
        rule("held_uploads", "Uploaded files and bundles that were not submitted", max(HELD, BUNDLE_KEPT).days),
        rule("blueprints", "Unfinished declarations", settings.blueprint_days, "after the last change; a mail warns"),
        rule("drafts", "Drafts of competitions", settings.draft_days, "after the last change; a mail warns"),
        rule("mails", "Mails that were sent, without their text", settings.mail_days),
        rule("downloads", "Who downloaded which file for participants", settings.download_days),
        rule("logins", "Log-ins, API tokens and mailed links", settings.login_days, "after their end"),
        rule("refusals", "Requests that a limit refused, by account", BY_ACCOUNT_KEPT.days, "then only as numbers"),
        rule("webhooks", "What was sent to webhooks, and what they answered", settings.webhook_log_days),
        rule(
            "reports",
            "Reports of texts, and texts that organisers hid",
            None,
            "until their author's account is deleted",
        ),
        rule("devices", "Browsers that you logged in with", KNOWN_DAYS, "after the last log-in"),
        rule("archives", "Archives of your own data", settings.archive_days),
        rule("deletion", "Accounts to be deleted", settings.deletion_days, "until then you can cancel the deletion"),
        rule("audit", "Actions of organisers and administrators", None, "without a name once the account is deleted"),
    ]


def forget_expired(session: Session, settings: Settings, now: datetime) -> dict[str, int]:
    """Delete expired data for the rules that no other part of the sweep applies; return the numbers of rows."""
    ended = now - timedelta(days=settings.login_days)
    conditions = {
        LoginSession: LoginSession.expires_at <= ended,
        ApiToken: or_(ApiToken.revoked_at <= ended, ApiToken.expires_at <= ended),
        PasswordReset: or_(PasswordReset.expires_at <= ended, PasswordReset.ended_at <= ended),
        EmailConfirmation: EmailConfirmation.expires_at <= ended,
        ProviderLogin: ProviderLogin.expires_at <= ended,
        SecondStep: SecondStep.expires_at <= ended,
        KnownDevice: KnownDevice.seen_at <= now - timedelta(days=KNOWN_DAYS),
    }
    if settings.download_days:
        conditions[FileDownload] = FileDownload.downloaded_at <= now - timedelta(days=settings.download_days)
    forgotten = {}
    for table, is_over in conditions.items():
        first_key = next(iter(cast(Table, table.__table__).primary_key))
        gone = delete(table).where(is_over).returning(first_key).execution_options(synchronize_session=False)
        forgotten[table.__tablename__] = len(session.execute(gone).all())
    forget_archives(session, ended)
    return {name: count for name, count in forgotten.items() if count}
