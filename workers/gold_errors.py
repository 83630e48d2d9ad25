"""What goes wrong on the way to gold, for those that name faults and must not be able to open anything."""

from __future__ import annotations


class GoldNotFound(Exception):
    """The gold that a run names is not in this worker's folder."""


class SealBroken(Exception):
    """The file is not what was sealed: cut, changed, exchanged, or of another kind."""
