"""Tracks: kinds of systems that are ranked separately (closed, open); a submission belongs to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.models import Competition
from evergold.scoring.errors import shorten
from evergold.value_words import did_you_mean

TRACK_FIELD = "track"


@dataclass(frozen=True, slots=True)
class Track:
    """A track as declared by the organisers."""

    name: str
    title: str
    description: str


def tracks_of(competition: Competition) -> list[Track]:
    """Return the tracks in the organisers' order; empty if the competition has none."""
    return [Track(one["name"], one["title"], one["description"]) for one in competition.tracks]


def track_title(tracks: Sequence[Track], name: str | None) -> str:
    """Return the display title; the name itself for a track that is no longer declared, "" for None."""
    return next((track.title for track in tracks if track.name == name), name or "")


def track_fault(competition: Competition, name: str | None) -> str:
    """Return a sentence on a track that is missing, unknown, or given although there are none; "" if it is valid."""
    names = [track.name for track in tracks_of(competition)]
    if (name is None and not names) or name in names:
        return ""
    known = ", ".join(f"'{one}'" for one in names)
    if name is None:
        return f"Choose a track: {known}."
    if not names:
        return "This competition has no tracks: leave the track out."
    return f"There is no track '{shorten(name)}'{did_you_mean(name, names)}; there are {known}."
