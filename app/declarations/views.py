"""API schemas for declarations, for organisers: the current one, its revisions, effects of an edit."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.declarations.edits.fields import parts
from app.declarations.revisions.documents import differences, dotted
from app.models import Revision, RevisionSource

_REVISION = {
    "number": 4,
    "source": "edit",
    "made_at": "2027-01-20T12:00:00Z",
    "author": "grace",
    "note": "One more week, as announced",
    "changes": ["changed end of phase 'evaluation' of 'demo' from 2027-02-01 11:59 UTC to 2027-02-08 11:59 UTC"],
}
_DOCUMENT = {"name": "demo", "title": "Demo", "phases": [{"name": "evaluation", "end": "2027-02-07 23:59 AoE"}]}
_OUTCOME = {
    "base": 3,
    "revision": 4,
    "changes": _REVISION["changes"],
    "notes": [],
    "warnings": [],
    "effects": [
        {
            "competition": "demo",
            "phase": "evaluation",
            "task": "idiom-detection",
            "what": ["the deadline is 2027-02-08 11:59 UTC, before 2027-02-01 11:59 UTC"],
            "teams": 12,
            "submissions": 48,
            "rescore": 0,
        }
    ],
}


class RevisionOut(ApiModel):
    """One version of a competition's declaration; it never changes."""

    model_config = example(_REVISION)

    number: int
    source: RevisionSource = Field(
        description="`file`: phases.yaml; `edit`: on the server; `undo`: an earlier revision; `merge`: a file and edits"
    )
    made_at: Moment
    author: str = Field(description="a user name, or the command line")
    note: str
    changes: list[str] = Field(description="the changes, in sentences; at most 200")


class RevisionList(ApiModel):
    """Revisions, newest first."""

    model_config = example({"revisions": [_REVISION], "next": None})

    revisions: list[RevisionOut]
    next: str | None = Field(description="address of older revisions")


class FileOut(ApiModel):
    """A file that the declaration names."""

    path: str
    sha256: str
    size_bytes: int


class DeclarationDifference(ApiModel):
    """A value that has changed; null if it is not declared."""

    path: str = Field(examples=["phases.evaluation.end"])
    before: Any
    after: Any


class DeclarationOut(ApiModel):
    """A declaration with its content."""

    model_config = example(
        {
            "revision": _REVISION,
            "document": _DOCUMENT,
            "files": [{"path": "items.csv", "sha256": "9f86d081884c7d65", "size_bytes": 4711}],
            "editable": ["phases.evaluation.end", "title"],
            "differences": [],
        }
    )

    revision: RevisionOut
    document: dict[str, Any] = Field(description="the declaration, as under `competitions` in phases.yaml")
    files: list[FileOut]
    editable: list[str] = Field(description="names of the values that can be edited here")
    differences: list[DeclarationDifference] = Field(
        description="what restoring this revision would change; empty: it is the current one"
    )


class EffectOut(ApiModel):
    """The effect of a change on a task in a phase: who is affected."""

    competition: str
    phase: str
    task: str
    what: list[str]
    teams: int
    submissions: int
    rescore: int = Field(description="number of submissions whose scores depend on the previous declaration")

    def __str__(self) -> str:
        who = f"{counted(self.teams, 'team')} with {counted(self.submissions, 'submission')}"
        return f"{self.competition}/{self.phase}/{self.task} ({who}): {'; '.join(self.what)}"


class OutcomeOut(ApiModel):
    """The changes that an edit made, or would make."""

    model_config = example(_OUTCOME)

    base: int = Field(description="the revision that the edit started from")
    revision: int | None = Field(description="the new revision; null: a preview, or nothing changes")
    changes: list[str]
    notes: list[str] = Field(description="further notes")
    warnings: list[str] = Field(description="changes that are possible but probably not intended")
    effects: list[EffectOut]


def counted(number: int, what: str) -> str:
    """Return a count with its noun, such as `1 team` or `1,200 teams`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def describe_revision(revision: Revision) -> RevisionOut:
    """Return the API object of a revision, without its document."""
    return RevisionOut.model_validate(revision, from_attributes=True)


def describe_declaration(revision: Revision, present: Revision) -> DeclarationOut:
    """Return the API object of a revision with its document, and its differences to the current one; its files must be
    loaded.
    """
    changed = differences(present.document, revision.document)
    return DeclarationOut(
        revision=describe_revision(revision),
        document=revision.document,
        files=[FileOut.model_validate(file, from_attributes=True) for file in revision.files],
        editable=sorted(dotted(field.path) for part in parts(revision.document) for field in part.fields),
        differences=[DeclarationDifference.model_validate(one, from_attributes=True) for one in changed],
    )
