"""Exports through the API: what the viewer may see, and no more."""

from __future__ import annotations

import pytest

from tests import world
from tests.web.paraphrase_world import set_visibility
from tests.web.site import Person, Site

PHASE = "/api/v1/competitions/idioms/phases/evaluation"
TABLE = f"{PHASE}/boards/zero-shot/table"


@pytest.fixture
def scored(site: Site, ada: Person) -> Person:
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.61803)
    return ada


def test_table_is_markdown_or_latex_in_a_file_with_a_name(scored: Person) -> None:
    markdown = scored.client.get(TABLE)
    assert markdown.status_code == 200
    assert "**61.80**" in markdown.text or "**0.6180**" in markdown.text
    assert markdown.headers["Content-Type"].startswith("text/markdown")
    latex = scored.client.get(TABLE, params={"format": "latex", "decimals": 1})
    assert r"\toprule" in latex.text
    assert r"\textbf{61.8}" in latex.text or r"\textbf{0.6}" in latex.text
    assert latex.headers["Content-Disposition"] == 'attachment; filename="idioms-evaluation-zero-shot.tex"'


def test_a_column_that_the_board_lacks_is_refused_with_those_it_has(scored: Person) -> None:
    refused = scored.client.get(TABLE, params={"column": "bleu all"})
    assert refused.status_code == 422
    assert "no column `bleu all`; it has `macro_f1 zero_shot/all`" in refused.json()["error"]["message"]


def test_what_is_hidden_is_not_exported(site: Site, scored: Person) -> None:
    set_visibility(site.engine, board="hidden")
    with site.client() as public:
        hidden = public.get(TABLE)
    assert hidden.status_code == 200
    assert "618" not in hidden.text
    assert "61.8" not in hidden.text


def test_competition_and_frozen_board_can_be_cited(site: Site) -> None:
    with site.client() as public:
        cited = public.get("/api/v1/competitions/idioms/citation")
        assert cited.text.startswith("@misc{idioms,\n  author = {{The organisers of ")
        assert rf"howpublished = {{\url{{{site.url}/competitions/idioms}}}}" in cited.text
        assert public.get(f"{PHASE}/boards/zero-shot/citation").status_code == 404
        assert public.get("/api/v1/competitions/nothing/citation").status_code == 404
