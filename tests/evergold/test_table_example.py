"""The example of docs/organising.md: a shared task in twenty lines, no code; checked, opened, submitted to, scored."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.declarations.check import check_phases
from evergold import scoring
from tests.processes import REPOSITORY
from tests.web.reading import text_of
from tests.whole import API, NOW, board, open_competition, page, sent, show_whole, site_of, taking_part, values

EXAMPLE = REPOSITORY / "docs" / "examples" / "table"
DECLARATION, GOLD, PREDICTION = EXAMPLE / "competition.yaml", EXAMPLE / "gold", EXAMPLE / "prediction.csv"

# English, gold I I I S S S, predicted I I S S S I: both labels have 2 right, 1 too many, 1 missed, F1 4/6.
# Portuguese, gold I I S S S S, predicted I S S S S S: F1 2/3 and 8/9.
# All: of the ironic ones 3 right, 1 too many, 2 missed; 6 sincere ones right: (3·6 - 1·2) / √(4·5·7·8).
ENGLISH, PORTUGUESE, MCC = 2 / 3, 7 / 9, 16 / math.sqrt(1120)


def test_it_is_twenty_lines_without_a_finding() -> None:
    assert len(DECLARATION.read_text(encoding="utf-8").splitlines()) == 20
    assert check_phases(DECLARATION, now=NOW) == []


def test_a_submission_is_scored_and_stands_on_the_board(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with site_of(sqlite_engine) as site:
        open_competition(site, DECLARATION, GOLD, monkeypatch)
        show_whole(site)
        with taking_part(site) as (ada, _):
            submission = sent(ada, "irony/evaluation/irony", PREDICTION)
            assert (submission["status"], submission["problems"]) == ("scored", [])
        assert values(board(site, "irony/evaluation/irony"), "ada") == {
            "macro_f1 language/mean": pytest.approx((ENGLISH + PORTUGUESE) / 2, abs=1e-12),
            "macro_f1 language/en": pytest.approx(ENGLISH, abs=1e-12),
            "macro_f1 language/pt": pytest.approx(PORTUGUESE, abs=1e-12),
            "mcc all": pytest.approx(MCC, abs=1e-12),
        }
        assert "ada 0.7222 0.6667 0.7778 0.4781" in text_of(
            page(site, "/competitions/irony/phases/evaluation/boards/irony")
        )


def test_teams_fill_in_the_template_that_nobody_had_to_write(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site_of(sqlite_engine) as site:
        open_competition(site, DECLARATION, GOLD, monkeypatch)
        with taking_part(site) as (ada, browser):
            task = ada.client.get(f"{API}/competitions/irony/phases/evaluation/tasks/irony").json()
            assert [(one["name"], one["title"]) for one in task["downloads"]] == [
                ("items.csv", "Items"),
                ("template.csv", "Submission template"),
            ]
            answer = browser.get(task["downloads"][1]["link"])
            assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'
            shown = text_of(page(site, "/competitions/irony/phases/evaluation/tasks/irony/submit", browser))
            assert "first lines of template.csv , Submission template id,label en-1, en-2, en-3, en-4," in shown
            filled = answer.text.replace(",\n", ",ironic\n")
            assert sent(ada, "irony/evaluation/irony", filled.encode())["status"] == "scored"


def test_a_prediction_can_be_checked_at_home(tmp_path: Path) -> None:
    assert scoring.validate("table", EXAMPLE / "items.csv", PREDICTION, {"labels": "ironic,sincere"}) == ()
    broken = tmp_path / "broken.csv"
    broken.write_text(PREDICTION.read_text(encoding="utf-8").replace("en-2,ironic", "en-2,Ironic"), encoding="utf-8")
    with pytest.raises(scoring.InvalidPrediction, match="line 3, column label: invalid label 'Ironic'"):
        scoring.validate("table", EXAMPLE / "items.csv", broken, {"labels": "ironic,sincere"})


def test_the_docs_show_it_as_it_is() -> None:
    organising = (REPOSITORY / "docs" / "organising.md").read_text(encoding="utf-8")
    assert f"```yaml\n{DECLARATION.read_text(encoding='utf-8')}```" in organising
