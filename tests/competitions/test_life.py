"""Draft, private, published; paused, archived, deleted: who sees a competition, and what still happens in it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, func, select, text
from structlog.testing import capture_logs

from app.base.db import Base, reading, writing
from app.base.errors import InvalidForm
from app.competitions.access import CompetitionArchived, CompetitionPaused, may_see
from app.competitions.find import find_competition, listed_competitions, own_competitions
from app.competitions.life import (
    WAITING,
    ImpossibleStage,
    Life,
    change_life,
    delete_due,
    keep_competition,
    life_of,
    plan_deletion,
)
from app.models import (
    AuditEntry,
    Competition,
    Halt,
    Registration,
    RegistrationStatus,
    Role,
    Stage,
    Team,
    TeamKind,
    User,
)
from app.people.rights import grant_role
from app.submissions.validations import check_may_validate
from tests.rich_world import leave_alone_what_is_prepared
from tests.world import COMPETITION, HOUR, NOW, add_competition, add_team, add_user, submit, the_phase_task

WHY = "the gold of track B is corrected"


def live(engine: Engine, stage: Stage, halt: Halt = Halt.NONE, reason: str = "") -> bool:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        return change_life(session, competition, Life(stage, halt, reason), actor=None, now=NOW)


def seen_by(engine: Engine, *users: User | None) -> list[bool]:
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        return [may_see(session, user, here.id) for user in users]


@pytest.fixture
def here(sqlite_engine: Engine) -> Engine:
    leave_alone_what_is_prepared(sqlite_engine)
    add_competition(sqlite_engine)
    return sqlite_engine


def test_each_stage_is_seen_by_those_it_is_for(here: Engine) -> None:
    people = {role: add_user(here, role) for role in Role}
    member, registered, refused, stranger = (add_user(here, name) for name in ("mia", "rita", "rex", "sam"))
    root = add_user(here, "root", is_administrator=True)
    add_team(here, member, name="Mia")
    with writing(here) as session:
        found = find_competition(session, COMPETITION)
        for role, user in people.items():
            grant_role(session, found, user, role, NOW)
        for user, status in ((registered, RegistrationStatus.PENDING), (refused, RegistrationStatus.REFUSED)):
            session.add(Registration(competition_id=found.id, user_id=user.id, status=status, registered_at=NOW))
    everybody = [people[role] for role in (Role.ORGANISER, Role.TESTER, Role.GUEST, Role.ANNOTATOR)]
    looking = [*everybody, member, registered, refused, stranger, None, root]
    expected = {
        #                  org   tester guest  annot. member regist. refused stranger nobody root
        Stage.DRAFT: [True, True, False, False, False, False, False, False, False, True],
        Stage.PRIVATE: [True, True, True, True, True, True, False, False, False, True],
        Stage.PUBLISHED: [True] * 10,
    }
    for stage, seen in expected.items():
        live(here, stage)
        assert seen_by(here, *looking) == seen, stage


def test_a_role_elsewhere_opens_nothing_here(here: Engine) -> None:
    add_competition(here, name="others")
    elsa = add_user(here, "elsa")
    with writing(here) as session:
        grant_role(session, find_competition(session, "others"), elsa, Role.ORGANISER, NOW)
    live(here, Stage.DRAFT)
    assert seen_by(here, elsa) == [False]


def test_lists_have_what_is_published_and_one_s_own_apart(here: Engine) -> None:
    olga, sam = add_user(here, "olga"), add_user(here, "sam")
    with writing(here) as session:
        grant_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
    live(here, Stage.DRAFT)
    with reading(here) as session:
        assert COMPETITION not in [one.name for one in listed_competitions(session)]
        assert [one.name for one in own_competitions(session, olga)] == [COMPETITION]
        assert own_competitions(session, sam) == []
    live(here, Stage.PUBLISHED)
    with reading(here) as session:
        assert COMPETITION in [one.name for one in listed_competitions(session)]
        assert [one.name for one in own_competitions(session, olga)] == [COMPETITION]


@pytest.mark.parametrize(("halt", "error"), [(Halt.PAUSED, CompetitionPaused), (Halt.ARCHIVED, CompetitionArchived)])
def test_what_is_at_rest_takes_no_uploads_and_says_why(
    here: Engine, halt: Halt, error: type[CompetitionPaused]
) -> None:
    ada = add_user(here, "ada")
    submit(here, ada)
    live(here, Stage.PUBLISHED, halt, WHY)
    with pytest.raises(error, match=WHY):
        submit(here, ada, NOW + HOUR)
    with reading(here) as session, pytest.raises(error, match=WHY):
        check_may_validate(session, ada, the_phase_task(session), NOW)
    live(here, Stage.PUBLISHED)
    submit(here, ada, NOW + HOUR)


def test_a_pause_says_why_and_a_reason_goes_with_it(here: Engine) -> None:
    for reason in ("", "  ", "x" * 301):
        with pytest.raises(InvalidForm):
            live(here, Stage.PUBLISHED, Halt.PAUSED, reason)
    assert live(here, Stage.PUBLISHED, Halt.PAUSED, f"  {WHY}\n") is True
    assert live(here, Stage.PUBLISHED, Halt.PAUSED, WHY) is False, "nothing is other than before"
    assert live(here, Stage.PUBLISHED, Halt.NONE, "forgotten") is True
    with reading(here) as session:
        assert life_of(find_competition(session, COMPETITION)) == Life(Stage.PUBLISHED)
        ours = select(AuditEntry).where(AuditEntry.action == "competition.life")
        entries = session.scalars(ours.order_by(AuditEntry.id)).all()
        assert [entry.details["after"] for entry in entries] == [f"published, paused ({WHY})", "published"]


def test_who_has_submitted_goes_on_seeing_results(here: Engine) -> None:
    ada = add_user(here, "ada")
    submit(here, ada)
    with pytest.raises(ImpossibleStage, match="make the competition private instead of a draft"):
        live(here, Stage.DRAFT)
    live(here, Stage.PRIVATE)
    assert seen_by(here, ada) == [True]


def test_an_empty_competition_is_published_to_nobody(here: Engine) -> None:
    with writing(here) as session:
        empty = Competition(name="empty", title="Empty", created_at=NOW, stage=Stage.DRAFT)
        session.add(empty)
        session.flush()
        for stage in (Stage.PRIVATE, Stage.PUBLISHED):
            with pytest.raises(ImpossibleStage, match="no phase with a task"):
                change_life(session, empty, Life(stage), actor=None, now=NOW)


# ------------------------------------------------------------------------------------------------------------ deletion


def plan(engine: Engine) -> None:
    with writing(engine) as session:
        plan_deletion(session, find_competition(session, COMPETITION), actor=None, now=NOW)


def test_it_is_hidden_at_once_and_deleted_after_the_wait(here: Engine) -> None:
    add_competition(here, name="others")
    plan(here)
    assert seen_by(here, None) == [False]
    with pytest.raises(ImpossibleStage, match="Cancel the deletion first"):
        live(here, Stage.PUBLISHED)
    with writing(here) as session:
        assert delete_due(session, NOW + WAITING - HOUR) == []
        assert delete_due(session, NOW + WAITING) == [COMPETITION]
    with reading(here) as session:
        names = session.scalars(select(Competition.name)).all()
        assert "others" in names
        assert COMPETITION not in names


def test_what_is_kept_is_a_draft_again(here: Engine) -> None:
    plan(here)
    with writing(here) as session:
        found = find_competition(session, COMPETITION)
        assert keep_competition(session, found, actor=None, now=NOW) is True
        assert keep_competition(session, found, actor=None, now=NOW) is False
        assert life_of(found) == Life(Stage.DRAFT)
        assert delete_due(session, NOW + WAITING) == []


def test_where_a_team_submitted_nothing_is_ever_deleted(here: Engine) -> None:
    ada = add_user(here, "ada")
    submit(here, ada)
    with pytest.raises(ImpossibleStage, match="Archive the competition instead"):
        plan(here)
    with writing(here) as session:  # as if it had slipped in before
        find_competition(session, COMPETITION).delete_at = NOW
    with writing(here) as session:
        assert delete_due(session, NOW) == []
        assert find_competition(session, COMPETITION).halt == Halt.ARCHIVED


def test_a_competition_that_cannot_be_deleted_keeps_no_other(sqlite_engine: Engine) -> None:
    """A table that this version does not know refers to one of them."""
    for name in ("first", "second"):
        add_competition(sqlite_engine, name=name)
        with writing(sqlite_engine) as session:
            plan_deletion(session, find_competition(session, name), actor=None, now=NOW)
            if name == "first":
                session.execute(text("CREATE TABLE later (competition_id INTEGER REFERENCES competitions (id))"))
                session.execute(text("INSERT INTO later SELECT id FROM competitions WHERE name = 'first'"))
    with writing(sqlite_engine) as session, capture_logs() as logged:
        assert delete_due(session, NOW + WAITING) == ["second"]
    assert [(one["event"], one["competition"]) for one in logged] == [("competition_not_deleted", "first")]
    with reading(sqlite_engine) as session:
        assert find_competition(session, "first").delete_at is not None


def test_a_baseline_is_no_team_and_all_that_belongs_to_it_goes_with_it(sqlite_engine: Engine) -> None:
    """Counted in every table; the neighbours of the test database lose nothing."""
    leave_alone_what_is_prepared(sqlite_engine)
    olga = add_user(sqlite_engine, "olga")
    before = counts(sqlite_engine)
    add_competition(sqlite_engine)
    submission = submit(sqlite_engine, olga).submission
    with writing(sqlite_engine) as session:
        session.get_one(Team, submission.team_id).kind = TeamKind.BASELINE
    assert {table for table, number in counts(sqlite_engine).items() if number > before[table]} > {
        "runs",
        "phases",
    }
    plan(sqlite_engine)
    with writing(sqlite_engine) as session:
        assert delete_due(session, NOW + WAITING) == [COMPETITION]
    after = counts(sqlite_engine)
    assert {table for table in after if after[table] != before[table]} == {"audit_log"}


def counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        tables = Base.metadata.sorted_tables
        return {one.name: connection.execute(select(func.count()).select_from(one)).scalar_one() for one in tables}
