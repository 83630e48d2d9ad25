"""The figures in docs/tasks.md on how many values of each paper are on our boards are right."""

from __future__ import annotations

import pytest

from tests.conformance import conformance
from tests.importers.published_tables import (
    EVALUATORS,
    FACTS,
    LIBRARIES,
    PAPERS,
    Library,
    Paper,
    counts,
    evaluators_text,
    facts_shown,
    papers_text,
    written_tables,
)
from tests.processes import REPOSITORY

WRITE = "run: python -m tests.importers.published_tables"


def test_table_of_the_papers_in_the_docs_is_this_one() -> None:
    assert written_tables()[0] == papers_text(), WRITE


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.title.split(" (")[0])
def test_every_value_that_a_paper_prints_stands_on_a_board(paper: Paper) -> None:
    found = counts(paper)
    assert found == {table: (printed, printed) for table, (printed, _) in found.items()}


def test_facts_of_the_paraphrasing_paper_stand_on_its_competitions_page() -> None:
    assert facts_shown() == len(FACTS) == 18


def test_table_of_the_evaluators_in_the_docs_is_this_one() -> None:
    """Check the table; that all are identical is checked by the named tests, which fail at the first difference."""
    conformance()
    assert written_tables()[1] == evaluators_text(conformance()), WRITE
    assert all((REPOSITORY / one.test).is_file() for one in EVALUATORS)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.title)
def test_libraries_are_compared_where_the_docs_say(library: Library) -> None:
    assert library.module in (REPOSITORY / library.test).read_text(encoding="utf-8")
