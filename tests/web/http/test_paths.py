"""Parts of an address that can stand for nothing are refused before any look-up."""

from __future__ import annotations

import pytest

from tests.web.routes import Address, addresses, application
from tests.web.site import Site

NAMED = [address for address in addresses(application()) if "{" in address.template]
#: Of each address, the parts that are text: numbers and ids are read as such before anything else.
TEXTS = [address for address in NAMED if "nowhere" in address.path({})]


def test_there_are_addresses_to_look_at() -> None:
    assert len(TEXTS) > 60


@pytest.mark.parametrize("character", ["%00", "%1F", "%7F", "%C2%85"])
def test_nothing_has_a_name_with_control_characters(site: Site, character: str) -> None:
    with site.client(Accept="application/json") as anybody:
        answers = {str(address): anybody.request(address.method, with_text(address, character)) for address in TEXTS}
    assert {name: answer.status_code for name, answer in answers.items() if answer.status_code != 404} == {}
    assert {answer.json()["error"]["message"] for answer in answers.values()} == {"There is nothing at this address."}


def with_text(address: Address, character: str) -> str:
    """The address, with this character in the first of its texts."""
    return address.path({}).replace("nowhere", f"no{character}where", 1)
