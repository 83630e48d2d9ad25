"""The API of mail preferences."""

from __future__ import annotations

from app.base.db import reading, writing
from app.people.mail_choices import MailKind, choice_of, choose
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiSubmitter, ApiUser
from app.web.http.routers import api_router
from app.web.people.mail_choices_schemas import MailChoices, mail_choices_out

router = api_router("accounts")


@router.get(
    "/me/mail",
    operation_id="read_mail_choices",
    summary="Which mails I get",
    responses=error_responses(401, 403),
)
def read_mail_choices(server: ServerHere, user: ApiUser) -> MailChoices:
    with reading(server.engine) as session:
        return mail_choices_out(choice_of(session, user))


@router.put(
    "/me/mail",
    operation_id="choose_mail",
    summary="Switch mails on or off",
    description="Mails about the account itself, such as a new password, are sent whatever is chosen here.",
    responses=error_responses(401, 403, 422),
)
def put_mail_choices(server: ServerHere, user: ApiSubmitter, form: MailChoices) -> MailChoices:
    wanted = {MailKind.ANNOUNCEMENTS: form.announcements, MailKind.RESULTS: form.results}
    with writing(server.engine) as session:
        choose(session, user, wanted)
        return mail_choices_out(choice_of(session, user))
