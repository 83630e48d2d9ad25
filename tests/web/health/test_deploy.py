"""deploy/: every metric that rules and dashboard name is one that a server has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from app.base.db import writing
from app.operations.health import beat
from tests.operations.test_health import add_worker
from tests.web.mwe_world import scored_submission
from tests.web.site import BROWSER, Person, Site
from tests.world import NOW

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text())
DASHBOARD = json.loads((DEPLOY / "grafana/evergold.json").read_text())
METRIC = re.compile(r"\bevergold_\w+")
LABELS = re.compile(r"(evergold_\w+)\{(\w+)")


def expressions() -> list[str]:
    rules = [rule["expr"] for group in RULES["groups"] for rule in group["rules"]]
    return rules + [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def test_rules_and_dashboard_name_what_a_server_has(site: Site, ada: Person) -> None:
    add_worker(site.engine)
    with writing(site.engine) as session:
        beat(session, "sweep", NOW, {"announced": 3})
    scored_submission(site.engine, ada.user)
    ada.submitted(track="closed")
    with site.client(**BROWSER) as client:
        client.get("/")
        told = client.get("/metrics").text
    known = set(re.findall(r"^(evergold_\w+)", told, re.MULTILINE))
    for expression in expressions():
        names = set(METRIC.findall(expression))
        assert names <= known, expression
        assert names or expression.startswith("up{")
        for name, label in LABELS.findall(expression):
            assert re.search(rf"^{name}\{{[^}}]*\b{label}=", told, re.MULTILINE), expression


def test_each_alert_says_what_happened_and_what_to_do() -> None:
    for rule in (rule for group in RULES["groups"] for rule in group["rules"]):
        assert rule["labels"]["severity"] in ("critical", "warning"), rule["alert"]
        assert rule["annotations"]["summary"], rule["alert"]
        assert rule["annotations"]["description"], rule["alert"]


def test_the_scrape_configuration_reads_the_rules_beside_it() -> None:
    configuration = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    assert all((DEPLOY / "prometheus" / name).is_file() for name in configuration["rule_files"])
