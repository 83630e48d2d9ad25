"""Paraphrases to judge: a small task in English and Portuguese, systems that paraphrased its sentences, and rounds."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import StoredFile, storage_of, store_upload
from app.competitions.find import find_competition
from app.competitions.visibility import Viewer
from app.judging.annotators import appoint
from app.judging.reading import read_texts
from app.judging.rounds import RoundForm, find_round, seed_of, start_round
from app.judging.selection import choose_submissions, sources_of
from app.models import Board, Competition, CompetitionTask, JudgingAnnotator, JudgingRound, PhaseTask, User
from app.people.act import UserAct
from evergold.scoring.task import NOT_ENTERED, Score
from tests import world
from tests.world import COMPETITION, NOW

Texts = Mapping[str, Mapping[str, str]]

SENTENCES: Texts = {
    "en": {
        "en-1": "She finally kicked the bucket last winter.",
        "en-2": "My brother is a night owl.",
        "en-3": "He felt under the weather all week.",
    },
    "pt": {"pt-1": "Ele chutou o balde na reunião.", "pt-2": "Foi uma tempestade em copo d'água."},
}
#: Three systems; the first two say the same of en-2, the third has no Portuguese.
ALPHA: Texts = {
    "en": {"en-1": "She died last winter.", "en-2": "My brother stays up late.", "en-3": "He was ill all week."},
    "pt": {"pt-1": "Ele perdeu a paciência.", "pt-2": "Foi muito barulho por nada."},
}
BETA: Texts = {
    "en": {"en-1": "She passed away.", "en-2": "My brother  stays up late.", "en-3": "He felt bad."},
    "pt": {"pt-1": "Ele desistiu.", "pt-2": "Foi um exagero."},
}
GAMMA: Texts = {
    "en": {"en-1": "", "en-2": "My brother is a night owl.", "en-3": "He felt poorly all week."},
}
#: Why a language that was entered has no BERTScore.
NO_MODEL = "no model reads it"


def add_task(engine: Engine, sentences: Texts = SENTENCES) -> None:
    """Change the world's competition to paraphrasing: the blind file in storage, a board of macro BERTScore."""
    column = {"metric": "bertscore", "split": "macro", "title": "BERTScore", "decimals": 2, "percent": True}
    files = {
        f"{language.upper()}/test.blind.json": [
            {"source_sent_id": id_, "raw_text": text} for id_, text in items.items()
        ]
        for language, items in sentences.items()
    }
    items = stored(files)
    options = {"languages": list(sentences)}
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="mwe-paraphrase", options=options))
        session.execute(update(Board).values(columns=[column], rank_metric="bertscore", rank_split="macro"))
        session.execute(update(PhaseTask).values(items_sha256=items))


def stored(files: Mapping[str, object]) -> str:
    """Store a zip with these JSON files; return its sha256."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, document in files.items():
            archive.writestr(zipfile.ZipInfo(name), json.dumps(document, ensure_ascii=False))
    return store_upload([packed.getvalue()], storage_of(get_settings()), 10**8).sha256


def enter(
    engine: Engine, user: User, texts: Texts, bertscores: Mapping[str, float], *, more: Iterable[Score] = ()
) -> UUID:
    """Submit a system's paraphrases and have them scored. bertscores: by language; a language left out has none. more:
    scores of other metrics.
    """
    files = {
        f"{language.upper()}/test.system.json": [
            {"source_sent_id": id_, "prediction": text} for id_, text in items.items()
        ]
        for language, items in texts.items()
    }
    sha256 = stored(files)
    size = (get_settings().storage_dir / sha256[:2] / sha256).stat().st_size
    upload = StoredFile(sha256, size)
    accepted = world.submit(engine, user, stored=upload, method=f"method of {user.username}")
    scores = [
        Score("bertscore", language, bertscores[language], None, "s")
        if language in bertscores
        else Score("bertscore", language, None, NO_MODEL if language in texts else NOT_ENTERED, "s")
        for language in SENTENCES
    ]
    macro = sum(bertscores.values()) / len(SENTENCES)
    scores += [Score("bertscore", "macro", macro, None, "s"), *more]
    assert world.finish(engine, world.sure(world.claim(engine, accepted.run_id)), scores)
    return accepted.submission.id


def enter_three(engine: Engine) -> dict[str, UUID]:
    """Enter alpha, beta and gamma, with falling BERTScores."""
    return {
        "alpha": enter(engine, world.add_user(engine, "alpha"), ALPHA, {"en": 0.9, "pt": 0.8}),
        "beta": enter(engine, world.add_user(engine, "beta"), BETA, {"en": 0.7, "pt": 0.7}),
        "gamma": enter(engine, world.add_user(engine, "gamma"), GAMMA, {"en": 0.5}),
    }


def start(
    engine: Engine,
    organiser: User,
    *wanted: UUID,
    annotators: Mapping[str, str] | None = None,
    **form: Any,
) -> JudgingRound:
    """Start a round and commit. annotators: user name to language."""
    with reading(engine) as session:
        competition, phase_task = places(session)
        chosen = choose_submissions(session, competition, phase_task, wanted, Viewer(organiser, NOW))
        sources = sources_of(storage_of(get_settings()), phase_task, chosen)
    asked = RoundForm(**form)
    drawn = read_texts(sources, seed_of(asked), asked.items)
    with writing(engine) as session:
        judging = start_round(
            UserAct(session, organiser, NOW, get_settings()),
            competition=competition,
            phase_task=phase_task,
            form=asked,
            drawn=drawn,
        )
        judging = find_round(session, competition, judging.name)
        for username, language in (annotators or {}).items():
            appoint(
                UserAct(session, organiser, NOW, get_settings()),
                competition,
                judging,
                language=language,
                username=username,
            )
        return judging


def places(session: Session) -> tuple[Competition, PhaseTask]:
    return find_competition(session, COMPETITION), world.the_phase_task(session)


def the_round(session: Session, name: str = "human") -> JudgingRound:
    return find_round(session, find_competition(session, COMPETITION), name)


def annotator_of(session: Session, judging: JudgingRound, user: User, language: str = "en") -> JudgingAnnotator:
    from app.judging.annotators import find_assignment

    return find_assignment(session, find_competition(session, COMPETITION), judging, language, user)
