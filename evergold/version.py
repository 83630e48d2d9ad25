"""The installed version of Evergold."""

from __future__ import annotations


def version() -> str:
    """As pip knows it; `0+unknown` in a checkout that was never installed."""
    from importlib import metadata  # not at the top: it is slow to import, and seldom asked for

    try:
        return metadata.version("evergold")
    except metadata.PackageNotFoundError:
        return "0+unknown"
