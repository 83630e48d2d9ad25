"""Second factors: codes from an app (TOTP), passkeys (WebAuthn), and recovery codes for people who have lost both.

Users who have one log in with it after the password or the provider. Recovery codes supplement a factor, but are not
one. Adding the first factor ends all other log-ins, because they have none.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.errors import Forbidden, InvalidForm, NotAuthenticated, NotFound
from app.base.live_settings import PRODUCT, Required
from app.base.text import PLEASE_CORRECT, hash_of_secret, one_line
from app.models import (
    Authenticator,
    Competition,
    CompetitionRole,
    LoginSession,
    Passkey,
    RecoveryCode,
    Role,
    SecondStep,
    User,
)
from app.people import audit
from app.people.account_blocks import check_account_not_blocked
from app.people.act import UserAct
from app.people.passkeys import Site, verified_answer, verified_key
from app.people.password_resets import mail_account_changed
from evergold.scoring.characters import can_be_name

CODES = 10
_CODE_BYTES = 10
STEP_MINUTES = 10
#: Maximum number of wrong codes after one password; then the log-in starts again.
TRIES = 5
#: Accepted time steps (30 s each) before and after the current one, because clocks differ.
_WINDOW = (0, -1, 1)
NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Factors:
    """The second factors of an account. authenticator: when the app was confirmed; codes: number of recovery codes
    left.
    """

    authenticator: datetime | None
    passkeys: Sequence[Passkey]
    codes: int

    @property
    def is_set_up(self) -> bool:
        """True if logging in requires a second factor."""
        return self.authenticator is not None or bool(self.passkeys)


def factors_of(session: Session, user: User) -> Factors:
    """Return the second factors of this user."""
    app = session.get(Authenticator, user.id)
    keys = session.scalars(select(Passkey).where(Passkey.user_id == user.id).order_by(Passkey.id)).all()
    unused = (RecoveryCode.user_id == user.id) & RecoveryCode.used_at.is_(None)
    return Factors(
        app.confirmed_at if app else None, keys, len(session.scalars(select(RecoveryCode.id).where(unused)).all())
    )


def has_second_factor(session: Session, user: User) -> bool:
    """Return whether logging in requires a second factor."""
    app = exists().where(Authenticator.user_id == user.id, Authenticator.confirmed_at.is_not(None))
    return bool(session.scalar(select(or_(app, exists().where(Passkey.user_id == user.id)))))


def is_required(session: Session, user: User, required: Required) -> bool:
    """Return whether the settings of the server require a second factor of this user."""
    if required == "optional":
        return False
    if user.is_administrator or required == "administrators":
        return user.is_administrator
    role = exists().where(CompetitionRole.user_id == user.id, CompetitionRole.role == Role.ORGANISER)
    return bool(session.scalar(select(or_(role, exists().where(Competition.owner_id == user.id)))))


# ------------------------------------------------------------------------------------------------------ setting up


def begin_authenticator(session: Session, user: User, now: datetime, server_name: str = PRODUCT) -> str:
    """Return the address for the authenticator app, with a new secret, which is confirmed by a code. Raises Forbidden.

    server_name: as the app shows it.
    """
    import pyotp

    known = session.get(Authenticator, user.id, with_for_update=True)
    if known is not None and known.confirmed_at is not None:
        raise Forbidden("You have already set up an app: remove it first.")
    if known is not None:
        session.delete(known)
        session.flush()
    secret = pyotp.random_base32()
    session.add(Authenticator(user_id=user.id, secret=secret, created_at=now, confirmed_at=None, last_step=None))
    session.flush()
    return _address(secret, user, server_name)


def pending_authenticator(session: Session, user: User, server_name: str = PRODUCT) -> tuple[str, str]:
    """Return the address for an app that is not confirmed yet, and its secret. Raises NotFound."""
    known = session.get(Authenticator, user.id)
    if known is None or known.confirmed_at is not None:
        raise NotFound("No app is waiting for its first code: start setting it up again.")
    return _address(known.secret, user, server_name), known.secret


def _address(secret: str, user: User, server_name: str) -> str:
    import pyotp

    return pyotp.TOTP(secret).provisioning_uri(name=user.username, issuer_name=server_name)


def confirm_authenticator(act: UserAct, login: LoginSession, code: str) -> None:
    """Confirm the app by the first code that it shows; from then on it is a second factor. Raises InvalidForm,
    NotFound.
    """
    session = act.session
    pending_authenticator(session, act.user)
    if not _take_app_code(session, act.user, code, act.now, is_confirmed=False):
        raise InvalidForm(PLEASE_CORRECT, fields={"code": "This is not the current code of the app."})
    _note_new(session, act.user, login, act.now)
    session.execute(update(Authenticator).where(Authenticator.user_id == act.user.id).values(confirmed_at=act.now))
    _mail_change(session, act.user, "authenticator.add", act.settings, act.now)


def add_passkey(act: UserAct, login: LoginSession, sent: tuple[str, str], site: Site) -> None:
    """Add a passkey. sent: the browser's response, and a name for it. Raises InvalidForm."""
    session = act.session
    answer, name = sent[0], one_line(sent[1]) or "Passkey"
    if len(name) > NAME_CHARACTERS or not can_be_name(name):
        raise InvalidForm(PLEASE_CORRECT, fields={"name": f"At most {NAME_CHARACTERS} printable characters."})
    challenge = session.scalar(select(LoginSession.challenge).where(LoginSession.id == login.id).with_for_update())
    session.execute(update(LoginSession).where(LoginSession.id == login.id).values(challenge=None))
    key = verified_key(answer, challenge or "", site) if challenge else None
    if key is None:
        raise InvalidForm("This passkey could not be added. Please try again.", fields={"name": "Please try again."})
    row = Passkey(
        user_id=act.user.id,
        credential=key.credential,
        public_key=key.public_key,
        sign_count=key.sign_count,
        name=name,
        created_at=act.now,
        last_used_at=None,
    )
    _note_new(session, act.user, login, act.now)
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        raise InvalidForm(
            "You have already added this passkey.", fields={"name": "You have already added it."}
        ) from None
    _mail_change(session, act.user, "passkey.add", act.settings, act.now)


