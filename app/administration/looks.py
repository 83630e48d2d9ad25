"""Changes of the server's looks: name, accents, front page and featured competitions together, and its logos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.live import current_looks, current_settings, note_change
from app.administration.looks_views import LogoOut, LooksOut, PaletteOut
from app.administration.settings import change_setting
from app.base.colours import DARK, LIGHT, palette_of
from app.base.config import Settings
from app.base.errors import InvalidForm
from app.base.live_settings import names_in
from app.base.text import many_lines, refuse
from app.looks.logos import MadeLogo
from app.looks.look import LOGO_KEYS, Logo, Looks
from app.models import Competition, ServerSetting
from app.people.act import Act
from app.people.audit import actor_name

#: Fields of the looks, by the name of their setting.
SETTINGS = {
    "name": "server_name",
    "accent": "accent",
    "accent_dark": "accent_dark",
    "front": "front_text",
    "featured": "featured",
}


def read_looks(session: Session, environment: Settings) -> LooksOut:
    """Return the looks with all changes committed so far."""
    return describe_looks(current_looks(session, current_settings(session, environment)))


def describe_looks(looks: Looks, removed: Sequence[str] = ()) -> LooksOut:
    """Return the API object of the looks. removed: what was left out of the uploaded logo."""
    accents = looks.accents
    return LooksOut(
        name=looks.name,
        logo=_logo(looks.logo),
        logo_dark=_logo(looks.logo_dark),
        accent=looks.accent,
        accent_dark=looks.accent_dark,
        light=PaletteOut.model_validate(palette_of(accents[0], LIGHT)) if accents else None,
        dark=PaletteOut.model_validate(palette_of(accents[1], DARK)) if accents else None,
        front=looks.front,
        featured=list(looks.featured),
        removed=list(removed),
    )


def _logo(logo: Logo | None) -> LogoOut | None:
    if logo is None:
        return None
    return LogoOut(
        address=logo.address,
        media_type=logo.media_type,
        width=logo.width,
        height=logo.height,
        size_bytes=len(logo.content),
    )


def change_looks(act: Act, wanted: Mapping[str, str], *, environment: Settings) -> None:
    """Change all of these looks, or none if one is invalid; unchanged ones are skipped. wanted: by keys of `SETTINGS`.

    Raises Forbidden, InvalidForm with all errors by these keys.
    """
    check_administrator(act.user)
    current = current_settings(act.session, environment)
    wrong: dict[str, str] = {}
    for field, value in wanted.items():
        name, text = SETTINGS[field], many_lines(value)
        if text == getattr(current, name):
            continue
        try:
            change_setting(act, name, text, environment=environment)
        except InvalidForm as invalid:
            wrong[field] = invalid.fields.get(name, invalid.message)
    if "featured" in wanted and "featured" not in wrong:
        wrong["featured"] = _unknown_competition(act.session, names_in(wanted["featured"]))
    refuse(wrong)


def _unknown_competition(session: Session, names: Sequence[str]) -> str:
    known = set(session.scalars(select(Competition.name).where(Competition.name.in_(names))))
    unknown = [name for name in names if name not in known]
    return f"There is no competition '{unknown[0]}' on this server." if unknown else ""


def put_logo(act: Act, scheme: str, made: MadeLogo) -> None:
    """Store the logo of a scheme, light or dark, replacing an earlier one. Raises Forbidden."""
    check_administrator(act.user)
    note_change(act.session)
    key = LOGO_KEYS[scheme]
    row = act.session.get(ServerSetting, key)
    before = _digest(row)
    if row is None:
        row = ServerSetting(key=key, value={}, changed_at=act.now, changed_by="")
        act.session.add(row)
    row.value, row.changed_at, row.changed_by = made.logo.stored(), act.now, actor_name(act.user)
    act.session.flush()
    if before != made.logo.sha256:
        details = {"before": before, "value": made.logo.sha256}
        act.record("setting.change", f"setting {key}", details)


def remove_logo(act: Act, scheme: str) -> None:
    """Remove the logo of a scheme; do nothing if there is none. Raises Forbidden."""
    check_administrator(act.user)
    note_change(act.session)
    key = LOGO_KEYS[scheme]
    before = _digest(act.session.get(ServerSetting, key))
    act.session.execute(delete(ServerSetting).where(ServerSetting.key == key))
    if before is not None:
        act.record("setting.reset", f"setting {key}", {"before": before, "value": None})


def _digest(row: ServerSetting | None) -> str | None:
    """Return the digest of the stored logo; None if there is none or it cannot be read."""
    try:
        return Logo.of_stored(row.value).sha256 if row is not None else None
    except (KeyError, TypeError, ValueError):
        return None
