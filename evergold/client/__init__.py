"""A Python client for any Evergold server, and the storage of its token; independent of the command line.

     with Client("https://scores.example.org", token) as client:
         submission = client.submit("predictions.csv", to="demo/evaluation/idiom-detection", wait=True)
         print(submission.status, submission.scores)

docs/client.md describes it. `import evergold.client` alone is quick: the rest is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evergold.client.client import Client
    from evergold.client.credentials import BadAddress
    from evergold.client.errors import ClientError, Refused, Unreachable
    from evergold.client.place import Place
    from evergold.client.results import Board, Submission, Validation

__all__ = [
    "BadAddress",
    "Board",
    "Client",
    "ClientError",
    "Place",
    "Refused",
    "Submission",
    "Unreachable",
    "Validation",
]
_MODULES = {
    "BadAddress": "credentials",
    "Board": "results",
    "Client": "client",
    "ClientError": "errors",
    "Place": "place",
    "Refused": "errors",
    "Submission": "results",
    "Unreachable": "errors",
    "Validation": "results",
}


def __getattr__(name: str) -> Any:
    """Load the names of this package on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'evergold.client' has no attribute {name!r}")
    return getattr(import_module(f"evergold.client.{_MODULES[name]}"), name)
