"""A small, sound competition in a folder, and ways to break it, for the tests of check and apply."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.declarations.check import Finding, check_phases

NOW = datetime(2026, 6, 1, tzinfo=UTC)

#: Line numbers matter to the tests: add at the end.
PHASES = """\
version: 1
include: ["more/*.yaml"]
competitions:
  - name: demo
    title: "Demo"
    tasks:
      - name: detection
        type: idiom-detection
        title: "Detection"
        options: {languages: [en, pt]}
    boards:
      - name: zero-shot
        title: "Zero-shot"
        task: detection
        columns:
          - {metric: macro_f1, split: zero_shot/all, title: "All"}
          - {metric: macro_f1, split: zero_shot/en}
        historic:
          - phase: evaluation
            file: historic.csv
            source: "A paper"
    phases:
      - name: practice
        title: "Practice"
        start: "2026-01-01 00:00 UTC"
        limits: {per_day: 5, total: 10}
        tasks:
          detection:
            gold: demo/practice.csv
            items: practice.csv
      - name: evaluation
        title: "Evaluation"
        start: "2026-05-01 00:00 UTC"
        end: "2026-07-01 00:00 AoE"
        entry: last
        tasks:
          detection:
            gold: demo/evaluation.csv
            items: items.csv
            downloads:
              - {file: template.csv, title: "Template"}
            baselines:
              - {name: "Majority", file: majority.csv, method: "Always 1"}
"""

ITEMS = "ID,Language,MWE,Target\n1,EN,night owl,A night owl.\n2,PT,pé frio,Ele tem pé frio.\n3,EN,red tape,Red tape!\n"
GOLD = "ID,DataID,Language,Label\n1,x.EN.1,EN,0\n2,x.PT.1,PT,1\n3,x.EN.2,EN,1\n"
TEMPLATE = "ID,Language,Setting,Label\n1,EN,zero_shot,\n2,PT,zero_shot,\n3,EN,zero_shot,\n"
MAJORITY = "ID,Language,Setting,Label\n1,EN,zero_shot,1\n2,PT,zero_shot,1\n3,EN,zero_shot,1\n"
HISTORIC = """\
team,date,metric,split,value
Ada,2022-01-31,macro_f1,zero_shot/all,0.5
Ada,2022-01-31,macro_f1,zero_shot/en,0.25
Bo,,macro_f1,zero_shot/all,0.4
"""


@dataclass(frozen=True)
class Competition:
    """The folder; `phases` is its main file."""

    folder: Path

    @property
    def phases(self) -> Path:
        return self.folder / "phases.yaml"

    def change(self, old: str, new: str, file: str = "phases.yaml") -> None:
        """Replace a piece of a file, which must occur exactly once."""
        text = (self.folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {file}"
        (self.folder / file).write_text(text.replace(old, new), encoding="utf-8")

    def write(self, file: str, text: str) -> None:
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / file).write_text(text, encoding="utf-8")

    def check(self) -> list[Finding]:
        return check_phases(self.phases, now=NOW)

    def said(self) -> list[str]:
        """Return the findings without file and column, such as `12 error: …`."""
        return [f"{finding.line} {finding.severity}: {finding.message}" for finding in self.check()]


def make_competition(folder: Path) -> Competition:
    competition = Competition(folder)
    for file, text in {
        "phases.yaml": PHASES,
        "items.csv": ITEMS,
        "practice.csv": ITEMS,
        "template.csv": TEMPLATE,
        "majority.csv": MAJORITY,
        "historic.csv": HISTORIC,
    }.items():
        competition.write(file, text)
    return competition
