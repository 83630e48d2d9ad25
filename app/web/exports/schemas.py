"""Participants in JSON, for organisers."""

from __future__ import annotations

from pydantic import Field

from app.exports.participants import Participant
from app.web.http.schemas import ApiModel, Moment, example

_EXAMPLE = {
    "username": "ada",
    "email": "ada@example.org",
    "display_name": "Ada Lovelace",
    "team": "Analytical Engines",
    "registered_at": "2026-01-10T12:00:00Z",
    "submissions": {"practice": 12, "evaluation": 3},
}


class ParticipantOut(ApiModel):
    """Somebody who takes part."""

    model_config = example(_EXAMPLE)

    username: str
    email: str
    display_name: str
    team: str = Field(description="empty: none yet")
    registered_at: Moment | None = Field(description="for this competition; null: not known")
    submissions: dict[str, int] = Field(description="by phase, how many this person has sent")


class ParticipantList(ApiModel):
    """Everybody who takes part, by user name."""

    model_config = example({"participants": [_EXAMPLE]})

    participants: list[ParticipantOut]


def participant_out(participant: Participant) -> ParticipantOut:
    """Return the participant as an API model."""
    return ParticipantOut(
        username=participant.username,
        email=participant.email,
        display_name=participant.display_name,
        team=participant.team,
        registered_at=participant.registered_at,
        submissions=dict(participant.submissions),
    )
