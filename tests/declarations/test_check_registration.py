"""`registration` and `teams` of phases.yaml: findings of check, by line, and what apply stores."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.models import Competition as Row, RegistrationMode
from app.teams.find import members_max
from app.teams.registration import rules_of
from tests.declarations.applying import apply, made, noted
from tests.declarations.competition_folder import Competition, make_competition
from tests.rich_world import fresh

#: Of tests/declarations/competition_folder.py, line 5.
TITLE = '    title: "Demo"\n'


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def declare(demo: Competition, *lines: str) -> None:
    """Put these lines from line 6 on."""
    demo.change(TITLE, TITLE + "".join(f"    {line}\n" for line in lines))


def row(engine: Engine) -> Row:
    with reading(engine) as session:
        return session.scalars(fresh(Row)).one()


@pytest.mark.parametrize(
    "lines",
    [
        ("registration: {terms: Be kind.}", "teams: {members_max: 5, rename_until: 2026-06-30 00:00 AoE}"),
        ("registration: {mode: approval}", "teams: {}"),
        ("registration: {mode: domain, domains: [uni.edu, '*.Uni.edu', a-b.co.uk]}",),
        ("registration: {mode: approval, domains: [uni.edu]}",),
        ("registration: {mode: list, allowed: [ada, Ada.L@Example.org, 'o.k-1_2']}",),
    ],
)
def test_what_is_right(demo: Competition, lines: tuple[str, ...]) -> None:
    declare(demo, *lines)
    assert demo.said() == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("registration: {mode: domain}",), "6 error: with mode 'domain', 'registration' needs 'domains'"),
        (
            ("registration:", "  mode: list", "  allowed: []"),
            "7 error: with mode 'list', 'registration' needs 'allowed'",
        ),
        (
            ("registration:", "  mode: list", "  allowed: [ada]", "  domains: [uni.edu]"),
            "9 error: 'domains' belongs to mode 'domain'; here the mode is 'list'",
        ),
        (("registration: {allowed: [ada]}",), "6 error: 'allowed' belongs to mode 'list'; here there is no mode"),
        (
            ("registration:", "  mode: list", "  allowed:", "    - ada", "    - Ada"),
            "10 error: 'ada' is listed twice; first on line 9",
        ),
        (
            ("registration: {mode: closed}",),
            "6 error: 'mode' must be one of open, confirmed, approval, domain, list, code, but is 'closed'",
        ),
        (
            ("registration: {mode: domain, domains: ['@uni.edu']}",),
            "6 error: 'domains' is not right: '@uni.edu' is not a domain; write 'uni.edu', or '*.uni.edu' for "
            "everything below it",
        ),
        (
            ("registration: {mode: list, allowed: ['Ada Lovelace']}",),
            "6 error: 'allowed' is not right: 'Ada Lovelace' is neither an e-mail address nor a user name",
        ),
        (
            ("registration: {questions: [{name: gpu}]}",),
            "6 error: the question 'gpu' needs a title; without one there are",
        ),
        (
            ("registration:", "  questions:", "    - {name: country}", "    - {name: country, required: true}"),
            "9 error: the question 'country' is declared twice; first on line 8",
        ),
        (
            ("registration: {questions: [{name: country, kind: text}]}",),
            "6 error: 'country' has its own 'kind'; choose another name for another question",
        ),
        (
            ("registration: {questions: [{name: gpu, title: GPU, kind: choice}]}",),
            "6 error: a question of the kind 'choice' needs 'choices'",
        ),
        (("teams: {members_max: 0}",), "6 error: 'members_max' must be at least 1, but is 0"),
        (("teams: {members: 3}",), "6 error: there is no key 'members' here; did you mean 'members_max'?"),
    ],
)
def test_what_is_wrong_by_line(demo: Competition, lines: tuple[str, ...], expected: str) -> None:
    declare(demo, *lines)
    said = demo.said()
    assert len(said) == 1, said
    assert said[0].startswith(expected), said


def test_apply_keeps_what_was_said(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)
    assert (row(engine).registration, row(engine).teams) == ({"mode": "confirmed"}, {})
    assert rules_of(row(engine)).is_silent
    declare(
        demo,
        "registration: {mode: domain, domains: ['*.Uni.edu'], terms: Be kind.}",
        "teams: {members_max: 5, rename_until: 2026-06-30 00:00 AoE}",
    )
    assert [line.split(" from ")[0] for line in made(apply(engine, demo))] == [
        "changed registration of 'demo'",
        "changed teams of 'demo'",
    ]
    rules = rules_of(row(engine))
    assert (rules.mode, rules.domains, rules.terms) == (RegistrationMode.DOMAIN, ("*.uni.edu",), "Be kind.")
    assert members_max(row(engine)) == 5
    assert datetime.fromisoformat(row(engine).teams["rename_until"]) == datetime(2026, 6, 30, 12, tzinfo=UTC)
    assert made(apply(engine, demo)) == []


def test_questions_are_kept_and_ready_ones_need_their_name_alone(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)
    declare(
        demo, "registration: {questions: [{name: affiliation, required: true}, {name: gpu, title: A GPU, kind: tick}]}"
    )
    apply(engine, demo)
    affiliation, gpu = rules_of(row(engine)).questions
    assert (affiliation.title, affiliation.kind, affiliation.required) == ("Affiliation", "text", True)
    assert (gpu.title, gpu.kind, gpu.required) == ("A GPU", "tick", False)
    assert not rules_of(row(engine)).is_silent


def test_a_listed_user_name_that_is_free_is_told(engine: Engine, demo: Competition) -> None:
    declare(demo, "registration: {mode: list, allowed: [grace, ada@example.org]}")
    note = "'demo' lets in 'grace', but no account has this user name yet: anybody could register it and get in"
    assert note in noted(apply(engine, demo))
