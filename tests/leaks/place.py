"""A server with something to hide: an evaluation with a hidden board, open practice, sealed gold, rounds of judging.

ROLES are its visitors. The hidden part can be replaced by something else, while everything else stays the same byte for
byte.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import combinations
from typing import Any
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import Engine, Select, select, update
from sqlalchemy.orm import Session

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.base.storage import StoredFile, local_file, storage_of, store_upload
from app.boards.rows import Interval
from app.boards.run_statistics import StatisticsOfRun, record_run_statistics
from app.boards.statistics import Statistics, statistics_document
from app.boards.statistics_work import record_statistics
from app.competitions.find import find_competition, find_phase_task
from app.exports.client_wheel import client_wheel
from app.judging.marks import save_marks, worksheet
from app.judging.rounds import find_round, publish_round
from app.messages.announcements import AnnouncementForm, publish
from app.messages.questions import QuestionForm, ask
from app.models import (
    ApiToken,
    Board,
    DeliveryStatus,
    GoldVersion,
    NewsKind,
    PhaseTask,
    PublicFile,
    ReportReason,
    Right,
    Role,
    RunStatus,
    ScoringRun,
    Submission,
    TextKind,
    User,
    WebhookDelivery,
)
from app.moderation.hiding import hide as hide_text
from app.moderation.reports import report
from app.moderation.texts import stored_text
from app.people.act import Act, UserAct
from app.people.rights import grant_role, set_rights
from app.rescoring.sets import start_rescoring
from app.runs.outcomes import RunResult, record_scores
from app.runs.validations import claim_validation, record_invalid
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.submissions.validations import FileToCheck, accept_validation
from app.web.codabench.numbers import KeyOf, key_of, number_of
from app.web.http.context import Server
from app.web.http.rate_limits import RateLimits
from app.webhooks.keeping import Holder, WebhookEntry, add_webhook, send_test
from evergold.scoring.errors import Problem
from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.task import NOT_ENTERED, Score
from tests import world
from tests.competitions.embargo import add_phase, declare, freeze, hide
from tests.declarations.rows import keep_declaration
from tests.judging import judged as judging
from tests.sealed import make_key, seal_gold
from tests.teams import merged
from tests.web.routes import NOWHERE, Address
from tests.web.site import Client, Site, csrf_of, secrets_of
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

OTHERS = "others"
MONITORED = {"metrics_token": SecretStr("for-monitoring-alone")}
#: The evaluation is over, and its board is still hidden: its results are frozen, a phase after it goes on from them.
CLOSE = NOW - HOUR
REVEAL = NOW + DAY
MINUTE = timedelta(minutes=1)

#: Whose status each column of the table says, in this order.
ROLES = (
    "anonymous",
    "participant",  # whose submission is asked for
    "other team",
    "annotator",
    "organiser elsewhere",
    "organiser",
    "administrator",
    "editor",  # organisers with one right each
    "submissions alone",
    "gold alone",
    "messages alone",
)
ACCOUNTS = dict(
    zip(ROLES[1:], ("alpha", "beta", "anna", "elsa", "olga", "root", "edda", "sue", "goldie", "mel"), strict=True)
)
#: Organisers who lack something, with what they have.
ONE_RIGHT = dict(zip(ROLES[-4:], Right, strict=True))
TEAMS = ("alpha", "beta", "gamma")
TEXTS = {"alpha": judging.ALPHA, "beta": judging.BETA, "gamma": judging.GAMMA}
#: Rounds of judging: one is at work, one is published and hidden as its board is.
DRAFT, PUBLISHED = "draft", "human"

#: What the evaluation says of its board.
EMBARGO: Mapping[str, Any] = {"board": "hidden", "public_from": REVEAL, "own_scores": "never"}
#: What nobody sees yet: BERTScore by team and language; None: not entered.
Hidden = Mapping[str, tuple[float | None, float | None] | None]
HIDDEN: Hidden = {"alpha": (0.91, 0.83), "beta": (0.72, 0.64), "gamma": (0.55, None)}


@dataclass
class Place:
    """The server, its visitors, and the names of everything in it."""

    site: Site
    secrets: dict[str, tuple[str, str, str]]  # by role: API token, cookie, CSRF token
    names: dict[str, str]
    submitted: dict[str, tuple[UUID, int]] = field(default_factory=dict)  # by team: to the evaluation, and its run
    saved: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect(":memory:", check_same_thread=False))
    _saved_version: int | None = None

    def save(self) -> None:
        with closing(sqlite3.connect(self._database())) as live:
            live.backup(self.saved)

    def restore(self) -> None:
        """Restore the saved database if anything was written to it; everything that a server remembers starts anew."""
        if self._version() != self._saved_version:
            with closing(sqlite3.connect(self._database())) as live:
                live.execute("PRAGMA synchronous = OFF")
                self.saved.backup(live)
            self._saved_version = self._version()
        serve(self.site, self.site.settings)

    def close(self) -> None:
        self.saved.close()
        self._watching.close()

    def _version(self) -> int:
        """Return a number that changes with each write by anybody."""
        version: int = self._watching.execute("PRAGMA data_version").fetchone()[0]
        return version

    @cached_property
    def _watching(self) -> sqlite3.Connection:
        return sqlite3.connect(self._database(), check_same_thread=False)

    def _database(self) -> str:
        return self.site.engine.url.database or ""

    def fill(self, address: Address) -> str:
        """Return the address filled with existing names; a new kind of name must get a value in `names_of`."""
        more = NAMES_BY_TEMPLATE.get(address.template, {})
        return re.sub(r"{(\w+)(?::\w+)?}", lambda found: more.get(found[1]) or self.names[found[1]], address.template)

    def fill_all(self, address: Address) -> list[str]:
        """Return the address filled with every name of everything that exists, to look at it all."""
        found = [address.template]
        for part, names in self._all_names(address.template):
            found = [re.sub(rf"{{{part}(?::\w+)?}}", name, path) for path in found for name in names]
        return list(dict.fromkeys(found))

    def _all_names(self, template: str) -> list[tuple[str, list[str]]]:
        several = {
            "phase": [PHASE, "practice", "post"],
            "round_name": [PUBLISHED, DRAFT],
            "picture": [
                "forest",
                "pairs",
                "progress",
                "distribution",
                "bertscore-entropy",
                "languages",
                "categories",
                "submissions",
            ],
            "submission_id": [str(self.submitted[team][0]) for team in ("alpha", "gamma")],
            "submission_number": [str(number_of(self.submitted[team][0])) for team in ("alpha", "gamma")],
            **{part: self.names[f"{part}s"].split() for part in ("phase_id", "task_id", "board_id")},
        }
        parts = re.findall(r"{(\w+)(?::\w+)?}", template)
        more = {part: name for part, name in NAMES_BY_TEMPLATE.get(template, {}).items() if part == "name"}
        return [(part, several.get(part) or [more.get(part) or self.names[part]]) for part in parts]

    @contextmanager
    def client(self, role: str) -> Iterator[Client]:
        with self.site.client() as bare:
            bare.follow_redirects = False
            token, cookie, forgery = self.secrets.get(role) or ("", "", csrf_of(bare.get("/login").text))
            yield Client(bare, token, cookie, forgery)


#: What is another thing at these addresses than elsewhere.
NAMES_BY_TEMPLATE: dict[str, dict[str, str]] = {
    "/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}": {"name": "blind.zip"},
    "/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}": {"name": "blind.zip"},
    "/api/v1/submissions/{submission_id}/report/{name}.txt": {"name": "official"},
    "/competitions/{competition}/judging/{round_name}/figures/{name}.svg": {
        "round_name": PUBLISHED,
        "name": "human-macro",
    },
    "/competitions/{competition}/phases/{phase}/boards/{board}/figures/{name}.svg": {"name": "languages"},
    "/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/submissions": {"phase": "practice"},
    "/competitions/{competition}/phases/{phase}/tasks/{task}/submit": {"phase": "practice"},
    "/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/validations": {"phase": "practice"},
    "/competitions/{competition}/phases/{phase}/tasks/{task}/validate": {"phase": "practice"},
    "/guide/{name}": {"name": "api"},
    "/competitions/{competition}/setup/{step}": {"step": "files"},
    "/api/v1/competitions/{competition}/roles/organiser/{username}/rights": {"username": "edda"},
    "/submissions/{submission_id}/report/figures/{name}.svg": {"name": "languages"},
}


# ------------------------------------------------------------------------------------------------------------- building


def serve(site: Site, settings: Settings) -> None:
    """Start a server with these settings, which has answered nothing yet."""
    site.settings = settings
    site.app.state.server = Server(settings, site.engine, lambda: site.now)
    site.app.state.rate_limits = RateLimits(settings)


def build(site: Site) -> Place:
    """Build everything but the hidden outcomes, and save it: `reveal` adds those."""
    engine = site.engine
    serve(site, site.settings.model_copy(update=MONITORED))
    world.add_competition(engine, per_day=None, starts_at=NOW - 2 * DAY, ends_at=CLOSE)
    judging.add_task(engine)
    add_phase(engine, "practice", starts_at=NOW - 2 * DAY)
    add_phase(engine, "post", starts_at=CLOSE, carry_over=PHASE)
    _add_items(engine)
    _add_file(engine)
    secrets = add_people(engine)
    world.add_competition(engine, name=OTHERS, per_day=None)
    appoint(engine)
    make_key(engine)
    seal_gold(engine, b"sealed gold", places=[f"{COMPETITION}/{phase}/{TASK}" for phase in (PHASE, "post")])
    _declare_ranking(engine)
    submitted = _submit_all(engine)
    rescore(engine, "practice")
    _say_something(engine, site.settings)
    _ask_to_merge(engine)
    _add_webhook(engine, site.settings)
    place = Place(site, secrets, names_of(engine, submitted["alpha"][0], submitted["nobody"][1]), submitted)
    place.names["validation_id"] = _have_checked(engine)
    keep_declaration(engine, phases=(PHASE, "practice", "post"), metric="bertscore", split="macro")
    place.save()
    return place


def _declare_ranking(engine: Engine) -> None:
    """Declare a ranking across the boards of the task, which is hidden wherever these are."""
    with writing(engine) as session:
        boards = [{"board": "zero-shot"}, {"board": "one-shot", "weight": 2.0}]
        find_competition(session, COMPETITION).rankings = [{"name": "overall", "title": "Overall", "boards": boards}]


def reveal(
    place: Place,
    hidden: Hidden = HIDDEN,
    visibility: Mapping[str, Any] = EMBARGO,
    private: Mapping[str, tuple[float | None, float | None]] | None = None,
    ends_at: datetime | None = None,
) -> None:
    """Start from the saved state and end the evaluation with these hidden scores.

    None: a rejected file; a team that is missing never took part. private: scores of a private part of the items, shown
    with the REVEAL. ends_at: the end, for an evaluation that has not ended.
    """
    place.restore()
    engine = place.site.engine
    if ends_at is not None:
        declare(engine, ends_at=ends_at)
    hide(engine, **visibility)
    if private is not None:
        _divide(engine)
    for team in TEAMS:
        (_, run_id), values = place.submitted[team], hidden.get(team)
        if team not in hidden:
            _forget(engine, run_id)
        elif values is None:
            world.reject(engine, run_id, CLOSE - MINUTE)
        else:
            score(engine, run_id, values, private[team] if private else None)
    runs = {team: place.submitted[team][1] for team, values in hidden.items() if values}
    keep_statistics(
        engine,
        {run: values for team, run in runs.items() if (values := hidden[team])},
        {run: private[team] for team, run in runs.items()} if private else {},
    )
    freeze(engine, NOW)


def _divide(engine: Engine) -> None:
    """Divide the items in both phases alike, so that entries are carried over."""
    with writing(engine) as session:
        for phase in (PHASE, "post"):
            phase_task = find_phase_task(session, COMPETITION, phase, TASK)
            phase_task.private_part = {"share": 0.5, "seed": "CANARY-seed-of-parts", "shown_from": REVEAL.isoformat()}


def make_gold_public(engine: Engine) -> None:
    """Make all gold public, as if it had been uploaded and declared so."""
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=True))
        session.execute(update(GoldVersion).values(is_public=True))


def judge(place: Place, among: Sequence[str]) -> None:
    """Add a published round and one in progress, with these teams' submissions."""
    engine = place.site.engine
    with writing(engine) as session:
        olga = _user(session, "olga")
    wanted = [place.submitted[team][0] for team in among]
    for name in (PUBLISHED, DRAFT):
        judging.start(engine, olga, *wanted, annotators={"anna": "en"}, name=name, seed=7)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        _mark_all(session, PUBLISHED)
        publish_round(
            UserAct(session, _user(session, "olga"), NOW, get_settings()),
            competition,
            find_round(session, competition, PUBLISHED),
            unfinished=True,
        )


