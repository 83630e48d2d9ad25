"""Pages of a task's files: rows and their search, for those alone who may have the file."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.competitions.find import find_phase_task
from app.models import Competition, PhaseTask, PublicFile
from app.web.competitions.rooms import LOOK_BYTES
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site, log_in
from tests.world import COMPETITION, EARLIER_PHASE, NOW, PHASE, TASK

DATA = "/competitions/idioms/data"
PAGE = "/competitions/idioms/phases/evaluation/tasks/detection/files/items.csv"
ROWS = b"ID,Language,Text\n1,EN,<b>the-first-row</b>\n2,EN,dark horse\n3,PT,azar\n4,PT,sorte\n"


@pytest.fixture
def with_file(site: Site) -> Site:
    site.add_file("items.csv", ROWS, "Blind input")
    with writing(site.engine) as session:
        session.execute(update(Competition).values(citation={"licence": "CC-BY-4.0"}))
    return site


def read(site: Site, path: str) -> str:
    with site.client(**BROWSER) as nobody:
        answer = nobody.get(path)
    assert answer.status_code == 200, answer.text
    markup.check(answer.text)
    return answer.text


def test_the_data_page_shows_the_first_rows_counts_and_licence(with_file: Site) -> None:
    page = read(with_file, DATA)
    assert "&lt;b&gt;the-first-row" in page
    found = text_of(page)
    assert "Licence of the data: CC-BY-4.0" in found
    assert "4 rows: Language EN 2 , PT 2" in found.replace("EN 2,", "EN 2 ,")
    assert f'href="{PAGE}"' in page


def test_rows_of_a_file_are_searched(with_file: Site) -> None:
    found = text_of(read(with_file, f"{PAGE}?q=HORSE"))
    assert "1 of 4 rows contains “ HORSE ”" in found
    assert "dark horse" in found
    assert "the-first-row" not in found
    assert "None of 4 rows contains" in text_of(read(with_file, f"{PAGE}?q=zebra"))


def test_rows_of_files_for_participants_are_on_no_page(with_file: Site) -> None:
    with writing(with_file.engine) as session:
        session.execute(update(PhaseTask).values(files_for={"items.csv": "participants"}))
    assert "the-first-row" not in read(with_file, DATA)
    with with_file.client(**BROWSER) as nobody:
        assert nobody.get(f"{PAGE}?q=the").status_code == 303
    with log_in(with_file) as browser:
        found = browser.get(f"{PAGE}?q=the").text
        assert "the-first-row" not in found + browser.get(DATA).text
        assert "each download of them is recorded" in text_of(found)


def test_rows_of_a_large_file_and_of_a_phase_that_has_gone_are_on_its_page_alone(with_file: Site) -> None:
    with writing(with_file.engine) as session:
        session.execute(update(PublicFile).where(PublicFile.name == "items.csv").values(size_bytes=LOOK_BYTES + 1))
    assert "the-first-row" not in read(with_file, DATA)
    with writing(with_file.engine) as session:
        earlier = find_phase_task(session, COMPETITION, EARLIER_PHASE, TASK)
        session.execute(
            update(PublicFile).where(PublicFile.name == "items.csv").values(size_bytes=100, phase_task_id=earlier.id)
        )
    assert "the-first-row" not in read(with_file, DATA)
    assert "the-first-row" in read(with_file, PAGE.replace(PHASE, EARLIER_PHASE))


def test_before_its_moment_no_row_of_a_file_is_shown(with_file: Site, ada: Person) -> None:
    with writing(with_file.engine) as session:
        session.execute(update(PhaseTask).values(files_from={"items.csv": (NOW + timedelta(hours=1)).isoformat()}))
    assert "the-first-row" not in read(with_file, DATA)
    with with_file.client() as nobody:
        for client in (nobody, ada.client):
            assert client.get(f"{PAGE}?q=the", headers=BROWSER).status_code == 404
    with_file.set_clock(NOW + timedelta(hours=1))
    assert "the-first-row" in read(with_file, PAGE)
