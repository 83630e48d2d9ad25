"""Places on a server: `competition/phase/task` or `competition/phase/board`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Place:
    """A task or a board of a phase."""

    competition: str
    phase: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Place:
        """Parse `competition/phase/name`; raises ValueError."""
        parts = text.strip("/").split("/")
        if len(parts) != 3 or {"", ".", ".."} & set(parts):
            raise ValueError(f"'{text}' is not competition/phase/name")
        return cls(*parts)

    def path(self, kind: str) -> str:
        """Return the API path of this resource of a phase. kind: `tasks`, `boards` or `rankings`."""
        competition, phase, name = (quoted(part) for part in (self.competition, self.phase, self.name))
        return f"/competitions/{competition}/phases/{phase}/{kind}/{name}"


def quoted(name: str) -> str:
    """Quote a name as one part of a path."""
    return quote(name, safe="")
