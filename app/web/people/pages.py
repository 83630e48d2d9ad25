"""Pages of an account: registration, login, profile, tokens, mail preferences, role invitations."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, InvalidForm, LimitReached, NameTaken, NotAuthenticated
from app.models import Pace, TokenScope
from app.people import audit, auth, email_confirmations, password_resets
from app.people.digests import settle_held_back
from app.people.invitations import answer, competition_of_link, join_as_guest, own_invitations, what_for
from app.people.mail import MailKind, choose, find_link, mail_choices
from app.web.html.guards import (
    HOME,
    FormSender,
    OwnForm,
    PageForm,
    PageUserVisit,
    SentFields,
    SentForm,
    form_again,
    form_guard,
    local_path,
)
from app.web.html.rendering import check_form, render, render_page
from app.web.http import csrf
from app.web.http.context import ServerHere
from app.web.http.identity import SESSION_COOKIE, VisitorHere
from app.web.http.rate_limits import limits_of
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import PlainPageVisit, UserVisit
from app.web.people.log_in import log_in_page, log_in_ways, proved_first
from app.web.people.passwords import PasswordTurn, check_password, prove_again, register_account

router = page_router()

ACCOUNT = "/account"
#: Passes a new token through the redirect to the page that shows it, once; as safe as the session cookie.
NEW_TOKEN_COOKIE = "evergold_new_token"  # noqa: S105 - the cookie's name
NEW_TOKEN_SECONDS = 60
#: Scopes preselected in the form: enough to participate, nothing for organisers.
PROPOSED_SCOPES = (TokenScope.READ, TokenScope.SUBMIT)
SCOPE_WORDS = {
    TokenScope.READ: ("Read", "read everything that you may read"),
    TokenScope.SUBMIT: ("Submit", "submit predictions and take part in competitions"),
    TokenScope.CREATE: ("Create", "import bundles as new competitions"),
    TokenScope.ORGANISE: ("Organise", "organise your competitions"),
}
DONE = {
    "password": "Your password was changed; you were logged out everywhere else.",
    "email": "Your address was changed; confirm it as described below.",
    "confirmation": "A link was written for your address.",
    "mail": "Saved: you get mails as set below.",
}
#: The user who sends a form of this page.
Sender = Annotated[FormSender, Depends(form_guard(ACCOUNT))]


class TokenForm(PageForm):
    """The form for a new API token."""

    scopes: list[TokenScope] = []
    name: str = ""
    days: int = auth.TOKEN_DAYS


class PasswordForm(PageForm):
    """The form for a new password."""

    current_password: str = Field("", repr=False)
    password: str = Field("", repr=False)


class EmailForm(PageForm):
    """The form for a new email address. email_password: the password of the account."""

    email: str = ""
    email_password: str = Field("", repr=False)


SentOnAccount = TokenForm | PasswordForm | EmailForm
#: The page's name for the form with the error.
_WRONG: dict[type, str] = {
    TokenForm: "token",
    PasswordForm: "password",
    EmailForm: "email",
    type(None): "confirmation",
}


@router.get(ACCOUNT)
def read_account(visit: PageUserVisit, done: Annotated[str, Query(max_length=20)] = "") -> Response:
    secret = visit.request.cookies.get(NEW_TOKEN_COOKIE)
    response = _account_page(visit, secret=secret, done=DONE.get(done, ""))
    if secret:
        response.delete_cookie(NEW_TOKEN_COOKIE, path=ACCOUNT)
    return response


def _account_page(
    visit: UserVisit,
    form: SentOnAccount | None = None,
    secret: str | None = None,
    done: str = "",
    error: EvergoldError | None = None,
) -> Response:
    """Return the account page.

    form: the form with the error; None if there is no error, or if it is in the form that sends the link again.
    """
    session, user, now = visit.session, visit.user, visit.now
    tokens = auth.list_tokens(session, user)
    mails = mail_choices(session, user)
    confirmed = email_confirmations.is_confirmed(session, user)
    token = form if isinstance(form, TokenForm) else TokenForm(scopes=list(PROPOSED_SCOPES))
    return render_page(
        visit,
        "people/account.html",
        may_store=not secret,
        user=user,
        passwords=visit.server.settings.passwords,
        confirmed=confirmed,
        tokens=tokens,
        secret=secret,
        token=token,
        email=form.email if isinstance(form, EmailForm) else "",
        wrong=_WRONG[type(form)] if error else "",
        error=error,
        done=done,
        now=now,
        scope_words=SCOPE_WORDS,
        proposed=token.scopes,
        days_allowed=auth.TOKEN_DAYS_ALLOWED,
        paces=PACES,
        pace_titles={"": "", **PACES},
        mail_paces={
            MailKind.ANNOUNCEMENTS: str(mails.announcements_pace) if mails.announcements else NEVER,
            MailKind.RESULTS: str(mails.results_pace) if mails.results else NEVER,
        },
    )


@router.post("/account/tokens")
@form_again(_account_page, InvalidForm)
def create_token(sender: Sender, form: Annotated[TokenForm, Form()]) -> Response:
    now = sender.server.clock()
    with writing(sender.server.engine) as session:
        _, secret = auth.create_token(session, sender.user, form.name, now, scopes=form.scopes, days=form.days)
    response = RedirectResponse(f"{ACCOUNT}#new-token", 303)
    response.set_cookie(
        NEW_TOKEN_COOKIE,
        secret,
        max_age=NEW_TOKEN_SECONDS,
        path=ACCOUNT,
        httponly=True,
        samesite="strict",
        secure=sender.server.settings.secure_cookies,
    )
    return response


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(sender: Sender, token_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        auth.revoke_token(session, sender.user, token_id, sender.server.clock())
    return RedirectResponse(f"{ACCOUNT}#tokens", 303)


@router.post("/account/password")
@form_again(_account_page, InvalidForm, LimitReached)
def change_password(sender: Sender, turn: PasswordTurn, form: Annotated[PasswordForm, Form()]) -> Response:
    now = sender.server.clock()
    prove_again(sender, form.current_password, "current_password")
    with writing(sender.server.engine) as session:
        auth.set_password(session, sender.user, form.password, now, keep=sender.login)
        audit.record(session, sender.user, "password.change", f"user {sender.user.username}", now=now)
        password_resets.mail_account_changed(session, sender.user, "The password", sender.server.settings, now)
    return RedirectResponse(f"{ACCOUNT}?done=password", 303)


@router.post("/account/email")
@form_again(_account_page, InvalidForm, NameTaken, LimitReached)
def change_email(sender: Sender, turn: PasswordTurn, form: Annotated[EmailForm, Form()]) -> Response:
    """Change the address, and notify the old one, in case somebody other than the owner changed it."""
    now = sender.server.clock()
    prove_again(sender, form.email_password, "email_password")
    with writing(sender.server.engine) as session:
        password_resets.mail_account_changed(session, sender.user, "The e-mail address", sender.server.settings, now)
        auth.set_email(session, sender.user, form.email, now, rules=sender.server.settings)
        if not email_confirmations.is_confirmed(session, sender.user):
            email_confirmations.send_link(session, sender.user, sender.server.settings, now)
        audit.record(session, sender.user, "email.change", f"user {sender.user.username}", now=now)
    return RedirectResponse(f"{ACCOUNT}?done=email", 303)


@router.post("/account/confirm-email/send")
@form_again(_account_page, LimitReached)
def send_confirmation(sender: Sender) -> Response:
    """Send the confirmation link again; the limit is that of mails for a forgotten password."""
    now, limits = sender.server.clock(), limits_of(sender.request)
    with writing(sender.server.engine) as session:
        if not email_confirmations.is_confirmed(session, sender.user):
            limits.hit(limits.rules.confirmations, f"user {sender.user.id}", now)
            email_confirmations.send_link(session, sender.user, sender.server.settings, now)
    return RedirectResponse(f"{ACCOUNT}?done=confirmation", 303)


OWN = "/invitations"
#: The secret is not part of the path, because paths are logged.
JOIN = "/join"
Secret = Annotated[str, Query(max_length=200)]
FromOwn = Annotated[FormSender, Depends(form_guard(OWN))]


@router.get(OWN)
def read_invitations(visit: PageUserVisit) -> Response:
    found = own_invitations(visit.session, visit.user, visit.now)
    return render_page(visit, "people/invitations.html", invitations=found, what_for=what_for)


@router.post(f"{OWN}/{{invitation_id}}/accept")
def send_acceptance(sender: FromOwn, invitation_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        competition = answer(session, sender.user, invitation_id, True, sender.server.clock())
        return RedirectResponse(links.competition(competition.name), 303)


@router.post(f"{OWN}/{{invitation_id}}/decline")
def send_refusal(sender: FromOwn, invitation_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        answer(session, sender.user, invitation_id, False, sender.server.clock())
    return RedirectResponse(OWN, 303)


@router.get(JOIN)
def read_link(visit: PageUserVisit, link: Secret = "") -> Response:
    found = competition_of_link(visit.session, link, visit.now)
    return render_page(visit, "people/join.html", may_store=False, competition=found, secret=link)


@router.post(JOIN)
def send_link(sender: SentForm, form: SentFields) -> Response:
    with writing(sender.server.engine) as session:
        competition = join_as_guest(session, sender.user, form.get("link", ""), sender.server.clock())
        return RedirectResponse(links.competition(competition.name), 303)


NextPath = Annotated[str, Query(alias="next")]


class LoginForm(PageForm):
    """A log-in. username: a user name or an email address; following: where to continue afterwards."""

    username: str = ""
    password: str = Field("", repr=False)
    following: str = Field("", alias="next")


class AccountForm(PageForm):
    """A new account; following: as in LoginForm."""

    username: str = ""
    email: str = ""
    display_name: str = ""
    password: str = Field("", repr=False)
    following: str = Field("", alias="next")


@router.get("/login")
def read_login(
    request: Request,
    visitor: VisitorHere,
    following: NextPath = "",
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    return _login_page(request, LoginForm(following=following), done)


def _login_page(request: Request, form: LoginForm, done: str = "", error: EvergoldError | None = None) -> Response:
    return log_in_page(request, username=form.username, following=form.following, done=done, error=error)


@router.post("/login", dependencies=[OwnForm])
@form_again(_login_page, NotAuthenticated, LimitReached)
def log_in(request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[LoginForm, Form()]) -> Response:
    user = check_password(request, server, username=form.username, password=form.password)
    return proved_first(request, server, user, form.following, "password")


@router.get("/register")
def read_register(request: Request, visitor: VisitorHere, following: NextPath = "") -> Response:
    if visitor.user is not None:
        return RedirectResponse(local_path(following), 303)
    if not request.app.state.server.settings.passwords:
        return RedirectResponse(f"/login?next={quote(following)}" if following else "/login", 303)
    return _register_page(request, AccountForm(following=following))


def _register_page(request: Request, form: AccountForm, error: EvergoldError | None = None) -> Response:
    ways = log_in_ways(request.app.state.server.settings)
    return render(request, "people/register.html", following=form.following, typed=form, ways=ways, error=error)


@router.post("/register", dependencies=[OwnForm])
@form_again(_register_page, InvalidForm, NameTaken, LimitReached)
def register(
    request: Request, server: ServerHere, turn: PasswordTurn, form: Annotated[AccountForm, Form()]
) -> Response:
    account = auth.NewAccount(form.username, form.email, form.password, form.display_name)
    user = register_account(request, server, account)
    return proved_first(request, server, user, form.following, "password")


@router.post("/logout")
def log_out(request: Request, server: ServerHere, visitor: VisitorHere, fields: SentFields) -> Response:
    secret = request.cookies.get(SESSION_COOKIE)
    if secret and visitor.login is not None:
        check_form(request, fields.get(csrf.FORM_FIELD))
        with writing(server.engine) as session:
            auth.end_session(session, secret)
    response = RedirectResponse(HOME, 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


LINK_CHARACTERS = 200
ONE_CLICK = "One-Click"
WORDS = {
    MailKind.ANNOUNCEMENTS: "with announcements of competitions",
    MailKind.RESULTS: "about results of submissions",
    MailKind.DIGESTS: "that gather news",
}
#: The options for how often mails are sent: never, or a pace.
NEVER: Literal["none"] = "none"
PACES = {
    str(Pace.AT_ONCE): "At once",
    str(Pace.DAILY): "Once a day, together",
    str(Pace.WEEKLY): "Once a week, together",
    NEVER: "Never",
}


class ChoicesForm(PageForm):
    """The interval at which a user wants mails of each kind."""

    announcements: Pace | Literal["none"] = NEVER
    results: Pace | Literal["none"] = NEVER

    def chosen(self) -> dict[MailKind, Pace | None]:
        """Return the pace of each kind; None for never."""
        choices = {MailKind.ANNOUNCEMENTS: self.announcements, MailKind.RESULTS: self.results}
        return {kind: None if one == NEVER else Pace(one) for kind, one in choices.items()}


class UnsubscribeForm(PageForm):
    """A request to unsubscribe. one_click: sent by mail programs; link: empty if it is still in the address."""

    link: str = Field("", max_length=LINK_CHARACTERS)
    one_click: str = Field("", alias="List-Unsubscribe", max_length=40)


LinkParameter = Annotated[str, Query(max_length=LINK_CHARACTERS)]


@router.get("/mail/unsubscribe")
def read_unsubscribe(visit: PlainPageVisit, link: LinkParameter = "") -> Response:
    user, kind = find_link(visit.session, link)
    return _mail_choices_page(visit.request, user.username, kind, link, done=False)


@router.post("/mail/unsubscribe")
def send_unsubscribe(
    request: Request,
    server: ServerHere,
    visitor: VisitorHere,
    form: Annotated[UnsubscribeForm, Form()],
    fields: SentFields,
    link: LinkParameter = "",
) -> Response:
    """Unsubscribe the link's user. Mail programs send List-Unsubscribe=One-Click without a cookie; the link is the
    proof.
    """
    if form.one_click != ONE_CLICK:
        check_form(request, fields.get(csrf.FORM_FIELD))
    with writing(server.engine) as session:
        user, kind = find_link(session, form.link or link)
        choose(session, user, {kind: False})
        settle_held_back(session, user, server.clock())
    return _mail_choices_page(request, user.username, kind, "", done=True)


@router.post("/account/mail")
def send_choices(
    sender: Annotated[FormSender, Depends(form_guard("/account"))], form: Annotated[ChoicesForm, Form()]
) -> Response:
    chosen = form.chosen()
    wanted = {kind: pace is not None for kind, pace in chosen.items()}
    with writing(sender.server.engine) as session:
        choose(session, sender.user, wanted, {kind: pace for kind, pace in chosen.items() if pace is not None})
        settle_held_back(session, sender.user, sender.server.clock())
    return RedirectResponse("/account?done=mail", 303)


def _mail_choices_page(request: Request, username: str, kind: MailKind, link: str, *, done: bool) -> Response:
    return render(
        request, "people/unsubscribe.html", may_store=False, username=username, what=WORDS[kind], link=link, done=done
    )
