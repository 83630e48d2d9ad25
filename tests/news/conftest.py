"""Shared by tests of news: a receiver on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.receiver import Receiver, receiver


@pytest.fixture(scope="session")
def _listening() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def there(_listening: Receiver) -> Receiver:
    """Return the one server of all tests, reset: working again, with nothing received."""
    fresh = Receiver(port=_listening.port, released=_listening.released)
    _listening.__dict__.update(fresh.__dict__)
    return _listening
