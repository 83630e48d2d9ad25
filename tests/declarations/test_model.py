"""The declarations: strict, documented key by key, with a JSON Schema that is up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema_rs import validator_for
from pydantic import BaseModel, ValidationError

from app.declarations.model import (
    CompetitionDeclaration,
    LimitsDeclaration,
    PhaseDeclaration,
    PhasesFile,
    PhaseTaskDeclaration,
    schema_text,
)

REPOSITORY = Path(__file__).resolve().parents[2]
REFERENCE = (REPOSITORY / "docs" / "phases-yaml.md").read_text(encoding="utf-8")

MINIMAL: dict[str, Any] = {
    "name": "demo",
    "title": "Demo",
    "tasks": [{"name": "t", "type": "idiom-detection", "title": "T"}],
    "boards": [
        {"name": "b", "title": "B", "task": "t", "columns": [{"metric": "macro_f1", "split": "zero_shot/all"}]},
    ],
    "phases": [{"name": "p", "title": "P", "start": "2026-01-01 00:00 UTC", "tasks": {"t": {}}}],
}


def models(model: type[BaseModel]) -> set[type[BaseModel]]:
    """The model and all that are inside of it."""
    found = {model}
    waiting: list[Any] = [field.annotation for field in model.model_fields.values()]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in found:
            found |= models(annotation)
        waiting += get_args(annotation)
    return found


def test_minimal_competition_gets_defaults() -> None:
    declared = CompetitionDeclaration.model_validate(MINIMAL)
    phase = declared.phases[0]
    assert phase.end is None
    assert (phase.entry, phase.limits.per_day, phase.limits.upload_bytes) == ("best", None, 16 * 1024 * 1024)
    assert phase.tasks["t"] == PhaseTaskDeclaration()
    assert declared.boards[0].columns[0].decimals == 4


def phase_with(limits: dict[str, Any], **task: Any) -> PhaseDeclaration:
    (minimal,) = MINIMAL["phases"]
    return PhaseDeclaration.model_validate({**minimal, "limits": limits, "tasks": {"t": task}})


@pytest.mark.parametrize(
    ("limits", "per_day", "total"),
    [
        ({}, 5, 50),
        ({"per_day": 9}, 9, 50),
        ({"total": 9}, 5, 9),
        ({"per_week": 9}, None, 50),
        ({"per_month": 9}, None, 50),
        ({"per_day": None, "total": None}, None, None),
    ],
)
def test_few_submissions_are_taken_by_default_where_gold_is_hidden(
    limits: dict[str, Any], per_day: int | None, total: int | None
) -> None:
    found = phase_with(limits).effective_limits
    assert (found.per_day, found.total) == (per_day, total)
    assert phase_with(limits, gold_is_public=True).effective_limits == phase_with(limits).limits


@pytest.mark.parametrize("name", ["Demo", "a b", "a--b", "-a", "a_b", "", "ä", "a" * 61, "../x"])
def test_name_that_cannot_stand_in_an_address_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        CompetitionDeclaration.model_validate({**MINIMAL, "name": name})


@pytest.mark.parametrize("path", ["/etc/passwd", "../gold.csv", "a/../../b", "a\\b", "", "a\nb"])
@pytest.mark.parametrize("key", ["gold", "items"])
def test_path_outside_of_its_folder_is_refused(key: str, path: str) -> None:
    with pytest.raises(ValidationError):
        PhaseTaskDeclaration.model_validate({key: path})


@pytest.mark.parametrize("value", [0, -1, 1.5, "5", True, 2**31])
def test_limit_is_a_positive_whole_number(value: object) -> None:
    with pytest.raises(ValidationError):
        LimitsDeclaration.model_validate({"per_day": value})


@pytest.mark.parametrize("website", ["javascript:alert(1)", "example.org", "https://a b", "data:text/html,x"])
def test_website_is_a_web_address(website: str) -> None:
    with pytest.raises(ValidationError):
        CompetitionDeclaration.model_validate({**MINIMAL, "website": website})


@pytest.mark.parametrize("title", ["", "   ", "two\nlines", "bell\a"])
def test_title_is_one_line(title: str) -> None:
    with pytest.raises(ValidationError):
        CompetitionDeclaration.model_validate({**MINIMAL, "title": title})


def test_schema_in_the_docs_is_up_to_date() -> None:
    kept = (REPOSITORY / "docs" / "phases.schema.json").read_text(encoding="utf-8")
    assert kept == schema_text(), "run: python -m app.declarations.model > docs/phases.schema.json"


def test_schema_forbids_unknown_keys_everywhere() -> None:
    schema = json.loads(schema_text())
    parts = schema["$defs"]
    of_programs = {name for name in parts if name.startswith("program-") and parts[name]["type"] == "object"}
    objects = [schema, *(part for part in parts.values() if part["type"] == "object")]
    assert len(objects) - len(of_programs) == len(models(PhasesFile))
    assert all(part["additionalProperties"] is False for part in objects)


def test_schema_completes_the_options_of_an_organisers_own_program() -> None:
    validator = validator_for(json.loads(schema_text()))
    task: dict[str, Any] = {"name": "a", "type": "program", "title": "A", "program": "a"}
    rest = {key: value for key, value in MINIMAL.items() if key != "tasks"}

    def faults(**options: object) -> list[str]:
        tasks = [{**task, "options": {"metrics": [{"name": "f1"}], **options}}]
        return [
            one.message for one in validator.iter_errors({"version": 1, "competitions": [{**rest, "tasks": tasks}]})
        ]

    assert faults(contract="evalai", files={"required": ["a.csv"]}, limits={"seconds": 5}) == []
    assert faults(contract="other")
    assert faults(limits={"hours": 5})
    assert faults(program_sha256="0" * 64)


def test_schema_takes_moments_as_organisers_write_them() -> None:
    start = json.loads(schema_text())["$defs"]["PhaseDeclaration"]["properties"]["start"]
    assert start["type"] == "string"
    assert re.search(start["pattern"], "2026-01-31 23:59 AoE")
    assert not re.search(start["pattern"], "2026-01-31 23:59")


@pytest.mark.parametrize("model", sorted(models(PhasesFile), key=str))
def test_every_key_is_in_the_reference(model: type[BaseModel]) -> None:
    for name in (field.alias or name for name, field in model.model_fields.items()):
        assert f"`{name}`" in REFERENCE, f"docs/phases-yaml.md does not explain {model.__name__}.{name}"


def test_reference_names_the_defaults() -> None:
    for model in (LimitsDeclaration, PhaseDeclaration):
        for name, field in model.model_fields.items():
            if isinstance(field.default, int) and not isinstance(field.default, bool):
                row = next(line for line in REFERENCE.splitlines() if line.startswith(f"| `{name}`"))
                assert str(field.default) in row.replace(",", "")
