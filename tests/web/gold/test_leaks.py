"""The API and the pages that show what share of hidden gold teams can read."""

from __future__ import annotations

import math

import pytest

from app.base.db import writing
from app.boards.power import Power, record_power
from app.gold.versions import gold_identity
from evergold.scoring.leakage import GoldSize
from tests.web.site import Site
from tests.world import COMPETITION, PHASE, TASK, the_phase_task

LEAKS = f"/api/v1/competitions/{COMPETITION}/leaks"


def test_organisers_learn_the_share_and_what_would_lower_it(site: Site) -> None:
    with writing(site.engine) as session:
        phase_task = the_phase_task(session)
        phase_task.phase.visibility, phase_task.phase.submissions_total = {}, 10
        gold = gold_identity(session, phase_task) or ""
        record_power(session, phase_task.id, Power(gold, "key", "", (), GoldSize(1000, 998.8, 2)))
    with site.person("root", is_administrator=True).client as root:
        (found, *_) = root.get(LEAKS).json()["leaks"]
    assert (found["phase"], found["task"]) == (PHASE, TASK)
    scores = found["scores"]
    # A macro F1 of two labels follows from one count; its interval and tests are shown when the phase has closed.
    assert found["bits_per_submission"] == round(scores * math.log2(1001), 2)
    assert found["share"] == pytest.approx(10 * scores * math.log2(1001) / 998.8)
    assert (found["items"], found["gold_bits"], found["is_measured"]) == (1000, 998.8, True)
    assert found["level"] == "fair"
    assert found["remedies"][0] == {"setting": "private_part: {share: 0.5, …}", "share": 0.0}


def test_before_a_worker_looked_the_share_is_unknown(site: Site) -> None:
    with site.person("root", is_administrator=True).client as root:
        (found, *_) = root.get(LEAKS).json()["leaks"]
    assert (found["share"], found["level"], found["items"]) == (None, None, None)
    assert "is not known yet" in found["message"]