def _mark_all(session: Session, name: str) -> None:
    found = judging.the_round(session, name)
    annotator = judging.annotator_of(session, found, _user(session, "anna"))
    for number, text_id in enumerate(worksheet(session, found, annotator).text_ids):
        said = {"mwe_sense": str(number % 4), "rest_sense": "2", "naturalness": "3"}
        save_marks(session, found, annotator, text_id, said, NOW)


def _add_items(engine: Engine) -> None:
    """Add the same sentences as items to all phases."""
    with writing(engine) as session:
        asked = [find_phase_task(session, COMPETITION, phase, TASK) for phase in (PHASE, "practice", "post")]
        for phase_task in asked[1:]:
            phase_task.items_sha256 = asked[0].items_sha256


def _add_file(engine: Engine) -> None:
    stored = store_upload([b"blind"], storage_of(get_settings()), 10**6)
    with writing(engine) as session:
        phase_task = find_phase_task(session, COMPETITION, PHASE, TASK)
        session.add(
            PublicFile(
                phase_task_id=phase_task.id,
                name="blind.zip",
                title="The sentences",
                sha256=stored.sha256,
                size_bytes=stored.size_bytes,
            )
        )


def add_people(engine: Engine) -> dict[str, tuple[str, str, str]]:
    for username in ("gamma", "nora"):
        world.add_user(engine, username)
    secrets = {}
    for role, username in ACCOUNTS.items():
        user = world.add_user(engine, username, is_administrator=role == "administrator")
        secrets[role] = secrets_of(engine, user)
    return secrets


