"""Mail preferences in JSON."""

from __future__ import annotations

from pydantic import Field

from app.models import MailChoice
from app.people.mail_choices import MailKind, wants
from app.web.http.schemas import ApiModel, example


class MailChoices(ApiModel):
    """Mails besides those about the account itself, which are always sent."""

    model_config = example({"announcements": True, "results": False})

    announcements: bool = Field(description="of the organisers of competitions that one takes part in")
    results: bool = Field(description="when a submission of one's own was scored, rejected, or failed")


def mail_choices_out(choice: MailChoice | None) -> MailChoices:
    """Return the preferences as an API model; None: the defaults."""
    return MailChoices(
        announcements=wants(choice, MailKind.ANNOUNCEMENTS),
        results=wants(choice, MailKind.RESULTS),
    )
