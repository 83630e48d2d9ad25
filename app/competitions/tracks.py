"""Tracks: kinds of systems that compete apart (closed, open); declared per competition, chosen with each submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.base.errors import InvalidForm
from app.models import Competition
from evergold.scoring.errors import shorten
from evergold.value_words import did_you_mean

FIELD = "track"


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
    """Return the display title; the name itself for a track that is no longer declared, empty for None."""
    return next((track.title for track in tracks if track.name == name), name or "")


def check_track(competition: Competition, name: str | None) -> None:
    """Raise InvalidForm if the track is missing, unknown, or given although the competition has none."""
    names = [track.name for track in tracks_of(competition)]
    if (name is None and not names) or name in names:
        return
    known = ", ".join(f"'{one}'" for one in names)
    if name is None:
        sentence = f"Choose a track: {known}."
    elif not names:
        sentence = "This competition has no tracks; leave it out."
    else:
        sentence = f"There is no track '{shorten(name)}'{did_you_mean(name, names)}; there are {known}."
    raise InvalidForm("Please correct what is marked.", fields={FIELD: sentence})