def appoint(engine: Engine) -> None:
    with writing(engine) as session:
        here, elsewhere = (find_competition(session, name) for name in (COMPETITION, OTHERS))
        grant_role(session, here, _user(session, "olga"), Role.ORGANISER, NOW)
        grant_role(session, elsewhere, _user(session, "elsa"), Role.ORGANISER, NOW)
        grant_role(session, here, _user(session, "anna"), Role.ANNOTATOR, NOW)
        for role, right in ONE_RIGHT.items():
            grant_role(session, here, _user(session, ACCOUNTS[role]), Role.ORGANISER, NOW, rights=(right,))


def _say_something(engine: Engine, settings: Settings) -> None:
    """Add an announcement, which beta reported, a hidden one, and a question of alpha's without an answer."""
    with writing(engine) as session:
        here, olga = find_competition(session, COMPETITION), _user(session, "olga")
        said = AnnouncementForm("Welcome", "Have a good time.")
        publish(UserAct(session, olga, NOW, settings), here, said, group=None, key=None)
        bad = AnnouncementForm("Welcome again", "An advertisement.")
        bad_id = publish(UserAct(session, olga, NOW, settings), here, bad, group=None, key=None).id
        found = (stored_text(session, here, TextKind.ANNOUNCEMENT, number) for number in (1, bad_id))
        about = [one for one in found if one is not None]
        beta = _user(session, "beta")
        report(UserAct(session, beta, NOW, settings), here, about[0], ReportReason.SPAM, "")
        hide_text(Act(session, olga, NOW, settings), here, about[1], "Not here.")
        asked = QuestionForm("A question", "Why?")
        ask(UserAct(session, _user(session, "alpha"), NOW, settings), here, asked, key=None)


