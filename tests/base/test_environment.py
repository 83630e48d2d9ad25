"""Settings that stand in the environment: which variable is read, what an empty one means, whose word is the last."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, SecretStr, ValidationError

from app.base.environment import EnvironmentSettings


class Oven(EnvironmentSettings):
    prefix_of_variables = "BAKERY_"

    degrees: int = Field(180, gt=0)
    tray: Path | None = None
    key: SecretStr = SecretStr("")
    warm: bool = False


class ForgivingOven(Oven):
    ignore_empty = True


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("DEGREES", "TRAY", "KEY", "WARM"):
        monkeypatch.delenv(f"BAKERY_{name}", raising=False)
    return monkeypatch


def test_what_no_variable_says_is_as_declared() -> None:
    assert Oven().model_dump() == {"degrees": 180, "tray": None, "key": SecretStr(""), "warm": False}
    assert Oven().model_fields_set == set()


def test_variables_are_read_by_prefix_and_name_whatever_their_case(variables: pytest.MonkeyPatch) -> None:
    for name, value in {"BAKERY_DEGREES": "200", "bakery_Tray": "/t", "DEGREES": "1", "BAKERY_SHOP": "x"}.items():
        variables.setenv(name, value)
    oven = Oven()
    assert (oven.degrees, oven.tray) == (200, Path("/t"))
    assert oven.model_fields_set == {"degrees", "tray"}


def test_who_makes_them_has_the_last_word(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("BAKERY_DEGREES", "hot")
    assert Oven(degrees=90).degrees == 90


def test_a_wrong_value_names_its_field(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("BAKERY_DEGREES", "0")
    with pytest.raises(ValidationError) as raised:
        Oven()
    assert [error["loc"] for error in raised.value.errors()] == [("degrees",)]


def test_an_empty_variable_is_a_value_unless_it_is_to_be_ignored(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("BAKERY_DEGREES", "")
    variables.setenv("BAKERY_KEY", "")
    with pytest.raises(ValidationError):
        Oven()
    assert ForgivingOven().model_fields_set == set()
