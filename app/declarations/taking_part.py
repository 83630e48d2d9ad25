"""Models in phases.yaml about participation: registration and its questions, teams, method cards."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from app.cards.form import CardKind, CardPart
from app.declarations.values import Declaration, Domain, Line, Listed, Markdown, Moment, Name, Whole
from app.models import RegistrationMode
from app.teams.questions import QuestionKind


class CardFieldDeclaration(Declaration):
    """A question that every method card of the competition answers."""

    name: Name = Field(description="in files and for programs; never change it")
    title: Line = Field(max_length=60, description="the question in few words; heads its column, if it has one")
    kind: CardKind = Field(CardKind.TEXT, description="what an answer is: text, number, choice, yes_no")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=50, description="with kind 'choice': the answers there are"
    )
    required: Annotated[bool, Strict()] = Field(False, description="without an answer nothing is accepted")
    on_board: Annotated[bool, Strict()] = Field(False, description="whether boards show it as a column")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class MethodCardDeclaration(Declaration):
    """Questions on method cards besides those of every card: method, summary, paper, code, data, languages."""

    required: tuple[CardPart, ...] = Field((), description="which of those must be there")
    fields: tuple[CardFieldDeclaration, ...] = Field((), max_length=20, description="further questions")


class QuestionDeclaration(Declaration):
    """A question to everybody who registers; the names affiliation, country and students are enough by themselves."""

    name: Name = Field(description="in files and for programs; never change it")
    title: Line | None = Field(None, max_length=200, description="the question; of a tick: what is ticked")
    kind: QuestionKind | None = Field(None, description="what an answer is: text (the default), choice, tick")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=300, description="with kind 'choice': the answers there are"
    )
    required: Annotated[bool, Strict()] = Field(False, description="whether nobody takes part without an answer")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class RegistrationDeclaration(Declaration):
    """Requirements for taking part."""

    mode: RegistrationMode | None = Field(
        None,
        description="open to all; to all with a confirmed address; by approval of the organisers; by domain of a "
        "confirmed address; or from a list. Absent: confirmed, or open where all gold is public",
    )
    domains: tuple[Domain, ...] = Field(
        (),
        max_length=1_000,
        description="with mode 'domain': what stands behind the @; '*.uni.edu': everything below. With "
        "'approval': whose confirmed address has one of them is let in at once, and the organisers answer the others",
    )
    allowed: tuple[Listed, ...] = Field(
        (), max_length=10_000, description="with mode 'list': e-mail addresses, or user names of accounts that exist"
    )
    terms: Markdown = Field("", description="Markdown that everybody accepts first; a new text must be accepted again")
    questions: tuple[QuestionDeclaration, ...] = Field(
        (), max_length=30, description="questions to everybody who registers; only organisers see the answers"
    )


class TeamsDeclaration(Declaration):
    """Teams of this competition."""

    members_max: Whole | None = Field(None, ge=1, le=1_000, description="of one team; absent: no limit")
    rename_until: Moment | None = Field(
        None, description="until when teams may have another name; absent: until results that they have are frozen"
    )
    merge_until: Moment | None = Field(
        None, description="until when two teams may become one, if both want it; absent: they may not"
    )