def _add_webhook(engine: Engine, settings: Settings) -> None:
    """Add a webhook of olga's, with a test message that waits to be sent."""
    with writing(engine) as session:
        here, olga = find_competition(session, COMPETITION), _user(session, "olga")
        entry = WebhookEntry(name="Ours", address="https://chat.example.org/hook", kinds=[NewsKind.QUESTION_ASKED])
        added = add_webhook(UserAct(session, olga, NOW, settings), Holder(here), entry)
        send_test(session, added, NOW)
        replayed = WebhookDelivery(
            webhook_id=added.id,
            message="msg_1",
            kind=NewsKind.QUESTION_ASKED,
            about={"competition": here.id, "question": 1},
            happened_at=NOW,
            status=DeliveryStatus.DELIVERED,
            since=NOW,
            next_attempt_at=NOW,
            ended_at=NOW,
            answered=200,
            answer="ok",
        )
        session.add(replayed)


def _ask_to_merge(engine: Engine) -> None:
    """Let beta offer alpha to merge."""
    with writing(engine) as session:
        find_competition(session, COMPETITION).teams = {"merge_until": (NOW + 2 * DAY).isoformat()}
    merged.ask(engine, _user_of(engine, "beta"), "Alpha")


def _user_of(engine: Engine, username: str) -> User:
    with reading(engine) as session:
        return _user(session, username)