def keep_challenge(session: Session, login: LoginSession, challenge: str) -> None:
    """Store the challenge of a passkey that is being added."""
    session.execute(update(LoginSession).where(LoginSession.id == login.id).values(challenge=challenge))


def _note_new(session: Session, user: User, login: LoginSession, now: datetime) -> None:
    """Record that this log-in has a second factor; if it is the first, end all other log-ins, which have none."""
    if not has_second_factor(session, user):
        session.execute(delete(LoginSession).where(LoginSession.user_id == user.id, LoginSession.id != login.id))
    session.execute(update(LoginSession).where(LoginSession.id == login.id).values(second_at=now))


def new_codes(session: Session, user: User, settings: Settings, now: datetime) -> list[str]:
    """Replace the recovery codes; return the new ones, which are shown only once. Raises Forbidden without a second
    factor.
    """
    if not has_second_factor(session, user):
        raise Forbidden("Recovery codes replace a second factor: set one up first.")
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    codes = [_new_code() for _ in range(CODES)]
    session.add_all(RecoveryCode(user_id=user.id, code_hash=_code_hash(code), used_at=None) for code in codes)
    _mail_change(session, user, "recovery_codes.make", settings, now)
    return codes


def _new_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def _code_hash(code: str) -> str:
    return hash_of_secret("".join(one for one in code.lower() if one.isalnum()))


# -------------------------------------------------------------------------------------------------------- removing


def remove_authenticator(session: Session, user: User, settings: Settings, now: datetime) -> None:
    """Remove the app. Raises NotFound."""
    gone = session.execute(
        delete(Authenticator).where(Authenticator.user_id == user.id).returning(Authenticator.user_id)
    )
    if gone.first() is None:
        raise NotFound("You have not set up an app.")
    _removed(session, user, "authenticator.remove", settings, now)


def remove_passkey(session: Session, user: User, passkey_id: int, settings: Settings, now: datetime) -> None:
    """Remove a passkey of this user. Raises NotFound for those of other users."""
    mine = (Passkey.id == passkey_id) & (Passkey.user_id == user.id)
    if session.execute(delete(Passkey).where(mine).returning(Passkey.id)).first() is None:
        raise NotFound("You have no such passkey.")
    _removed(session, user, "passkey.remove", settings, now)


def clear(session: Session, user: User, settings: Settings, now: datetime, *, actor: User | str | None) -> bool:
    """Remove all second factors of a user who has lost them, and end all log-ins; return False if there were none.

    actor: as for `audit.record`.
    """
    there = has_second_factor(session, user)
    forget(session, user)
    session.execute(delete(LoginSession).where(LoginSession.user_id == user.id))
    audit.record(session, actor, "second_factor.clear", f"user {user.username}", now=now)
    mail_account_changed(session, user, "The second factor", settings, now)
    return there


def forget(session: Session, user: User) -> None:
    """Delete all second factors of this user."""
    for table in (Authenticator, Passkey, RecoveryCode, SecondStep):
        session.execute(delete(table).where(table.user_id == user.id))


def _removed(session: Session, user: User, deed: str, settings: Settings, now: datetime) -> None:
    if not has_second_factor(session, user):
        forget(session, user)
        session.execute(update(LoginSession).where(LoginSession.user_id == user.id).values(second_at=None))
    _mail_change(session, user, deed, settings, now)


def _mail_change(session: Session, user: User, deed: str, settings: Settings, now: datetime) -> None:
    audit.record(session, user, deed, f"user {user.username}", now=now)
    mail_account_changed(session, user, "The second factor", settings, now)


