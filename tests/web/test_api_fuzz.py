"""The whole API under schemathesis: whatever is sent, no 5xx, and no status, type or body that the description lacks.

Each operation gets requests that its description allows and requests that it does not. Each of them is sent by every
kind of visitor, with the names that were made up and with the names of what is really there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import NonInteractiveExampleWarning, Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok

from app.web.main import create_app
from tests.web.site import Person, Site
from tests.world import COMPETITION, PHASE, TASK

LEAST_CASES = 5_000
SHARDS = 4  # so that several processes share the work
SCHEMA = schemathesis.openapi.from_dict(create_app().openapi())


def described() -> Iterator[Any]:
    """Every operation; a description that cannot be read is a failure."""
    for result in SCHEMA.get_all_operations():
        assert isinstance(result, Ok), result.err()
        yield result.ok()


OPERATIONS = sorted(described(), key=lambda operation: operation.label)
VISITORS = ("anonymous", "participant", "administrator")
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
#: Of one operation in one mode. Most are sent twice by every visitor; some operations have few.
EXAMPLES = LEAST_CASES // (len(OPERATIONS) * len(MODES) * len(VISITORS) * 2) + 2
QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass
class Fuzzer:
    """The server, its visitors' headers, the names of what exists, and how many requests were answered."""

    url: str
    headers: dict[str, dict[str, str]]
    names: dict[str, str]
    session: requests.Session
    answered: int = 0

    def send(self, case: Case[Any]) -> None:
        """As it was made up, and again about things that exist."""
        self._send_by_all(case)
        known = {name: self.names[name] for name in case.path_parameters or {} if name in self.names}
        if known:
            case.path_parameters.update(known)
            self._send_by_all(case)

    def _send_by_all(self, case: Case[Any]) -> None:
        for visitor in VISITORS:
            self._check(case, visitor)

    def _check(self, case: Case[Any], visitor: str) -> None:
        try:
            response = case.call(self.url, session=self.session, headers=self.headers[visitor], timeout=30)
        except (requests.exceptions.InvalidHeader, UnicodeError, requests.exceptions.InvalidURL):
            return  # the client itself refuses to send such a thing
        if response.status_code == 503 and case.path == "/readyz":
            return  # no sweep runs here, and it says so: that is its answer, and no failure
        case.validate_response(response, checks=CHECKS)
        self.answered += 1


CHECKS: Any = [
    schemathesis.checks.not_a_server_error,
    *(
        schemathesis.checks.CHECKS.get_one(name)
        for name in ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
    ),
]


@pytest.fixture
def fuzzer(site: Site, ada: Person, cheap_passwords: None) -> Iterator[Fuzzer]:
    """A competition with a submission in it. Nobody waits for a change, and nobody's rate is limited."""
    site.app.state.server = _without_waiting(site)
    submission = ada.submitted()
    root = site.person("root", is_administrator=True)
    site.add_file("blind.csv", b"ID,Label\n")
    names = {
        "competition": COMPETITION,
        "phase": PHASE,
        "task": TASK,
        "board": "zero-shot",
        "submission_id": submission["id"],
        "name": "blind.csv",
    }
    people = {"participant": ada, "administrator": root}
    headers = {who: {"Authorization": person.client.headers["Authorization"]} for who, person in people.items()}
    with requests.Session() as session, root.client:
        yield Fuzzer(site.url, {"anonymous": {}, **headers}, names, session)


def _without_waiting(site: Site) -> Any:
    serving = site.app.state.server
    quick = serving.settings.model_copy(update={"long_poll_limit_seconds": 0.0})
    return type(serving)(quick, serving.engine, serving.clock)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_request_makes_the_api_fail_or_answer_what_is_not_documented(fuzzer: Fuzzer, shard: int) -> None:
    operations = OPERATIONS[shard::SHARDS]
    for operation in operations:
        for mode in MODES:
            _fuzz(fuzzer, operation, mode)
    assert fuzzer.answered >= LEAST_CASES * len(operations) / len(OPERATIONS)


def _fuzz(fuzzer: Fuzzer, operation: Any, mode: GenerationMode) -> None:
    @QUIET
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Case[Any]) -> None:
        fuzzer.send(case)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        try:
            send()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # nothing about this operation can be wrong