def _submit_all(engine: Engine) -> dict[str, tuple[UUID, int]]:
    """Let every team submit to the evaluation, where all wait, and to practice, where all are scored; one
    run failed.
    """
    waiting = {team: _accept(engine, team, PHASE, CLOSE - HOUR) for team in TEAMS}
    for number, team in enumerate(TEAMS):
        score(engine, _accept(engine, team, "practice", NOW - HOUR)[1], (0.4 + number / 10, 0.5))
    waiting["nobody"] = _accept(engine, "gamma", "practice", NOW - HOUR + MINUTE)
    world.fail(engine, waiting["nobody"][1])
    return waiting


def _accept(engine: Engine, team: str, phase: str, at: Any) -> tuple[UUID, int]:
    files = {
        f"{language.upper()}/test.system.json": [
            {"source_sent_id": id_, "prediction": text} for id_, text in items.items()
        ]
        for language, items in TEXTS[team].items()
    }
    sha256 = judging.stored(files)
    size = local_file(storage_of(get_settings()), sha256).stat().st_size
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            find_phase_task(session, COMPETITION, phase, TASK),
            StoredFile(sha256, size),
            Sender(_user(session, team), at),
            SubmissionForm(filename="predictions.zip"),
        )
        return accepted.submission.id, accepted.run_id


def score(
    engine: Engine,
    run_id: int,
    values: tuple[float | None, float | None],
    private: tuple[float | None, float | None] | None = None,
) -> None:
    """Record scores as a worker would: by language and, as their mean, together."""
    scores, macro = _scores(values), sum(value or 0.0 for value in values) / len(values)
    held = world.sure(world.claim(engine, run_id, NOW - 30 * MINUTE))
    with writing(engine) as session:
        recorded = record_scores(
            session,
            held,
            RunResult(
                scores=scores,
                columns=frozenset((score.metric, score.split) for score in scores),
                task_version=1,
                aggregates={"by_language": {"en": {"bertscore": values[0]}}},
                texts={"official": f"BERTScore {macro:.6f}"},
                private_scores=_scores(private) if private else (),
            ),
            now=NOW - 30 * MINUTE,
        )
    assert recorded


