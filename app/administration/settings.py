"""Changes of settings while the server runs, and their reset to the environment."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.live import checked, note_change, with_changes
from app.administration.views import SettingOut
from app.base.config import Settings
from app.base.errors import InvalidForm, NotFound
from app.base.live_settings import LiveSettings
from app.base.text import PLEASE_CORRECT, is_control, refuse
from app.models import ServerSetting
from app.people.act import Act
from app.people.audit import actor_name
from evergold.value_words import fault_words, field_of, own_words

Kind = Literal["choice", "number", "text", "switch"]


def list_settings(session: Session, environment: Settings) -> list[SettingOut]:
    """List all settings that may change while the server runs, in the order of the page."""
    rows = {row.key: row for row in session.scalars(select(ServerSetting))}
    current = with_changes(environment, {key: row.value for key, row in rows.items()})
    return [_setting(name, environment, current, rows.get(name)) for name in LiveSettings.model_fields]


def _setting(name: str, environment: Settings, current: Settings, row: ServerSetting | None) -> SettingOut:
    field = LiveSettings.model_fields[name]
    kind, choices = kind_of(field)
    extra = field.json_schema_extra
    return SettingOut(
        name=name,
        title=field.title or name,
        group=str(extra.get("group", "")) if isinstance(extra, dict) else "",
        description=field.description or "",
        kind=kind,
        choices=choices,
        value=getattr(current, name),
        environment=getattr(environment, name),
        is_changed=row is not None,
        changed_at=row.changed_at if row else None,
        changed_by=row.changed_by if row else None,
    )


def kind_of(field: FieldInfo) -> tuple[Kind, list[str]]:
    """Return the kind of a setting's value, and the allowed values of a choice."""
    if get_origin(field.annotation) is Literal:
        return "choice", [str(one) for one in get_args(field.annotation)]
    kinds: dict[Any, Kind] = {bool: "switch", int: "number"}
    return kinds.get(field.annotation, "text"), []


def change_setting(act: Act, name: str, value: str | int | bool, *, environment: Settings) -> SettingOut:
    """Change a setting for all processes; return it. An equal value changes nothing.

    Raises Forbidden, NotFound, InvalidForm.
    """
    check_administrator(act.user)
    _check_name(name)
    refuse({name: "It contains characters that cannot be stored." if any(map(is_control, str(value))) else ""})
    try:
        parsed = checked(name, value)
    except ValidationError as error:
        raise InvalidForm(PLEASE_CORRECT, fields={name: _sentence(error)}) from None
    note_change(act.session)  # from here on no other change is under way
    row = act.session.get(ServerSetting, name)
    before = row.value if row is not None else getattr(environment, name)
    if row is None:
        act.session.add(ServerSetting(key=name, value=parsed, changed_at=act.now, changed_by=actor_name(act.user)))
    elif row.value != parsed:
        row.value, row.changed_at, row.changed_by = parsed, act.now, actor_name(act.user)
    act.session.flush()
    if row is None or before != parsed:
        act.record("setting.change", f"setting {name}", {"before": before, "value": parsed})
    return read_setting(act.session, name, environment)


def reset_setting(act: Act, name: str, *, environment: Settings) -> SettingOut:
    """Reset a setting to its value in the environment; return it. Raises Forbidden, NotFound."""
    check_administrator(act.user)
    _check_name(name)
    note_change(act.session)
    gone = act.session.execute(delete(ServerSetting).where(ServerSetting.key == name).returning(ServerSetting.value))
    row = gone.one_or_none()
    if row is not None:
        details = {"before": row.value, "value": getattr(environment, name)}
        act.record("setting.reset", f"setting {name}", details)
    return read_setting(act.session, name, environment)


def read_setting(session: Session, name: str, environment: Settings) -> SettingOut:
    """Return the current state of a setting. Raises NotFound."""
    _check_name(name)
    return next(one for one in list_settings(session, environment) if one.name == name)


def _check_name(name: str) -> None:
    if name not in LiveSettings.model_fields:
        raise NotFound(f"There is no setting '{name[:60]}' that may change while the server runs.")


def _sentence(error: ValidationError) -> str:
    """Return the reason why a value is invalid, as a sentence."""
    fault = error.errors()[0]
    if fault["type"] == "value_error":
        return f"It must be {own_words(fault)}."
    words = fault_words(fault, field_of(LiveSettings, fault["loc"]))
    return f"It {words}" if words.endswith("?") else f"It {words}."
