"""Accepting submissions: teams made once, idempotency keys, words that come along, and what is stored of an upload."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import IdempotencyConflict, InvalidForm, LimitReached, NameTaken, PhaseNotOpen
from app.competitions.find import find_competition
from app.models import Right, Role, RunStatus, ScoringRun, Submission, Team, TeamMember, User
from app.people.act import UserAct
from app.people.rights import grant_role, rights_of
from app.submissions.accept import Sender, SubmissionForm, accept_submission, find_replay, look_up, precheck
from app.teams.find import find_team
from app.teams.membership import leave_team
from tests.cards.writing import answers, ask, card, required
from tests.competitions.embargo import enter
from tests.rescoring.rescored import publish, runs_of, score_set, start
from tests.rich_world import own
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    DAY,
    NOW,
    PHASE,
    SECOND,
    add_competition,
    add_team,
    add_user,
    answer_to,
    reject,
    score,
    submit,
    the_phase_task,
    the_run,
    upload_of,
)

pytestmark = pytest.mark.both


def find_team_of(session: Session, user: User) -> Team | None:
    return find_team(session, user, the_phase_task(session).phase.competition_id)


def count(engine: Engine, table: type[Submission] | type[ScoringRun] | type[Team] | type[TeamMember]) -> int:
    with reading(engine) as session:
        return len(session.scalars(own(table)).all())


# ---------------------------------------------------------------------------------------------------------- accepted


def test_an_accepted_submission_waits_in_the_queue(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    accepted = submit(engine, ada, content="my file", method="BERT")
    assert accepted.created
    run = the_run(engine, accepted.run_id)
    assert (run.submission_id, run.status, run.is_current) == (accepted.submission.id, RunStatus.QUEUED, True)
    assert (run.gold, run.attempts, run.queued_at, run.sent_at) == ("gold.csv", 0, NOW, None)
    with reading(engine) as session:
        stored = session.get_one(Submission, accepted.submission.id)
        assert (stored.sha256, stored.size_bytes) == (upload_of("my file").sha256, 7)
        assert (stored.filename, stored.method, stored.submitted_at) == ("predictions.csv", "BERT", NOW)
        assert stored.user_id == ada.id


def test_a_refusal_leaves_no_trace(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    with pytest.raises(PhaseNotOpen):
        submit(engine, ada, NOW + DAY)
    assert [count(engine, table) for table in (Submission, ScoringRun, Team, TeamMember)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("predictions.csv", "predictions.csv"),
        ("C:\\Users\\Ada\\my predictions.zip", "my predictions.zip"),
        ("../../etc/passwd", "passwd"),
        ("/etc/", ""),
        ("predições.csv", "predições.csv"),
        ("a\0b\r\n\u202ec.csv", "abc.csv"),
        ("\udcff.csv", ".csv"),
        ("x" * 300, "x" * 200),
    ],
)
def test_of_a_file_name_the_showable_last_part_is_kept(engine: Engine, sent: str, kept: str) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    with writing(engine) as session:
        accepted = accept_submission(
            session, the_phase_task(session), upload_of("x"), Sender(ada, NOW), SubmissionForm(filename=sent)
        )
    with reading(engine) as session:
        assert session.get_one(Submission, accepted.submission.id).filename == kept


def test_what_was_sent_without_a_name_has_none(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        accepted = accept_submission(session, the_phase_task(session), upload_of("x"), Sender(ada, NOW))
        assert (accepted.submission.filename, accepted.submission.method, accepted.submission.description) == ("",) * 3
        assert accepted.system is None


def test_a_submission_is_of_the_system_that_was_named_and_of_the_method_on_its_card(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        accepted = accept_submission(
            session,
            the_phase_task(session),
            upload_of("x"),
            Sender(ada, NOW),
            SubmissionForm(system="Mark I", description="  as ever ", card={"method": "BERT"}),
        )
        kept = session.get_one(Submission, accepted.submission.id)
        assert accepted.system is not None
        assert (accepted.system.name, kept.system_id) == ("Mark I", accepted.system.id)
        assert (kept.method, kept.description, kept.is_late) == ("BERT", "as ever", False)
        assert (accepted.run_id, accepted.team) == (sure(accepted.run).id, find_team_of(session, ada))


def sure(run: ScoringRun | None) -> ScoringRun:
    assert run is not None
    return run


def test_what_is_wrong_with_the_system_the_track_and_the_card_is_said_at_once(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session, pytest.raises(InvalidForm) as refused:
        accept_submission(
            session,
            the_phase_task(session),
            upload_of("x"),
            Sender(ada, NOW),
            SubmissionForm(
                track="closed", system="x" * 101, method="BERT", card={"method": "T5", "paper": "no address"}
            ),
        )
    assert set(refused.value.details["fields"]) == {"track", "method", "paper", "system"}


def test_words_are_bounded_and_said_by_field(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    with writing(engine) as session, pytest.raises(InvalidForm) as refused:
        accept_submission(
            session,
            the_phase_task(session),
            upload_of("x"),
            Sender(ada, NOW, "k" * 201),
            SubmissionForm(method="x" * 201, description="y\0"),
        )
    assert refused.value.details["fields"] == {
        "method": "At most 200 characters; this has 201.",
        "description": "NUL characters are not allowed.",
        "Idempotency-Key": "At most 200 characters; this has 201.",
    }


def test_an_organiser_who_uploads_sees_all_only_with_the_right_to_submissions(engine: Engine) -> None:
    """Check the answer to an upload against `app.people.rights.rights_of`."""
    add_competition(engine)
    names = {
        "ada": None,
        "olga": [Right.SUBMISSIONS],
        "edda": [Right.EDIT, Right.GOLD, Right.MESSAGES],
        "otto": [Right.EDIT],
    }
    users = {name: add_user(engine, name) for name in names}
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        here.owner_id = users["otto"].id
        for name, rights in names.items():
            if rights is not None:
                grant_role(session, here, users[name], Role.ORGANISER, NOW, rights=rights)
    with reading(engine) as session:
        found = {
            name: look_up(session, the_phase_task(session), Sender(user, NOW)).sees_all for name, user in users.items()
        }
        here = find_competition(session, COMPETITION)
        assert found == {name: Right.SUBMISSIONS in rights_of(session, user, here) for name, user in users.items()}
    assert found == {"ada": False, "olga": True, "edda": False, "otto": True}


def check_early(session: Session, user: User, now: datetime) -> None:
    precheck(session, look_up(session, the_phase_task(session), Sender(user, now)))


def test_precheck_refuses_what_is_sure_before_a_byte_was_read(engine: Engine) -> None:
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")

    def check(now: datetime = NOW) -> None:
        with reading(engine) as session:
            check_early(session, ada, now)

    check()
    assert count(engine, Team) == 0, "it makes no team"
    with pytest.raises(PhaseNotOpen):
        check(NOW + DAY)
    submit(engine, ada)
    with pytest.raises(LimitReached):
        check()


def test_precheck_counts_what_was_used_in_a_team_that_one_has_left(sqlite_engine: Engine) -> None:
    """Check that a file of gigabytes is not received before it is refused."""
    add_competition(sqlite_engine, per_day=1)
    ada, bob = add_user(sqlite_engine, "ada"), add_user(sqlite_engine, "bob")
    add_team(sqlite_engine, ada, bob, name="Both")
    submit(sqlite_engine, bob)
    with writing(sqlite_engine) as session:
        leave_team(UserAct(session, ada, NOW, get_settings()), find_competition(session, COMPETITION))
    with reading(sqlite_engine) as session, pytest.raises(LimitReached):
        check_early(session, ada, NOW)


# ------------------------------------------------------------------------------------------------------ idempotency


def test_a_retried_upload_is_the_same_submission(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    first = submit(engine, ada, key="k1")
    again = submit(engine, ada, NOW + SECOND, key="k1")
    assert (again.created, again.submission.id, again.run_id) == (False, first.submission.id, first.run_id)
    assert (count(engine, Submission), count(engine, ScoringRun)) == (1, 1)


def test_a_retry_after_the_deadline_or_the_limit_still_finds_the_first(engine: Engine) -> None:
    """The client timed out, its upload had arrived in time."""
    add_competition(engine, per_day=1)
    ada = add_user(engine, "ada")
    first = submit(engine, ada, key="k1")
    for now in (NOW + SECOND, NOW + 2 * DAY):
        assert submit(engine, ada, now, key="k1").submission.id == first.submission.id


def test_a_retry_finds_the_run_that_counts_by_now(sqlite_engine: Engine) -> None:
    """The first one was replaced by that of a set."""
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    first = submit(sqlite_engine, ada, key="k1")
    score(sqlite_engine, first.run_id, 0.5)
    number = start(sqlite_engine, PHASE)
    score_set(sqlite_engine, number, {first.submission.id: 0.6})
    publish(sqlite_engine, number)
    again = submit(sqlite_engine, ada, key="k1")
    assert (again.run_id, again.is_untouched) == (runs_of(sqlite_engine, number)[first.submission.id], False)


def test_a_retry_of_a_rejected_upload_says_that_it_was_rejected(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    first = submit(engine, ada, key="k1")
    reject(engine, first.run_id)
    assert submit(engine, ada, key="k1").run_id == first.run_id


def test_a_key_with_another_file_is_a_conflict(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    first = submit(engine, ada, key="k1", content="one")
    with pytest.raises(IdempotencyConflict) as refused:
        submit(engine, ada, key="k1", content="another")
    assert refused.value.details == {"submission": str(first.submission.id)}
    assert count(engine, Submission) == 1


def test_a_key_for_another_track_is_a_conflict(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        tracks = [{"name": name, "title": name.title(), "description": ""} for name in ("open", "closed")]
        find_competition(session, COMPETITION).tracks = tracks

    def send(track: str) -> bool:
        with writing(sqlite_engine) as session:
            form = SubmissionForm(filename="predictions.csv", track=track)
            sender = Sender(ada, NOW, "k1")
            return accept_submission(session, the_phase_task(session), upload_of("x"), sender, form).created

    assert [send("open"), send("open")] == [True, False]
    with pytest.raises(IdempotencyConflict):
        send("closed")


def test_a_key_for_another_competition_is_a_conflict(engine: Engine) -> None:
    add_competition(engine)
    add_competition(engine, name="other")
    ada = add_user(engine, "ada")
    submit(engine, ada, key="k1")
    with pytest.raises(IdempotencyConflict):
        submit(engine, ada, key="k1", competition="other")


def test_keys_belong_to_a_person(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    first, second = submit(engine, ada, key="k1"), submit(engine, bob, key="k1")
    assert second.created
    with reading(engine) as session:
        for user, accepted in ((ada, first), (bob, second)):
            found = find_replay(session, user, "k1")
            assert found is not None
            assert found.id == accepted.submission.id


@pytest.mark.parametrize("key", [None, ""])
def test_without_a_key_every_upload_is_a_new_submission(engine: Engine, key: str | None) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    assert submit(engine, ada, key=key).created
    assert submit(engine, ada, key=key, content="another").created
    assert submit(engine, ada, key=key).created


def test_ten_retries_at_once_make_one_submission(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    accepted = in_threads(10, lambda _: submit(engine, ada, key="k1"))
    assert sorted(a.created for a in accepted) == 9 * [False] + [True]
    assert len({(a.submission.id, a.run_id) for a in accepted}) == 1
    assert (count(engine, Submission), count(engine, ScoringRun)) == (1, 1)


def test_one_key_raced_in_two_competitions_makes_one_submission(engine: Engine) -> None:
    """Other competition, other team, no lock in common: the unique key decides."""
    add_competition(engine)
    add_competition(engine, name="other")
    ada = add_user(engine, "ada")
    names = (COMPETITION, "other")
    answers = in_threads(10, lambda n: answer_to(lambda: submit(engine, ada, key="k1", competition=names[n % 2])))
    assert sorted(answers) == 5 * ["accepted"] + 5 * ["idempotency_conflict"]
    assert (count(engine, Submission), count(engine, ScoringRun)) == (1, 1)


# ------------------------------------------------------------------------------------------------------------- teams


def test_the_first_submission_makes_a_team_of_one(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada", "Ada Lovelace")
    submit(engine, ada)
    submit(engine, ada)
    with reading(engine) as session:
        assert [team.name for team in session.scalars(own(Team))] == ["Ada Lovelace"]


def test_a_person_has_a_team_per_competition(engine: Engine) -> None:
    add_competition(engine)
    add_competition(engine, name="other")
    ada = add_user(engine, "ada")
    submit(engine, ada)
    submit(engine, ada, competition="other")
    assert count(engine, Team) == 2


def test_ten_first_uploads_at_once_make_one_team(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    in_threads(10, lambda n: submit(engine, ada, content=f"file {n}"))
    assert (count(engine, Team), count(engine, TeamMember), count(engine, Submission)) == (1, 1, 10)


def test_namesakes_get_teams_that_can_be_told_apart(engine: Engine) -> None:
    add_competition(engine)
    for username in ("ada", "ada2"):
        submit(engine, add_user(engine, username, "Ada"))
    third = add_user(engine, "ada3", "Ada")
    add_team(engine, name="Ada (ada3)")
    submit(engine, third)
    with reading(engine) as session:
        names = [team.name for team in session.scalars(own(Team).order_by(Team.id))]
    assert list(names) == ["Ada", "Ada (ada2)", "Ada (ada3)", f"ada3 #{third.id}"]


def test_long_display_names_still_make_a_team_name(engine: Engine) -> None:
    add_competition(engine)
    name = "A" * 100
    add_team(engine, name=name)
    username = "a" * 40
    submit(engine, add_user(engine, username, name))
    with reading(engine) as session:
        assert [team.name for team in session.scalars(own(Team).where(Team.name != name))] == [
            f"{name[:50]} ({username})"
        ]


def test_ten_namesakes_at_once_get_ten_teams(engine: Engine) -> None:
    add_competition(engine)
    users = [add_user(engine, f"ada{n}", "Ada") for n in range(10)]
    in_threads(10, lambda n: submit(engine, users[n]))
    with reading(engine) as session:
        names = [team.name for team in session.scalars(own(Team))]
    assert sorted(names)[0] == "Ada"
    assert len(set(names)) == 10


def test_a_required_field_that_the_system_has_need_not_come_again(engine: Engine) -> None:
    """Check another system of the team, and another team's system of the same name: they do not have it."""
    add_competition(engine)
    ask(engine, required("parameters"))
    add_team(engine, add_user(engine, "bob"), name="Before")
    ada, cat = add_user(engine, "ada"), add_user(engine, "cat")
    whole = {"summary": "A large one.", "method": "Fine-tuned", "fields": {"parameters": 560}}
    enter(engine, ada, 0.5, system="Large", card=whole)
    again = enter(engine, ada, 0.6, minute=1, system="Large", card={"code": "https://example.org/code"})
    found = card(engine, again, ada)
    assert (found.summary, found.method, answers(found)) == ("A large one.", "Fine-tuned", {"parameters": 560})
    for user, system in ((ada, "Small"), (cat, "Large")):
        with pytest.raises(InvalidForm) as refused:
            enter(engine, user, 0.5, minute=2, system=system)
        assert refused.value.fields == {"fields.parameters": "The organisers require this."}