def _scores(values: tuple[float | None, float | None]) -> list[Score]:
    macro = sum(value or 0.0 for value in values) / len(values)
    return [
        Score("bertscore", split, value, None if value is not None else NOT_ENTERED, f"mwe-paraphrase:1|{split}")
        for split, value in (("en", values[0]), ("pt", values[1]), ("macro", macro))
    ]


def keep_statistics(
    engine: Engine,
    values: Mapping[int, tuple[float | None, float | None]],
    private: Mapping[int, tuple[float | None, float | None]] | None = None,
) -> None:
    """Store statistics of the evaluation's boards and of those that its rows are carried over to, as a worker would.

    Intervals around these scores, by run, and who is better than whom by them; also those of the runs themselves.
    """
    document, intervals = _statistics(values)
    if private:
        document["private"] = _statistics(private)[0]
    with writing(engine) as session:
        boards = list(session.scalars(select(Board.id)))
        for phase in (PHASE, "post"):
            phase_task_id = find_phase_task(session, COMPETITION, phase, TASK).id
            record_statistics(session, phase_task_id, "0", {board: document for board in boards})
        record_run_statistics(session, {run: StatisticsOfRun("key", (), of) for run, of in intervals.items()})


def _statistics(
    values: Mapping[int, tuple[float | None, float | None]],
) -> tuple[dict[str, Any], dict[int, dict[tuple[str, str], Interval]]]:
    level = 0.95, "jackknife-logit-t:1|units:sentence,40"
    means = {run: sum(one or 0.0 for one in of_run) / 2 for run, of_run in sorted(values.items())}
    scores = {run: {"en": of_run[0], "pt": of_run[1], "macro": means[run]} for run, of_run in values.items()}
    intervals = {
        run: {("bertscore", split): Interval(one * 0.97, one * 0.99 + 0.01, *level) for split, one in of.items() if one}
        for run, of in scores.items()
    }
    pairs = {(first, second): _difference(a, b) for (first, a), (second, b) in combinations(means.items(), 2)}
    return statistics_document(Statistics("key", frozenset(values), intervals, pairs)), intervals


def _difference(a: float, b: float) -> Difference:
    p = 1e-4 if abs(b - a) > 0.001 else 0.6
    method = "paired:1|resamples:10000|units:sentence,40|seed:0"
    return Difference(a, b, b - a, b - a - 0.01, b - a + 0.01, p, 0, 10_000, 0.95, method)


def _have_checked(engine: Engine) -> str:
    """Validate a file of alpha's without submitting it; return the id."""
    with writing(engine) as session:
        accepted = accept_validation(
            session,
            find_phase_task(session, COMPETITION, "practice", TASK),
            Sender(_user(session, "alpha"), NOW - HOUR),
            FileToCheck(world.upload_of("not in order")),
        )
        claim = claim_validation(session, accepted.validation.id, worker="w", lease_seconds=60, now=NOW - HOUR)
        assert claim is not None
        record_invalid(session, claim, problems=[Problem("bad", "it is not in order")], omitted=0, now=NOW - HOUR)
        return str(accepted.validation.id)


def rescore(engine: Engine, phase: str) -> None:
    """Start an open set of a phase, ready to be published, in which everything has another score."""
    with writing(engine) as session:
        competition, olga = find_competition(session, COMPETITION), _user(session, "olga")
        made = start_rescoring(
            Act(session, olga, NOW - 40 * MINUTE, get_settings()), competition, [phase], note="Wrong labels."
        )
        runs = session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == made.id)).all()
    for number, run_id in enumerate(runs):
        score(engine, run_id, (0.07 + number / 100, 0.013))


def _forget(engine: Engine, run_id: int) -> None:
    """Delete everything as if this team had never taken part in the evaluation."""
    with writing(engine) as session:
        run = session.get_one(ScoringRun, run_id)
        submission = run.submission_id
        session.delete(run)
        session.flush()
        session.delete(session.get_one(Submission, submission))


