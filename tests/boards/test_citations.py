"""Citations of competitions: with the declared authors, and in the metadata for search engines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.boards.citations import cite_competition, cite_official, cite_paper, described, plain_citation
from app.boards.snapshots import Official, Successor
from app.models import Board, Competition, Phase, Snapshot

NOW = datetime(2027, 3, 1, tzinfo=UTC)
ADDRESS = "https://scores.example.org/competitions/idioms"


def competition(**citation: Any) -> Competition:
    made = Competition(name="idioms", title="Idioms & more", summary="Words.", website="", created_at=NOW)
    made.citation = citation
    made.phases = [
        Phase(name="post", starts_at=datetime(2027, 2, 1, tzinfo=UTC), ends_at=datetime(2028, 2, 1, tzinfo=UTC)),
        Phase(
            name="evaluation", starts_at=datetime(2026, 1, 10, tzinfo=UTC), ends_at=datetime(2027, 1, 10, tzinfo=UTC)
        ),
    ]
    return made


def test_bibtex_has_the_declared_authors_and_keeps_a_name_with_and_together() -> None:
    found = competition(authors=["Silva, Ana", "Institute of Words and Things"])
    assert cite_competition(found, ADDRESS, NOW) == (
        "@misc{idioms,\n"
        "  author = {Silva, Ana and {Institute of Words and Things}},\n"
        "  title = {{Idioms \\& more}},\n"
        "  year = {2026},\n"
        "  howpublished = {\\url{https://scores.example.org/competitions/idioms}},\n"
        "  note = {Accessed 2027-03-01},\n"
        "}\n"
    )


def test_an_official_board_is_cited_by_its_own_number_and_year_and_by_what_came_after_it() -> None:
    found = competition(authors=["Silva, Ana"])
    closed, made = datetime(2026, 12, 31, 23, tzinfo=UTC), datetime(2027, 1, 1, 2, tzinfo=UTC)
    board = Board(id=3, name="zero-shot", title="Zero-shot")
    first, second = (Snapshot(id=70 + number, number=number, closed_at=closed, made_at=made) for number in (1, 2))
    phase = found.phases[1]
    phase.title = "Evaluation"
    address = f"{ADDRESS}/official/1"
    text = cite_official(found, phase, board, Official(first, Successor(second, newest=second)), address)
    assert text == (
        "@misc{idioms-evaluation-zero-shot-1,\n"
        "  author = {Silva, Ana},\n"
        "  title = {{Idioms \\& more: Zero-shot, Evaluation, official results}},\n"
        "  year = {2026},\n"
        f"  howpublished = {{\\url{{{address}}}}},\n"
        "  note = {Official board no. 1, frozen 1 Jan 2027, superseded by official results no. 2 of 31 Dec 2026},\n"
        "}\n"
    )
    last = cite_official(found, phase, board, Official(second, None), address)
    assert last.startswith("@misc{idioms-evaluation-zero-shot-2,\n")
    assert "superseded" not in last


def test_without_authors_the_organisers_are_cited_without_names() -> None:
    assert "author = {{The organisers of Idioms \\& more}}" in cite_competition(competition(), ADDRESS, NOW)
    assert plain_citation(competition(), ADDRESS, NOW).startswith("The organisers of Idioms & more (2026). ")


def test_plain_text_is_one_line() -> None:
    found = plain_citation(competition(authors=["Silva, Ana", "Li, Bo"]), ADDRESS, NOW)
    assert found == f"Silva, Ana; Li, Bo (2026). Idioms & more. {ADDRESS} (accessed 2027-03-01)."


def test_overview_paper_has_an_entry_of_its_own_and_the_competitions_authors() -> None:
    paper = {"title": "Overview", "venue": "Proceedings", "year": 2027, "doi": "10.1/x.1"}
    assert cite_paper(competition(authors=["Silva, Ana"], paper=paper)) == (
        "@inproceedings{idioms-overview,\n"
        "  author = {Silva, Ana},\n"
        "  title = {{Overview}},\n"
        "  booktitle = {Proceedings},\n"
        "  year = {2027},\n"
        "  doi = {10.1/x.1},\n"
        "}\n"
    )
    assert cite_paper(competition()) == ""


def test_search_engines_read_a_dataset_and_an_article_only_where_one_is_declared() -> None:
    [dataset] = described(competition(licence="CC-BY-4.0"), ADDRESS)
    assert dataset["@type"] == "Dataset"
    assert dataset["creator"] == [{"@type": "Organization", "name": "The organisers of Idioms & more"}]
    assert dataset["license"] == "CC-BY-4.0"
    assert dataset["datePublished"] == "2026-01-10", "when the first phase began"
    assert "citation" not in dataset
    paper = {"title": "Overview", "doi": "10.1/x.1"}
    dataset, article = described(competition(authors=["Silva, Ana"], paper=paper), ADDRESS)
    assert dataset["citation"] == article["url"] == "https://doi.org/10.1/x.1"
    assert article["@type"] == "ScholarlyArticle"
    assert article["author"] == [{"@type": "Person", "name": "Silva, Ana"}]
