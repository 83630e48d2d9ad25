"""Settings from environment variables: which are read, what an empty one means, and what overrides them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from app.base.config import InvalidSettings, Settings, read_settings
from app.base.stores.s3_settings import S3Settings


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ATTEMPTS", "CONTACT", "DATA_DIR", "LEAN", "S3_TRIES", "STORAGE", "SWEEP_SECONDS"):
        monkeypatch.delenv(f"EVERGOLD_{name}", raising=False)
    return monkeypatch


def test_what_no_variable_says_is_as_declared() -> None:
    settings = Settings()
    assert (settings.attempts, settings.lean) == (3, False)
    assert {"attempts", "lean"} & settings.model_fields_set == set()


def test_variables_are_read_by_prefix_and_name_whatever_their_case(variables: pytest.MonkeyPatch) -> None:
    for name, value in {
        "EVERGOLD_ATTEMPTS": "5", "evergold_Data_Dir": "/t", "ATTEMPTS": "1", "EVERGOLD_SHOP": "x"
    }.items():  # fmt: skip
        variables.setenv(name, value)
    settings = Settings()
    assert (settings.attempts, settings.data_dir) == (5, Path("/t"))
    assert {"attempts", "data_dir"} <= settings.model_fields_set


def test_explicit_arguments_override_variables(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("EVERGOLD_ATTEMPTS", "many")
    assert Settings(attempts=9).attempts == 9


def test_a_wrong_value_names_its_field(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("EVERGOLD_ATTEMPTS", "0")
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert [error["loc"] for error in raised.value.errors()] == [("attempts",)]


@pytest.mark.parametrize(
    ("kind", "variable", "value", "words"),
    [
        (Settings, "EVERGOLD_ATTEMPTS", "0", "EVERGOLD_ATTEMPTS must be above 0."),
        (Settings, "EVERGOLD_ATTEMPTS", "many", "EVERGOLD_ATTEMPTS must be a whole number above 0."),
        (Settings, "EVERGOLD_LEAN", "perhaps", "EVERGOLD_LEAN must be true or false."),
        (Settings, "EVERGOLD_STORAGE", "attic", "EVERGOLD_STORAGE must be one of folder, s3."),
        (Settings, "EVERGOLD_CONTACT", "us", "EVERGOLD_CONTACT: an e-mail address, or an address that begins with"),
        (S3Settings, "EVERGOLD_S3_TRIES", "0", "EVERGOLD_S3_TRIES must be above 0."),
    ],
)
def test_what_is_wrong_with_a_variable_is_a_sentence(
    variables: pytest.MonkeyPatch, kind: type[BaseSettings], variable: str, value: str, words: str
) -> None:
    variables.setenv(variable, value)
    with pytest.raises(InvalidSettings) as raised:
        read_settings(kind)
    assert str(raised.value).startswith(f"Invalid settings: {words}")


def test_each_wrong_variable_has_a_line(variables: pytest.MonkeyPatch) -> None:
    for name in ("EVERGOLD_ATTEMPTS", "EVERGOLD_SWEEP_SECONDS"):
        variables.setenv(name, "often")
    with pytest.raises(InvalidSettings) as raised:
        read_settings(Settings)
    assert [line.split()[2] for line in str(raised.value).splitlines()] == [
        "EVERGOLD_SWEEP_SECONDS",
        "EVERGOLD_ATTEMPTS",
    ]


def test_an_empty_variable_is_a_value_unless_it_is_to_be_ignored(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("EVERGOLD_ATTEMPTS", "")
    with pytest.raises(ValidationError):
        Settings()
    variables.setenv("EVERGOLD_S3_TRIES", "")
    assert S3Settings().tries == 4
