"""Access to a file, by time and viewer: it depends only on what was declared, who looks, and now."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.base.errors import NotAuthenticated
from app.competitions.find import find_competition
from app.competitions.visibility import SeenAs
from app.models import Audience, Competition, Phase, PhaseTask, PublicFile, Right, Role, User
from app.people.rights import grant_role
from app.submissions.downloads import (
    DownloadFilter,
    FileAccess,
    NotYetThere,
    check_may_have,
    file_access,
    file_viewer,
    files_downloaded,
    list_downloads,
    record_download,
)
from app.teams.registration import Missing, RegistrationNeeded
from tests.beside import one_right_each
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    add_competition,
    add_user,
    the_phase_task,
)

FILE = "items.csv"


@pytest.fixture
def ada(engine: Engine) -> User:
    """A phase that starts tomorrow, with a file; Ada takes no part yet."""
    add_competition(engine, starts_at=NOW + DAY, ends_at=NOW + 2 * DAY)
    with writing(engine) as session:
        phase_task = the_phase_task(session)
        session.add(PublicFile(phase_task_id=phase_task.id, name=FILE, title="Items", sha256="0" * 64, size_bytes=1))
    return add_user(engine, "ada")


def say(engine: Engine, *, since: str | None = None, audience: str | None = None) -> None:
    with writing(engine) as session:
        files_from, files_for = {FILE: since} if since else {}, {FILE: audience} if audience else {}
        session.execute(update(PhaseTask).values(files_from=files_from, files_for=files_for))


def register(engine: Engine, **rules: object) -> None:
    with writing(engine) as session:
        session.execute(update(Competition).values(registration=rules))


def access(engine: Engine, user: User | None, now=NOW, seen_as: SeenAs | None = None) -> FileAccess:  # type: ignore[no-untyped-def]
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        phase, earlier = competition.phases
        assert earlier.name == EARLIER_PHASE
        viewer = file_viewer(session, competition, user, seen_as=seen_as)
        (found,) = file_access(competition, phase, phase.phase_tasks[0], viewer, now)
        return found


def test_the_log_comes_newest_first_in_pages(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        place = the_phase_task(session)
        (file,) = session.scalars(select(PublicFile).where(PublicFile.phase_task_id == place.id))
        for minute in range(3):
            record_download(session, place, file, ada, NOW + minute * SECOND)
    with reading(engine) as session:
        competition, wanted = find_competition(session, COMPETITION), DownloadFilter(username="ada")
        first, then = list_downloads(session, competition, wanted, limit=2)
        last, end = list_downloads(session, competition, wanted, limit=2, before=then)
    assert [one.downloaded_at for one in (*first, *last)] == [NOW + minute * SECOND for minute in (2, 1, 0)]
    assert (len(first), end) == (2, None)
    assert {(one.phase, one.task, one.file, one.sha256) for one in first} == {(PHASE, TASK, FILE, "0" * 64)}


def test_the_log_names_the_files_of_its_own_competition(engine: Engine, ada: User) -> None:
    add_competition(engine, name="other")
    with writing(engine) as session:
        place, beside = the_phase_task(session), the_phase_task(session, "other")
        for where, name in ((place, "b.csv"), (place, "a.csv"), (place, "b.csv"), (beside, "other.csv")):
            record_download(session, where, PublicFile(name=name, sha256="0" * 64), ada, NOW)
    with reading(engine) as session:
        assert files_downloaded(session, find_competition(session, COMPETITION)) == ["a.csv", "b.csv"]


def test_a_file_is_there_from_the_start_of_its_phase_on_and_follows_it(engine: Engine, ada: User) -> None:
    assert not access(engine, ada, NOW + DAY - SECOND).is_open
    assert access(engine, None, NOW + DAY).is_open
    with writing(engine) as session:
        session.execute(update(Phase).values(starts_at=NOW + 2 * DAY, ends_at=None))
    assert not access(engine, ada, NOW + DAY).is_open


def test_now_is_at_once_and_a_moment_is_that_moment(engine: Engine, ada: User) -> None:
    say(engine, since="now")
    assert access(engine, None).is_open
    assert access(engine, None).available_from is None
    say(engine, since=(NOW + HOUR).isoformat())
    assert not access(engine, None, NOW + HOUR - SECOND).is_open
    assert access(engine, None, NOW + HOUR).is_open


def test_where_nobody_is_asked_anything_files_are_for_everyone_else_for_participants(engine: Engine, ada: User) -> None:
    assert access(engine, None).audience is Audience.EVERYONE
    for rules in ({"mode": "approval"}, {"terms": "Be kind."}):
        register(engine, **rules)
        assert access(engine, None).audience is Audience.PARTICIPANTS
    say(engine, audience="everyone")
    assert access(engine, None, NOW + DAY).is_open


def test_participants_have_registered_whatever_the_phase(engine: Engine, ada: User) -> None:
    say(engine, since="now", audience="participants")
    register(engine, terms="Be kind.")
    anybody, hers = access(engine, None), access(engine, ada)
    assert (anybody.needs_login, anybody.is_open) == (True, False)
    assert (hers.needs_login, hers.missing, hers.is_open) == (False, Missing.REGISTRATION, False)
    register(engine)
    assert access(engine, ada).is_open
    assert access(engine, None).needs_login, "declared for participants, who are logged in"


def test_organisers_have_every_file_and_borrowed_eyes_do_not(engine: Engine, ada: User) -> None:
    register(engine, terms="Be kind.")
    organiser = add_user(engine, "org")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), organiser, Role.ORGANISER, NOW)
    assert access(engine, organiser).is_open
    assert not access(engine, organiser, seen_as=SeenAs.PARTICIPANT).is_open
    assert access(engine, organiser, NOW + DAY, SeenAs.PARTICIPANT).is_open
    assert access(engine, organiser, NOW + DAY, SeenAs.PUBLIC).needs_login


def test_of_organisers_with_one_right_that_to_edit_has_every_file(engine: Engine, ada: User) -> None:
    register(engine, terms="Be kind.")
    organisers = one_right_each(engine)
    assert [right for right, user in organisers.items() if access(engine, user).is_open] == [Right.EDIT]


def test_each_refusal_says_what_to_do(engine: Engine, ada: User) -> None:
    register(engine, terms="Be kind.")
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
    with pytest.raises(NotYetThere, match=r"'items\.csv' will be available from ") as early:
        check_may_have(access(engine, ada), competition)
    assert early.value.details == {"available_from": (NOW + DAY).isoformat()}
    with pytest.raises(NotAuthenticated, match="for participants: log in first"):
        check_may_have(access(engine, None, NOW + DAY), competition)
    with pytest.raises(RegistrationNeeded, match="register"):
        check_may_have(access(engine, ada, NOW + DAY), competition)