def test_a_system_that_is_called_by_its_method_has_its_card_too(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ask(sqlite_engine, required("parameters"))
    ada = add_user(sqlite_engine, "ada")
    enter(sqlite_engine, ada, 0.5, card={"method": "BERT", "fields": {"parameters": 560}})
    forms: tuple[dict[str, Any], ...] = ({"method": "BERT"}, {"card": {"method": "BERT", "summary": "As before."}})
    for minute, form in enumerate(forms, start=1):
        again = enter(sqlite_engine, ada, 0.6, minute=minute, **form)
        assert answers(card(sqlite_engine, again, ada)) == {"parameters": 560}
    with pytest.raises(InvalidForm):
        enter(sqlite_engine, ada, 0.6, minute=3, method="T5")


def test_a_method_that_is_required_may_come_in_its_own_field(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    ask(sqlite_engine, [], "method")
    ada = add_user(sqlite_engine, "ada")
    sent = enter(sqlite_engine, ada, 0.5, method="BERT")
    assert card(sqlite_engine, sent, ada).method == "BERT"
    with pytest.raises(InvalidForm) as refused:
        enter(sqlite_engine, ada, 0.5, minute=1, system="Mark I")
    assert set(refused.value.fields) == {"method"}


def test_when_every_name_is_taken_it_is_said(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada", "Ada")
    for name in ("Ada", "Ada (ada)", f"ada #{ada.id}"):
        add_team(engine, name=name)
    with pytest.raises(NameTaken):
        submit(engine, ada)


def test_a_member_submits_for_the_team(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    team = add_team(engine, ada, bob, name="Both")
    assert {submit(engine, user).submission.team_id for user in (ada, bob)} == {team.id}
    cat = add_user(engine, "cat")
    with writing(engine) as session:
        found = find_team(session, bob, team.competition_id)
        assert found is not None
        assert found.id == team.id
        assert find_team(session, cat, team.competition_id) is None
