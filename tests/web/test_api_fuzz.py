"""The whole API under schemathesis: whatever is sent, no 5xx, and no status, type or body that the description lacks.

Each operation gets requests that its description allows and requests that it does not. Each of them is sent by every
kind of visitor, with the names that were made up and with the names of what is really there. What each commit sends is
always the same; `make soak` sends two hundred times as much, to all operations, from a seed that is new each time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests import lanes
from tests.web.routes import application
from tests.web.site import Person, Site
from tests.world import COMPETITION, PHASE, TASK

if TYPE_CHECKING:
    from schemathesis import Case, GenerationMode

#: Schemathesis takes seconds to import, which only who sends something shall wait for.
SOME_CASES, MANY_CASES = 600, 30_000
#: Each commit asks a sixteenth of the operations; soak asks all, in so many parts.
SOME_SHARDS, MANY_SHARDS = 16, 15
VISITORS = ("anonymous", "participant", "administrator")


@dataclass
class Fuzzer:
    """The server, its visitors' headers, the names of what exists, and how many requests were answered."""

    url: str
    headers: dict[str, dict[str, str]]
    names: dict[str, str]
    session: requests.Session
    operations: list[Any]
    checks: list[Any]
    answered: int = 0

    def send(self, case: Case[Any]) -> None:
        """Send a case as it was generated, and again about things that exist."""
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
            response = case.call(self.url, session=self.session, headers=self.headers[visitor], timeout=120)
        except (requests.exceptions.InvalidHeader, UnicodeError, requests.exceptions.InvalidURL):
            return  # the client itself refuses to send such a thing
        if response.status_code == 503 and case.path == "/readyz":
            return  # no sweep runs here, and it says so: that is its answer, and no failure
        case.validate_response(response, checks=self.checks)
        self.answered += 1


@pytest.fixture(scope="session")
def operations() -> list[Any]:
    """Return every operation of the API, by name; a description that cannot be read is a failure."""
    import schemathesis
    from schemathesis.core.result import Ok

    results = list(schemathesis.openapi.from_dict(application().openapi()).get_all_operations())
    unreadable = [result.err() for result in results if not isinstance(result, Ok)]
    assert not unreadable, unreadable
    operations = (result.ok() for result in results if isinstance(result, Ok))
    return sorted(operations, key=lambda operation: operation.label)


@pytest.fixture(scope="session")
def checks() -> list[Any]:
    import schemathesis

    names = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
    return [
        schemathesis.checks.not_a_server_error,
        *(schemathesis.checks.CHECKS.get_one(name) for name in names),
    ]


@pytest.fixture
def fuzzer(
    site: Site, ada: Person, cheap_passwords: None, operations: list[Any], checks: list[Any]
) -> Iterator[Fuzzer]:
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
        yield Fuzzer(site.url, {"anonymous": {}, **headers}, names, session, operations, checks)


def _without_waiting(site: Site) -> Any:
    serving = site.app.state.server
    quick = serving.settings.model_copy(update={"long_poll_limit_seconds": 0.0})
    return type(serving)(quick, serving.engine, serving.clock)


def test_no_request_makes_the_api_fail_or_answer_what_is_not_documented(fuzzer: Fuzzer) -> None:
    _fuzz_all(fuzzer, fuzzer.operations[::SOME_SHARDS], SOME_CASES, seed=None)


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(MANY_SHARDS))
def test_nor_does_any_of_many_that_nobody_sent_before(fuzzer: Fuzzer, shard: int) -> None:
    _fuzz_all(fuzzer, fuzzer.operations[shard::MANY_SHARDS], MANY_CASES, seed=lanes.soak_seed() + shard)


def _fuzz_all(fuzzer: Fuzzer, operations: list[Any], cases: int, seed: int | None) -> None:
    """Send requests until at least this share of `cases` is answered; seed: None for the same requests each time."""
    from schemathesis import GenerationMode

    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    # Of one operation in one mode: most are sent twice by every visitor, some once, and some have few.
    examples = cases * 4 // (len(fuzzer.operations) * len(modes) * len(VISITORS) * 2 * 3) + 2
    for operation in operations:
        for mode in modes:
            _fuzz(fuzzer, operation, mode, examples, seed)
    assert fuzzer.answered >= cases * len(operations) / len(fuzzer.operations)


def _fuzz(fuzzer: Fuzzer, operation: Any, mode: GenerationMode, examples: int, seed: int | None) -> None:
    import hypothesis
    from hypothesis.errors import NonInteractiveExampleWarning, Unsatisfiable
    from schemathesis import GenerationMode

    def send(case: Case[Any]) -> None:
        fuzzer.send(case)

    quiet = hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=seed is None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    sending = quiet(hypothesis.given(case=operation.as_strategy(generation_mode=mode))(send))
    if seed is not None:
        sending = hypothesis.seed(seed)(sending)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        try:
            sending()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # nothing about this operation can be wrong
