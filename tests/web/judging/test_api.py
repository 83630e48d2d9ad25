"""Human judgement and roles through the web API: who may, what comes, every problem in the one shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Role
from app.people.rights import grant_role
from tests import world
from tests.beside import add_other_task
from tests.judging import judged as judging
from tests.web.site import BOARD, TASK_PATH, Person, Site
from tests.world import COMPETITION, NOW, PHASE, TASK

ROLES = f"/api/v1/competitions/{COMPETITION}/roles"
ROUNDS = f"/api/v1/competitions/{COMPETITION}/judging"
START, MARKS = f"{TASK_PATH}/judging", f"{TASK_PATH}/judging/marks"
HEADER = "submission,item,annotator,mwe_sense,rest_sense,naturalness"


@pytest.fixture
def systems(empty_site: Site) -> dict[str, UUID]:
    world.add_competition(empty_site.engine, per_day=None)
    judging.add_task(empty_site.engine)
    return judging.enter_three(empty_site.engine)


@pytest.fixture
def site(empty_site: Site, systems: dict[str, UUID]) -> Site:
    return empty_site


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """An organiser of this competition, and no administrator."""
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    with person.client:
        yield person


def bring(person: Person, *lines: object, name: str = "paper", header: str = HEADER) -> Any:
    content = "\n".join([header, *map(str, lines), ""])
    return person.client.post(MARKS, params={"round": name}, files={"file": ("marks.csv", content)})


def three_systems(systems: dict[str, UUID]) -> list[str]:
    """Return marks of three systems, each worse than the one before, like their BERTScores; English in two voices."""
    alpha, beta, gamma = systems["alpha"], systems["beta"], systems["gamma"]
    return [
        f"{alpha},en-1,A1,3,3,3",
        f"{alpha},en-1,A2,3,3,3",
        f"{beta},en-1,A1,2,2,2",
        f"{beta},en-1,A2,2,2,1",
        f"{gamma},en-3,A1,1,1,1",
        f"{gamma},en-3,A2,1,1,1",
    ]


# --------------------------------------------------------------------------------------------------------------- roles


def test_an_organiser_says_who_organises_and_who_judges(site: Site, olga: Person) -> None:
    site.person("anna").client.close()
    granted = olga.client.put(f"{ROLES}/annotator/anna")
    assert (granted.status_code, granted.json()["role"]) == (200, "annotator")
    assert olga.client.put(f"{ROLES}/annotator/anna@example.org").json() == granted.json()  # again: no change
    assert [(one["username"], one["role"]) for one in olga.client.get(ROLES).json()["roles"]] == [
        ("olga", "organiser"),
        ("anna", "annotator"),
    ]
    assert olga.client.delete(f"{ROLES}/annotator/anna").status_code == 204
    assert olga.client.delete(f"{ROLES}/annotator/anna").json()["error"]["code"] == "not_found"
    assert olga.client.put(f"{ROLES}/annotator/nobody").status_code == 404
    assert olga.client.put(f"{ROLES}/king/anna").status_code == 422


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ROLES),
        ("PUT", f"{ROLES}/organiser/eve"),
        ("DELETE", f"{ROLES}/organiser/olga"),
        ("GET", ROUNDS),
        ("POST", START),
        ("POST", MARKS),
        ("GET", f"{ROUNDS}/human/marks.csv"),
        ("PUT", f"{ROUNDS}/human/publication"),
        ("DELETE", f"{ROUNDS}/human/publication"),
        ("DELETE", f"{ROUNDS}/human"),
        ("PUT", f"{ROUNDS}/human/annotators/en/eve"),
        ("DELETE", f"{ROUNDS}/human/annotators/en/eve"),
    ],
)
def test_all_of_it_is_for_organisers(site: Site, olga: Person, eve: Person, method: str, path: str) -> None:
    assert olga.client.post(START, json={"annotators": [{"language": "en", "username": "eve"}]}).status_code == 201
    body: dict[str, Any] = {"json": {}} if path == START else {}
    assert eve.client.request(method, path, **body).status_code == 403  # an annotator organises nothing
    with site.client() as nobody:
        assert nobody.request(method, path, **body).status_code == 401


def test_a_round_is_not_there_before_it_is_published(site: Site, olga: Person, eve: Person) -> None:
    olga.client.post(START, json={"annotators": [{"language": "en", "username": "eve"}]})
    for path in (f"{ROUNDS}/human", f"{ROUNDS}/nothing"):
        with site.client() as nobody:
            assert nobody.get(path).status_code == 404
        assert eve.client.get(path).status_code == 404
    assert olga.client.get(f"{ROUNDS}/human").status_code == 200


# -------------------------------------------------------------------------------------------------------------- rounds


def test_a_round_starts_and_says_how_far_it_is(site: Site, olga: Person, eve: Person) -> None:
    form = {"items": 2, "seed": 3, "guidelines": "Be fair.", "annotators": [{"language": "en", "username": "eve"}]}
    started = olga.client.post(START, json=form)
    assert started.status_code == 201, started.text
    assert started.headers["Location"] == f"{ROUNDS}/human"
    document = started.json()
    assert document == olga.client.get(f"{ROUNDS}/human").json()
    assert (document["source"], document["seed"], document["items"]) == ("browser", 3, 2)
    assert document["languages"] == ["en", "pt"]
    [progress] = document["progress"]
    assert (progress["annotator"], progress["language"], progress["done"], progress["is_active"]) == (
        "eve",
        "en",
        0,
        True,
    )
    assert [one["name"] for one in olga.client.get(ROUNDS).json()["rounds"]] == ["human"]


def test_wrong_forms_are_told_by_field(site: Site, olga: Person) -> None:
    answer = olga.client.post(START, json={"name": "No Name", "items": 0, "seed": -1})
    assert answer.status_code == 422
    assert set(answer.json()["error"]["details"]["fields"]) == {"name", "items", "seed"}
    annotators = [{"language": "xx", "username": "nobody"}, {"language": "en", "username": "alpha"}]
    answer = olga.client.post(START, json={"annotators": annotators})
    told = answer.json()["error"]["details"]["fields"]["annotators"]
    assert "There is nothing to judge in 'xx'" in told
    assert "no account 'nobody'" in told
    assert "belongs to team Alpha" in told
    assert olga.client.get(ROUNDS).json()["rounds"] == []  # nothing half-made


def test_annotators_come_and_go(site: Site, olga: Person, eve: Person) -> None:
    olga.client.post(START, json={})
    path = f"{ROUNDS}/human/annotators/pt/eve"
    english = olga.client.put(path.replace("/pt/", "/en/")).json()
    assert (english["language"], english["annotator"]) == ("en", "eve")
    portuguese = olga.client.put(path).json()
    assert (portuguese["language"], portuguese["annotator"], portuguese["total"]) == ("pt", "eve", 4)
    assert olga.client.put(path).status_code == 200
    assert olga.client.delete(path).status_code == 204
    assert olga.client.delete(path).status_code == 404
    progress = olga.client.get(f"{ROUNDS}/human").json()["progress"]
    assert [(one["language"], one["annotator"]) for one in progress] == [("en", "eve")]


def test_a_round_can_be_discarded(site: Site, olga: Person) -> None:
    olga.client.post(START, json={})
    assert olga.client.delete(f"{ROUNDS}/human").status_code == 204
    assert olga.client.get(ROUNDS).json()["rounds"] == []


def test_an_idiom_detection_task_cannot_be_judged(empty_site: Site, systems: dict[str, UUID], olga: Person) -> None:
    from sqlalchemy import update

    from app.models import CompetitionTask

    with writing(empty_site.engine) as session:
        session.execute(update(CompetitionTask).values(task_type="idiom-detection", options={}))
    for answer in (olga.client.post(START, json={}), bring(olga, "x,y,z,0,0,0")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "cannot_judge")


# --------------------------------------------------------------------------------------------------------------- marks


def test_marks_are_imported_correlated_published_and_shown(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    brought = bring(olga, *three_systems(systems))
    assert brought.json() == {"round": "paper", "added": 6, "changed": 0, "unchanged": 0}
    assert bring(olga, *three_systems(systems)).json()["unchanged"] == 6
    before = olga.client.get(f"{ROUNDS}/paper").json()
    assert before["languages"] == ["en"]
    # Marks 3, 2 and 1 throughout but for one: human 12/12, (8 + 7)/24, 4/12; BERTScore 0.9, 0.7, 0.5.
    assert [(one["team"], one["human"]["en"]["value"]) for one in before["systems"]] == [
        ("Alpha", 1.0),
        ("Beta", 0.625),
        ("Gamma", pytest.approx(1 / 3)),
    ]
    found = before["correlations"]["en"]
    # Deviations .2 0 -.2 and (1 - m), (.625 - m), (1/3 - m): r = (2/3) / (√2 · √(Σ(h - m)²)), m = 47/72.
    m = (1 + 0.625 + 1 / 3) / 3
    spread = ((1 - m) ** 2 + (0.625 - m) ** 2 + (1 / 3 - m) ** 2) ** 0.5
    assert found["pearson"] == pytest.approx((2 / 3) / (2**0.5 * spread))
    assert (found["systems"], found["spearman"], found["kendall"], found["reason"]) == (3, 1.0, 1.0, None)
    assert before["agreement"]["en"]["mwe_sense"] == {"alpha": 1.0, "reason": None, "units": 3}
    assert before["agreement"]["en"]["naturalness"]["alpha"] < 1

    assert olga.client.put(f"{ROUNDS}/paper/publication").json()["published_at"] is not None
    with site.client() as nobody:
        shown = nobody.get(f"{ROUNDS}/paper").json()
        assert shown["correlations"] == before["correlations"]
        assert shown["progress"] == []  # annotators are nobody's business …
        assert {one["submission"] for one in shown["systems"]} == {None}  # … and neither are ids
        # The board ranks by the mean over both languages; this round knows English alone.
        assert "human_score" not in nobody.get(BOARD).text
    assert olga.client.delete(f"{ROUNDS}/paper/publication").json()["published_at"] is None
    with site.client() as nobody:
        assert nobody.get(f"{ROUNDS}/paper").status_code == 404


def test_a_board_of_both_languages_shows_the_mean(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    alpha = systems["alpha"]
    bring(olga, f"{alpha},en-1,A1,3,3,3", f"{alpha},pt-1,A1,0,0,0")
    with site.client() as nobody:
        first = nobody.get(BOARD)
        olga.client.put(f"{ROUNDS}/paper/publication")
        second = nobody.get(BOARD, headers={"If-None-Match": first.headers["ETag"]})
        assert second.status_code == 200  # the board is another one now
        document = second.json()
        assert [column["metric"] for column in document["columns"]] == ["languages", "bertscore", "human_score"]
        [cell] = [row["cells"][2] for row in document["rows"] if row["team"] == "Alpha"]
        assert cell["value"] == 0.5
        assert cell["signature"].startswith("mwe-paraphrase:2|human_score|macro|")
        csv = nobody.get(f"{BOARD}.csv").text
        assert "human_score macro" in csv.splitlines()[0]


def test_fewer_than_three_systems_correlate_with_nothing(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    bring(olga, *three_systems(systems)[:4])
    found = olga.client.get(f"{ROUNDS}/paper").json()["correlations"]["en"]
    assert found == {
        "systems": 2,
        "pearson": None,
        "spearman": None,
        "kendall": None,
        "reason": "fewer than three systems have both scores",
    }


def test_equal_human_scores_correlate_with_nothing(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    items = {"alpha": "en-1", "beta": "en-1", "gamma": "en-3"}
    bring(olga, *(f"{systems[name]},{item},A1,2,2,2" for name, item in items.items()))
    document = olga.client.get(f"{ROUNDS}/paper").json()
    assert document["correlations"]["en"]["reason"] == "all systems have the same human score"
    assert document["agreement"]["en"]["score"]["reason"] == "fewer than two annotators"


def test_a_wrong_file_is_refused_as_a_whole(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    answer = bring(olga, f"{systems['alpha']},en-1,A1,3,3,3", f"{systems['alpha']},en-7,,9,3,3")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_marks")
    details = answer.json()["error"]["details"]
    assert [problem["code"] for problem in details["problems"]] == [
        "unknown-item",
        "missing-annotator",
        "mark-out-of-range",
    ]
    assert {problem["line"] for problem in details["problems"]} == {3}
    assert olga.client.get(ROUNDS).json()["rounds"] == []


def test_what_is_exported_can_be_brought_again(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    bring(olga, *three_systems(systems))
    exported = olga.client.get(f"{ROUNDS}/paper/marks.csv")
    assert exported.headers["Content-Type"].startswith("text/csv")
    again = olga.client.post(MARKS, params={"round": "other"}, files={"file": ("marks.csv", exported.content)})
    assert again.json() == {"round": "other", "added": 6, "changed": 0, "unchanged": 0}


def test_an_unfinished_round_is_published_only_on_purpose(site: Site, olga: Person) -> None:
    olga.client.post(START, json={})
    answer = olga.client.put(f"{ROUNDS}/human/publication")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "round_unfinished")
    assert answer.json()["error"]["details"] == {"open": {"en": 6, "pt": 4}}
    assert olga.client.put(f"{ROUNDS}/human/publication", params={"unfinished": True}).status_code == 200


def test_hidden_boards_hide_the_round_and_hidden_names_stay_hidden(
    site: Site, systems: dict[str, UUID], olga: Person
) -> None:
    from sqlalchemy import update

    from app.models import Phase

    bring(olga, *three_systems(systems))
    olga.client.put(f"{ROUNDS}/paper/publication")

    def declare(**visibility: str) -> None:
        with writing(site.engine) as session:
            session.execute(update(Phase).values(visibility={**world.SHOWN_WHOLE, **visibility}))

    declare(names_from="close")
    with site.client() as nobody:
        names = {one["team"] for one in nobody.get(f"{ROUNDS}/paper").json()["systems"]}
        assert all(name.startswith("Team ") for name in names)
        assert "method of alpha" not in nobody.get(f"{ROUNDS}/paper").text
    declare(board="hidden")
    with site.client() as nobody:
        assert nobody.get(f"{ROUNDS}/paper").status_code == 404
    assert {one["team"] for one in olga.client.get(f"{ROUNDS}/paper").json()["systems"]} == {"Alpha", "Beta", "Gamma"}


def test_slices_that_boards_hide_are_hidden_here_too(site: Site, systems: dict[str, UUID], olga: Person) -> None:
    from sqlalchemy import update

    from app.models import Phase

    bring(olga, f"{systems['alpha']},en-1,A1,3,3,3", f"{systems['alpha']},pt-1,A1,0,0,0")
    olga.client.put(f"{ROUNDS}/paper/publication")
    with writing(site.engine) as session:
        session.execute(update(Phase).values(visibility={**world.SHOWN_WHOLE, "slices": "columns"}))
    with site.client() as nobody:
        [alpha] = nobody.get(f"{ROUNDS}/paper").json()["systems"]
        assert alpha["human"]["macro"]["value"] == 0.5
        assert alpha["human"]["en"] == alpha["automatic"]["en"] == {"value": None, "reason": "not shown"}
        document = nobody.get(BOARD).json()
        assert [row["cells"][-1]["value"] for row in document["rows"] if row["team"] == "Alpha"] == [0.5]


# --------------------------------------------------------------------------------------------------------------- pages


def test_a_figure_is_of_scores_that_are_there_and_says_who_lacks_one(
    site: Site, olga: Person, systems: dict[str, UUID]
) -> None:
    """Check Portuguese without judgements, then with only alpha's judged, and delta, which no metric has
    scored in it.
    """
    delta = judging.enter(site.engine, world.add_user(site.engine, "delta"), judging.BETA, {"en": 0.6})
    english = three_systems(systems)[:4]
    page = ROUNDS.removeprefix("/api/v1")
    assert bring(olga, *english, name="english").status_code == 200
    judged = [f"{one},pt-1,A1,1,1,1" for one in (systems["alpha"], delta)]
    assert bring(olga, *english, *judged, name="both").status_code == 200
    files = {
        name: re.findall(r'href="(/[^"]+/figures/[^"?]+)', olga.client.get(f"{page}/{name}").text)
        for name in ("english", "both")
    }
    assert [path.rpartition("/")[2] for path in files["english"]] == ["human-en.svg"]
    assert [olga.client.get(path).status_code for path in files["both"]] == [200] * 3
    (portuguese,) = [path for path in files["both"] if path.endswith("/human-pt.svg")]
    figure = olga.client.get(portuguese).text
    assert re.search(r"Beta: method of beta: not drawn, human score [^.;]+", figure)
    assert f"Delta: method of delta: not drawn, {judging.NO_MODEL}" in figure


def test_rounds_start_in_tasks_of_paraphrases_alone(site: Site, olga: Person) -> None:
    add_other_task(site.engine)
    page = olga.client.get(ROUNDS.removeprefix("/api/v1")).text
    places = re.findall(r'href="[^"]+/phases/([^"/]+)/tasks/([^"/]+)/judging"', page)
    assert {task for _, task in places} == {TASK}
    assert (PHASE, TASK) in places