def names_of(engine: Engine, submission_id: UUID | str, failed_run: int = 1) -> dict[str, str]:
    """Return values for the variable parts of addresses, among them a submission and a run."""
    with reading(engine) as session:
        other = session.scalars(_others_of_the_same(submission_id)).first()
        token = session.scalars(select(ApiToken.id).join(ApiToken.user).where(User.username == "alpha")).one()
        phase_task = find_phase_task(session, COMPETITION, PHASE, TASK)
        competition = find_competition(session, COMPETITION)
        there = {one.name for one in competition.phases}
        practice = find_phase_task(session, COMPETITION, "practice" if "practice" in there else PHASE, TASK)
        boards = select(Board.id).where(Board.task_id == phase_task.task_id).order_by(Board.position)
        board = session.scalars(boards).first()
        file = session.scalars(select(PublicFile.id).where(PublicFile.phase_task_id == phase_task.id)).first()
    return {
        "competition": COMPETITION,
        "phase": PHASE,
        "task": TASK,
        "board": "zero-shot",
        "ranking": "overall",
        "team": "Alpha",
        "number": "1",
        "rescoring": "1",
        "picture": "progress",
        "version": "1",
        "round_name": DRAFT,
        "language": "en",
        "place": "1",
        "username": "nora",
        "role": "annotator",
        "announcement_id": "1",
        "webhook_id": "1",
        "question_id": "1",
        "report_id": "1",
        "hidden_id": "1",
        "submission_id": str(submission_id),
        "other_id": str(other or NOWHERE),
        "validation_id": NOWHERE,
        "run_id": str(failed_run),
        "mark_id": "1",
        "allowance_id": "1",
        "blueprint_id": "1",
        "step": "publish",
        "offer_id": "1",
        "sha256": "0" * 64,
        "invitation_id": "1",
        "setting": "registration",
        "scheme": "light",
        "domain": "spam.example",
        "request_id": "1",
        "token_id": str(token),
        "identity_id": "1",
        "login_id": "0",
        "passkey_id": "1",
        "provider": "nowhere",
        "competition_id": str(phase_task.phase.competition_id),
        "phase_id": str(phase_task.phase_id),
        "task_id": str(phase_task.id),
        "board_id": str(board),
        "submission_number": str(number_of(UUID(str(submission_id)))),
        "key": str(key_of(KeyOf.PUBLIC_FILE, file)) if file else NOWHERE,
        "secret": "guessed",
        "status_id": "1",
        "filename": client_wheel().filename,
        "phase_ids": " ".join(str(one.id) for one in competition.phases),
        "task_ids": " ".join(str(one.id) for phase in competition.phases for one in phase.phase_tasks),
        "board_ids": " ".join(str(one.id) for one in competition.boards),
        "practice_id": str(practice.phase_id),
        "task_key": str(key_of(KeyOf.PHASE_TASK, practice.id)),
        "held_key": NOWHERE,
    }


def _others_of_the_same(submission_id: UUID | str) -> Select[UUID]:
    """Return the query for submissions to compare it with: its team's other scored ones, to the same task, in any
    phase.
    """
    team = select(Submission.team_id).where(Submission.id == UUID(str(submission_id))).scalar_subquery()
    scored = Submission.runs.any(ScoringRun.is_current & (ScoringRun.status == RunStatus.SCORED))
    mine = Submission.team_id == team, Submission.id != UUID(str(submission_id))
    return select(Submission.id).where(*mine, scored).order_by(Submission.submitted_at)


def _user(session: Session, username: str) -> User:
    return session.scalars(select(User).where(User.username == username)).one()


def give_all_but_submissions(unscored: Place) -> None:
    """Give an organiser every right except to see submissions; such an organiser sees what participants see."""
    rights = frozenset(Right) - {Right.SUBMISSIONS}
    with writing(unscored.site.engine) as session:
        editor = session.scalars(select(User).where(User.username == ACCOUNTS["editor"])).one()
        set_rights(session, find_competition(session, COMPETITION), editor, rights, NOW, actor=None)
    unscored.save()
