"""Integers and UUIDs for clients of Codabench, computed from our own ids.

A submission's number is the first bits of its random id, so it does not reveal how many there are. Submissions that
came as one upload to several tasks share one number. Public files and tasks of a phase have UUIDs that contain their
ids.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import Path

#: Number of random bits at the beginning of an id; of a million submissions, two share a number on one of 600 servers.
_NUMBER_BITS = 48
_REST_BITS = 128 - _NUMBER_BITS
_REST = (1 << _REST_BITS) - 1
_ROW_BITS = 62
#: The first 32 bits of every key, which distinguish it from a random one.
_OURS = 0x65766764

SubmissionNumber = Annotated[int, Path(ge=0, lt=1 << _NUMBER_BITS)]


class KeyOf(IntEnum):
    """The kinds of database rows that have a UUID for clients of Codabench."""

    PUBLIC_FILE = 1
    PHASE_TASK = 2


def number_of(submission_id: UUID) -> int:
    """Return the number of a submission."""
    return submission_id.int >> _REST_BITS


def id_range(number: int) -> tuple[UUID, UUID]:
    """Return the first and the last id with this number."""
    first = number << _REST_BITS
    return UUID(int=first), UUID(int=first | _REST)


def id_with(number: int) -> UUID:
    """Return a new random id with this number."""
    return UUID(int=number << _REST_BITS | uuid4().int & _REST)


def key_of(kind: KeyOf, row_id: int) -> UUID:
    """Return the key of a row: a UUID of version 8 that contains its id."""
    return UUID(int=_OURS << 96 | kind << 80 | 0x8 << 76 | 0b10 << _ROW_BITS | row_id)


def row_of(kind: KeyOf, key: UUID) -> int | None:
    """Return the id in a key of this kind; None for any other UUID."""
    row_id = key.int & (1 << 31) - 1
    return row_id if row_id and key_of(kind, row_id) == key else None
