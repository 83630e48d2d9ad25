"""Log-ins with a provider: first pending in one browser, then an identity that opens an account.

An identity opens only the account that it is linked to. It is linked by the account's owner, who is logged in and
proves the ownership again by the account's password, or by a link mailed to its address and opened in the same browser.
An address verified by the provider suffices only if the operator of the server trusts the provider, and never for an
administrator's account.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import Forbidden, NameTaken, NotFound
from app.base.text import hash_of_secret
from app.models import Identity, MailLink, ProviderLogin, User
from app.people import audit, auth, mail
from app.people.account_blocks import check_account_not_blocked
from app.people.act import UserAct
from app.people.email_confirmations import believe
from app.people.mail import LINK_PLACE
from app.people.providers import Person, Secrets, is_orcid

#: Time limit from the button to the account, long enough for a mail to arrive.
MINUTES = 30
FOLLOWING_CHARACTERS = 2000

#: Contains nothing chosen by the requester, as the address may be a stranger's.
_ASKED = f"""\
Hello,

Somebody who logged in on {{server}} with {{provider}} claims the account with this address.
If it was you, open this link within {MINUTES} minutes, in the same browser:

{LINK_PLACE}

If it was not you, you can ignore this email: nothing was changed.
"""
_LINKED = """\
Hello {username},

{what} your account "{username}" on {address}.

If it was you, you are done. If not, log in there, remove what you do not recognise on the page "Logging in", set a new
password, and notify the people who run the server.
"""


def begin(
    session: Session, provider: str, following: str, now: datetime, *, linking: User | None = None
) -> tuple[str, Secrets]:
    """Begin a log-in; return the secret of the browser's cookie, and those for the provider.

    linking: the user who links the identity to an account instead of logging in.
    """
    session.execute(delete(ProviderLogin).where(ProviderLogin.expires_at <= now))
    cookie, made = secrets.token_urlsafe(32), Secrets(*(secrets.token_urlsafe(32) for _ in range(3)))
    session.add(
        ProviderLogin(
            secret_hash=hash_of_secret(cookie),
            provider=provider,
            state_hash=hash_of_secret(made.state),
            nonce=made.nonce,
            verifier=made.verifier,
            following=following if len(following) <= FOLLOWING_CHARACTERS else "",
            linking_id=linking.id if linking else None,
            created_at=now,
            expires_at=now + timedelta(minutes=MINUTES),
        )
    )
    session.flush()
    return cookie, made


def take_answer(
    session: Session, cookie: str, provider: str, state: str, now: datetime
) -> tuple[ProviderLogin, Secrets]:
    """Return the log-in that this response belongs to; no second response is accepted for it.

    Raises NotFound unless this browser began it with this provider, and the state matches.
    """
    under_way = (ProviderLogin.secret_hash == hash_of_secret(cookie)) & ProviderLogin.state_hash.is_not(None)
    found = session.scalar(select(ProviderLogin).where(under_way, ProviderLogin.expires_at > now).with_for_update())
    expected = found.state_hash or "" if found else ""
    if found is None or found.provider != provider or not hmac.compare_digest(expected, hash_of_secret(state)):
        raise _too_old()
    found.state_hash = None
    session.flush()
    return found, Secrets(state, found.nonce, found.verifier)


def keep_answer(session: Session, login_id: int, person: Person) -> None:
    """Store the identified person until the log-in has an account."""
    session.execute(update(ProviderLogin).where(ProviderLogin.id == login_id).values(proved=person.document()))


def find_answered(session: Session, cookie: str, now: datetime) -> tuple[ProviderLogin, Person]:
    """Return the log-in of this browser that still lacks an account. Raises NotFound."""
    found = session.scalar(
        select(ProviderLogin).where(
            ProviderLogin.secret_hash == hash_of_secret(cookie),
            ProviderLogin.state_hash.is_(None),
            ProviderLogin.linking_id.is_(None),
            ProviderLogin.expires_at > now,
        )
    )
    if found is None or not found.proved:
        raise _too_old()
    return found, Person(**found.proved)


def end(session: Session, login: ProviderLogin) -> None:
    """Delete a log-in that is finished."""
    session.execute(delete(ProviderLogin).where(ProviderLogin.id == login.id))


def _too_old() -> NotFound:
    return NotFound("This log-in has expired, or was started in another browser. Please start again.")


# ------------------------------------------------------------------------------------------------------- identities


def list_identities(session: Session, user: User) -> Sequence[Identity]:
    """List the identities that open the user's account, oldest first."""
    return session.scalars(select(Identity).where(Identity.user_id == user.id).order_by(Identity.id)).all()