# ------------------------------------------------------------------------------------------------------ logging in


def begin_step(session: Session, user: User, following: str, way: str, now: datetime) -> str:
    """Begin the second step for a user whose first factor was verified; return the secret of its cookie.

    Raises Blocked.
    """
    check_account_not_blocked(session, user)
    session.execute(delete(SecondStep).where(SecondStep.expires_at <= now))
    secret = secrets.token_urlsafe(32)
    session.add(
        SecondStep(
            secret_hash=hash_of_secret(secret),
            user_id=user.id,
            following=following if len(following) <= 2000 else "",
            way=way,
            challenge=secrets.token_urlsafe(32),
            expires_at=now + timedelta(minutes=STEP_MINUTES),
        )
    )
    session.flush()
    return secret


def find_step(session: Session, cookie: str, now: datetime) -> SecondStep:
    """Return the second step of this browser. Raises NotFound."""
    mine = (SecondStep.secret_hash == hash_of_secret(cookie)) & (SecondStep.expires_at > now)
    found = session.scalar(select(SecondStep).where(mine, SecondStep.tries < TRIES))
    if found is None:
        raise NotFound("This log-in has expired, or too many codes were wrong. Please start again.")
    return found


def take_try(session: Session, cookie: str, now: datetime) -> SecondStep:
    """Count an attempt before it is checked, so that concurrent attempts cannot exceed the limit. Raises NotFound."""
    found = find_step(session, cookie, now)
    counted = update(SecondStep).where(SecondStep.id == found.id, SecondStep.tries < TRIES)
    if session.execute(counted.values(tries=SecondStep.tries + 1).returning(SecondStep.id)).first() is None:
        raise NotFound("Too many codes were wrong. Please start again.")
    return found


def prove_code(session: Session, step: SecondStep, code: str, settings: Settings, now: datetime) -> User:
    """End the step with a code from the app or a recovery code; return the user. Raises NotAuthenticated."""
    user = session.get_one(User, step.user_id)
    if not _take_app_code(session, user, code, now, is_confirmed=True):
        _take_recovery_code(session, user, code, settings, now)
    return _ended(session, step, user)


def prove_passkey(session: Session, step: SecondStep, answer: str, site: Site | None, now: datetime) -> User:
    """End the step with a passkey's response; return the user. Raises NotAuthenticated."""
    user = session.get_one(User, step.user_id)
    mine = select(Passkey).where(Passkey.user_id == user.id).with_for_update()
    keys = {key.credential: key for key in session.scalars(mine)}
    known = {name: (key.public_key, key.sign_count) for name, key in keys.items()}
    found = verified_answer(answer, step.challenge, known, site) if site else None
    if found is None:
        raise NotAuthenticated("This passkey could not be used. Please try again, or enter a code.")
    keys[found.credential].sign_count, keys[found.credential].last_used_at = found.sign_count, now
    return _ended(session, step, user)


def _ended(session: Session, step: SecondStep, user: User) -> User:
    """Delete the step and return its user; raise NotAuthenticated if another request ended it, or Blocked."""
    check_account_not_blocked(session, user)
    gone = session.execute(delete(SecondStep).where(SecondStep.id == step.id).returning(SecondStep.id))
    if gone.first() is None or user.password_hash is None:
        raise NotAuthenticated("This log-in has ended already.")
    return user


def _take_app_code(session: Session, user: User, code: str, now: datetime, *, is_confirmed: bool) -> bool:
    """Return whether the app shows this code, which is accepted once. is_confirmed: whether the app was confirmed."""
    import pyotp

    app = session.get(Authenticator, user.id)
    digits = "".join(code.split())
    if app is None or (app.confirmed_at is not None) is not is_confirmed or not (digits.isascii() and digits.isdigit()):
        return False
    totp = pyotp.TOTP(app.secret)
    current = totp.timecode(now)
    step = next((current + by for by in _WINDOW if hmac.compare_digest(totp.generate_otp(current + by), digits)), None)
    if step is None:
        return False
    newer = or_(Authenticator.last_step.is_(None), Authenticator.last_step < step)
    taken = update(Authenticator).where(Authenticator.user_id == user.id, newer).values(last_step=step)
    return session.execute(taken.returning(Authenticator.user_id)).first() is not None


def _take_recovery_code(session: Session, user: User, code: str, settings: Settings, now: datetime) -> None:
    """Use up a recovery code, and notify its owner. Raises NotAuthenticated."""
    this = (
        (RecoveryCode.user_id == user.id)
        & (RecoveryCode.code_hash == _code_hash(code))
        & RecoveryCode.used_at.is_(None)
    )
    used = session.execute(update(RecoveryCode).where(this).values(used_at=now).returning(RecoveryCode.id))
    if used.first() is None:
        raise NotAuthenticated("This code is wrong or was already used.")
    _mail_change(session, user, "recovery_code.use", settings, now)
