"""The life cycle of a round: started by an organiser, annotators assigned, published and withdrawn.

Functions take the session; the caller commits and checks permissions with `app.people.rights`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import IntegrityError, InvalidRequestError
from sqlalchemy.orm import Session, joinedload

from app.base.errors import InvalidForm as Invalid, NameTaken, NotFound
from app.competitions.changed import boards_changed
from app.declarations.values import NAME_PATTERN
from app.judging.errors import RoundPublished, RoundUnfinished
from app.judging.reading import Drawn
from app.judging.results import document_of, open_texts
from app.judging.rows import add_entries, add_texts
from app.judging.selection import LARGEST_SEED
from app.models import (
    Competition,
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    PhaseTask,
    RoundSource,
)
from app.people.act import UserAct
from app.texts.html import text_fault

DEFAULT_NAME = "human"
NAME_CHARACTERS = 60
MOST_ITEMS = 10_000
GUIDELINES_CHARACTERS = 20_000
_NAME = re.compile(NAME_PATTERN)


@dataclass(frozen=True, slots=True)
class RoundForm:
    """A requested round. items: number per language, None for all; seed: None for a random one."""

    name: str = DEFAULT_NAME
    items: int | None = None
    seed: int | None = None
    guidelines: str = ""


# ------------------------------------------------------------------------------------------------------------- finding


def list_rounds(session: Session, competition: Competition) -> list[JudgingRound]:
    """List the rounds of a competition, newest first, with phase and task."""
    query = _whole_rounds().where(JudgingRound.competition_id == competition.id)
    return list(session.scalars(query.order_by(JudgingRound.id.desc())))


def find_round(session: Session, competition: Competition, name: str) -> JudgingRound:
    """Return the round with this name, with phase and task. Raises NotFound."""
    query = _whole_rounds().where(JudgingRound.competition_id == competition.id, JudgingRound.name == name)
    found = session.scalar(query) if "\0" not in name else None  # PostgreSQL accepts no NUL
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no round of judgements '{name}'.")
    return found


def lock_round(session: Session, judging: JudgingRound, *, shared: bool = False) -> None:
    """Refresh the round and lock it until the transaction ends. Raises NotFound if it was deleted.

    shared: for marks, which are saved concurrently; only operations such as publishing wait for them.
    """
    try:
        session.refresh(judging, ["published_at", "results"], with_for_update={"read": True} if shared else True)
    except InvalidRequestError:
        raise NotFound("This round of judgements was discarded.") from None


def check_unpublished(judging: JudgingRound) -> None:
    """Raise RoundPublished if the round is published."""
    if judging.published_at is not None:
        raise RoundPublished("This round is published: marks cannot change unless its organisers withdraw it.")


def languages_of(session: Session, judging: JudgingRound) -> list[str]:
    """Return the languages with texts to judge, sorted."""
    query = select(JudgedText.language).where(JudgedText.round_id == judging.id).distinct()
    return sorted(session.scalars(query))


def _whole_rounds() -> Select[JudgingRound]:
    above = joinedload(JudgingRound.phase_task)
    return select(JudgingRound).options(above.joinedload(PhaseTask.phase), above.joinedload(PhaseTask.task))


# ------------------------------------------------------------------------------------------------------------ starting


def start_round(
    act: UserAct, *, competition: Competition, phase_task: PhaseTask, form: RoundForm, drawn: Drawn
) -> JudgingRound:
    """Start a round that is judged in the browser, and return it. drawn: the texts to judge, drawn with
    `seed_of(form)`.

    Raises InvalidForm with a sentence for each field, NameTaken, CannotJudge.
    """
    session = act.session
    check_form(form)
    if not drawn.languages:
        sentence = "There is no scored submission to judge."
        raise Invalid(sentence, fields={"submissions": sentence})
    judging = add_round(session, competition, phase_task, replace(form, seed=drawn.seed), RoundSource.BROWSER, act.now)
    add_texts(session, judging, drawn.texts, add_entries(session, judging, drawn.languages))
    what = {
        "submissions": len(drawn.languages),
        "texts": len(drawn.texts),
        "seed": judging.seed,
        "items": form.items,
    }
    act.record("judging.start", subject_of(competition, judging), what)
    return judging


def add_round(
    session: Session,
    competition: Competition,
    phase_task: PhaseTask,
    form: RoundForm,
    source: RoundSource,
    now: datetime,
) -> JudgingRound:
    """Add an empty round and return it. Raises NameTaken."""
    judging = JudgingRound(
        competition_id=competition.id,
        phase_task_id=phase_task.id,
        name=form.name,
        source=source,
        guidelines=form.guidelines.strip(),
        seed=seed_of(form),
        items_per_language=form.items,
        created_at=now,
        published_at=None,
        results=None,
    )
    try:
        with session.begin_nested():
            session.add(judging)
    except IntegrityError:
        raise NameTaken(f"There is already a round of judgements '{form.name}'; choose another name.") from None
    return judging


def seed_of(form: RoundForm) -> int:
    """Return the requested seed, or a random one."""
    return secrets.randbelow(LARGEST_SEED) if form.seed is None else form.seed


def check_form(form: RoundForm) -> None:
    """Raise InvalidForm with a sentence for each invalid field."""
    fields = {
        "name": ""
        if _NAME.fullmatch(form.name) and len(form.name) <= NAME_CHARACTERS
        else f"1 to {NAME_CHARACTERS} lower-case letters and digits, with single hyphens between them.",
        "items": ""
        if form.items is None or 1 <= form.items <= MOST_ITEMS
        else f"Write a number from 1 to {MOST_ITEMS:,}, or leave it empty for all items.",
        "seed": ""
        if form.seed is None or 0 <= form.seed <= LARGEST_SEED
        else f"Write a number from 0 to {LARGEST_SEED}, or leave it empty and the server chooses one.",
        "guidelines": text_fault(form.guidelines)
        if len(form.guidelines) <= GUIDELINES_CHARACTERS and "\0" not in form.guidelines
        else f"At most {GUIDELINES_CHARACTERS:,} characters of text.",
    }
    wrong = {name: sentence for name, sentence in fields.items() if sentence}
    if wrong:
        raise Invalid("Please correct the marked fields.", fields=wrong)


def subject_of(competition: Competition, judging: JudgingRound) -> str:
    """Return the name of the round in the audit log."""
    return f"round {judging.name} of competition {competition.name}"


# ---------------------------------------------------------------------------------------------------------- publishing


def publish_round(act: UserAct, competition: Competition, judging: JudgingRound, *, unfinished: bool = False) -> None:
    """Publish the round; idempotent.

    unfinished: allow paraphrases without marks, which otherwise raise RoundUnfinished.
    """
    session = act.session
    lock_round(session, judging)
    if judging.published_at is not None:
        return
    left = open_texts(session, judging)
    if left and not unfinished:
        languages = ", ".join(f"{language}: {count}" for language, count in sorted(left.items()))
        message = (
            f"{sum(left.values())} paraphrases have no marks yet ({languages}). Wait, or publish the round without "
            "them."
        )
        raise RoundUnfinished(message, open=left)
    judging.results = document_of(session, judging)
    judging.published_at = act.now
    _renew_boards(session, judging)
    act.record("judging.publish", subject_of(competition, judging), {"open": left})


def withdraw_round(act: UserAct, competition: Competition, judging: JudgingRound) -> None:
    """Hide the round from all but organisers and unlock its marks; idempotent."""
    lock_round(act.session, judging)
    if judging.published_at is None:
        return
    judging.results = judging.published_at = None
    _renew_boards(act.session, judging)
    act.record("judging.withdraw", subject_of(competition, judging))


def discard_round(act: UserAct, competition: Competition, judging: JudgingRound) -> None:
    """Delete the round with all its marks. Raises RoundPublished."""
    session = act.session
    lock_round(session, judging)
    check_unpublished(judging)
    texts = select(JudgedText.id).where(JudgedText.round_id == judging.id)
    lost = session.execute(delete(Judgement).where(Judgement.text_id.in_(texts)).returning(Judgement.id)).all()
    session.execute(delete(JudgedAnswer).where(JudgedAnswer.text_id.in_(texts)))
    _delete_all(session, judging, (JudgingAnnotator, JudgedText, JudgedEntry))
    session.execute(delete(JudgingRound).where(JudgingRound.id == judging.id))
    act.record("judging.discard", subject_of(competition, judging), {"judgements": len(lost)})


def _delete_all(
    session: Session,
    judging: JudgingRound,
    tables: Iterable[type[JudgingAnnotator] | type[JudgedText] | type[JudgedEntry]],
) -> None:
    for table in tables:
        session.execute(delete(table).where(table.round_id == judging.id))


def _renew_boards(session: Session, judging: JudgingRound) -> None:
    boards_changed(session, [judging.phase_task_id])