def account_of(session: Session, person: Person, provider: str, settings: Settings, now: datetime) -> User | None:
    """Return the account that this identity opens; None if there is none yet.

    Raises Forbidden or Blocked if it cannot log in. If a trusted provider verified an address that is confirmed here,
    the identity is linked immediately.
    """
    same = (Identity.issuer == person.issuer) & (Identity.subject == person.subject)
    found = session.execute(select(Identity, User).join(User, User.id == Identity.user_id).where(same)).one_or_none()
    if found is not None:
        identity, user = found
        identity.last_used_at, identity.label = now, person.label
        if user.password_hash is None:
            raise Forbidden("This account cannot log in.")
        check_account_not_blocked(session, user)
        return user
    if not (settings.providers[provider].trusted and person.is_email_proved):
        return None
    confirmed = (User.email == person.email) & User.email_confirmed_at.is_not(None) & ~User.is_administrator
    owner = session.scalar(select(User).where(confirmed, User.password_hash.is_not(None)))
    if owner is not None:
        check_account_not_blocked(session, owner)
        link(UserAct(session, owner, now, settings), person, provider)
    return owner


def link(act: UserAct, person: Person, provider: str) -> None:
    """Link the identity to this account. Raises NameTaken if it opens another. provider: its name in the settings."""
    session = act.session
    same = (Identity.issuer == person.issuer) & (Identity.subject == person.subject)
    there = session.scalar(select(Identity.user_id).where(same))
    if there == act.user.id:
        return
    try:
        if there is not None:
            raise NameTaken(
                "This log-in already opens another account here. Unlink it there first; accounts cannot be merged."
            )
        with session.begin_nested():
            session.add(
                Identity(
                    user_id=act.user.id,
                    provider=provider,
                    issuer=person.issuer,
                    subject=person.subject,
                    label=person.label,
                    created_at=act.now,
                    last_used_at=None,
                )
            )
    except IntegrityError:  # linked in another request meanwhile
        raise NameTaken(
            "This log-in already opens another account here. Unlink it there first; accounts cannot be merged."
        ) from None
    details = {"provider": provider, "issuer": person.issuer, "subject": person.subject}
    act.record("identity.link", f"user {act.user.username}", details)
    _mail_change(session, act.user, f"{person.label} ({provider}) now opens", act.settings, act.now)


def unlink(session: Session, user: User, identity_id: int, settings: Settings, now: datetime) -> None:
    """Remove an identity from the account. Raises NotFound; Forbidden if it is the only way to log in."""
    session.execute(select(User.id).where(User.id == user.id).with_for_update())  # for concurrent removals
    known = list_identities(session, user)
    wanted = next((one for one in known if one.id == identity_id), None)
    if wanted is None:
        raise NotFound("You have not linked this log-in.")
    if len(known) == 1 and not (settings.passwords and has_password(session, user)):
        raise Forbidden("This is the only way into your account: link another one, or set a password first.")
    session.delete(wanted)
    if user.orcid == wanted.subject:
        session.execute(update(User).where(User.id == user.id).values(orcid=None))
    session.flush()
    details = {"provider": wanted.provider, "issuer": wanted.issuer, "subject": wanted.subject}
    audit.record(session, user, "identity.unlink", f"user {user.username}", details, now=now)
    _mail_change(session, user, f"{wanted.label} ({wanted.provider}) no longer opens", settings, now)


def proved_orcid(identities: Sequence[Identity], settings: Settings) -> str:
    """Return the ORCID iD among the user's identities; "" if there is none, or ORCID is no longer a provider."""
    issuers = {one.issuer_of(name) for name, one in settings.providers.items() if one.kind_of(name) == "orcid"}
    return next((one.subject for one in identities if one.issuer in issuers and is_orcid(one.subject)), "")


def show_orcid(session: Session, user: User, is_shown: bool, settings: Settings, now: datetime) -> None:
    """Show the user's ORCID iD to everybody who sees their teams and cards, or hide it. Raises NotFound."""
    orcid = proved_orcid(list_identities(session, user), settings)
    if is_shown and not orcid:
        raise NotFound("You have not linked an ORCID iD.")
    session.execute(update(User).where(User.id == user.id).values(orcid=orcid if is_shown else None))
    deed = "orcid.show" if is_shown else "orcid.hide"
    audit.record(session, user, deed, f"user {user.username}", now=now)


def has_password(session: Session, user: User) -> bool:
    """Return whether the account has a password now, even if `user` was loaded before."""
    return session.get_one(User, user.id, populate_existing=True).has_password


def _mail_change(session: Session, user: User, what: str, settings: Settings, now: datetime) -> None:
    body = _LINKED.format(what=what, username=user.username, address=public_address(settings, "/"))
    mail.send_mail(session, user, "How you log in was changed", body, now=now)


# --------------------------------------------------------------------------------------------------------- accounts


def open_account(
    session: Session,
    login: ProviderLogin,
    account: auth.NewAccount,
    settings: Settings,
    now: datetime,
) -> User:
    """Create an account that this log-in opens; return it. Raises InvalidForm, NameTaken, RegistrationClosed.

    The account's address counts only where the provider does not vouch for one; it is to be confirmed. An address that
    it vouches for is taken from an account that never confirmed it: registering first with somebody else's address
    gains nothing.
    """
    person = Person(**login.proved or {})
    if person.is_email_proved:
        account = replace(account, email=person.email)
        auth.release_address(session, account.email, now)
    user = auth.register_user(session, account, now, rules=settings)
    link(UserAct(session, user, now, settings), person, login.provider)
    if person.is_email_proved:
        believe(session, user, now, actor=f"log-in with {login.provider}")
    end(session, login)
    return user


def link_answered(session: Session, login: ProviderLogin, user: User, settings: Settings, now: datetime) -> None:
    """Link a log-in to the account of a user who proved to own it. Raises NameTaken."""
    link(UserAct(session, user, now, settings), Person(**login.proved or {}), login.provider)
    end(session, login)


def ask_by_mail(
    session: Session, login: ProviderLogin, email: str, title: str, settings: Settings, now: datetime
) -> None:
    """Mail a link to the account with this address; the same statements run if there is none. title: the provider's."""
    user = auth.find_user(session, email) if "@" in email else None
    login.mailed_to_id = user.id if user else None
    session.flush()
    body = _ASKED.replace("{server}", public_address(settings, "/")).replace("{provider}", title)
    mail.send_link(session, user, "Is this account yours?", body, MailLink.LOGIN, now)


def make_mailed(session: Session, user: User, settings: Settings, now: datetime) -> str:
    """Create a link, for the latest request, for a mail to the user's current address, at its delivery; return it."""
    is_pending = (ProviderLogin.mailed_to_id == user.id) & (ProviderLogin.expires_at > now)
    login = session.scalar(select(ProviderLogin).where(is_pending).order_by(ProviderLogin.id.desc()).limit(1))
    secret = secrets.token_urlsafe(32)
    if login is not None:
        login.mailed_hash = hash_of_secret(f"{secret} {user.email}")
        session.flush()
    return public_address(settings, f"/login/finish/link?link={secret}")


def find_mailed(session: Session, cookie: str, link_secret: str, now: datetime) -> tuple[ProviderLogin, Person, User]:
    """Return the log-in of this browser for this mailed link, the person and the account. Raises NotFound."""
    login, person = find_answered(session, cookie, now)
    user = session.get(User, login.mailed_to_id) if login.mailed_to_id else None
    expected = hash_of_secret(f"{link_secret} {user.email}") if user else ""
    if user is None or not hmac.compare_digest(login.mailed_hash or "", expected):
        raise NotFound("This link has expired. Open the latest one, in the browser in which you started.")
    return login, person, user


def link_mailed(session: Session, cookie: str, link_secret: str, settings: Settings, now: datetime) -> tuple[User, str]:
    """Link the log-in to the account that received the link; return it, and where to continue. Raises NotFound.

    An account with an unconfirmed address may belong to another person: all other access to it ends.
    """
    login, _, user = find_mailed(session, cookie, link_secret, now)
    check_account_not_blocked(session, user)
    if user.email_confirmed_at is None:
        auth.take_over(session, user, now)
        believe(session, user, now)
    link_answered(session, login, user, settings, now)
    return user, login.following
