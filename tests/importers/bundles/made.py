"""Bundles of our own for tests (versions 2, 1.5 and 1.8, and EvalAI), and changes to them."""

# ruff: noqa: E501 - lines of bundles

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

Content = str | bytes

SCORE = (
    "import json, sys\n"
    "truth = open(sys.argv[1] + '/ref/truth.txt').read().split()\n"
    "sent = open(sys.argv[1] + '/res/answer.txt').read().split()\n"
    "share = sum(a == b for a, b in zip(truth, sent)) / len(truth)\n"
    "json.dump({'share': share, 'other-score': 1 - share}, open(sys.argv[2] + '/scores.json', 'w'))\n"
)
METADATA = "command: python3 score.py $input $output\n"

VERSION_2 = """\
version: 2
title: Spoons and forks
description: Which is which
image: logo.png
docker_image: codalab/codalab-legacy:py312
terms: terms.md
pages:
  - {title: Overview, file: overview.html}
fact_sheet:
  "size": {"key": "size", "type": "text", "title": "Size", "selection": "", "is_required": "true", "is_on_leaderboard": "true"}
  "open": {"key": "open", "type": "select", "title": "Open?", "selection": [True, False], "is_required": "false", "is_on_leaderboard": "false"}
tasks:
  - index: 7
    name: Spoons
    scoring_program: scoring.zip
    reference_data: gold/
  - index: 9
    name: Forks
    scoring_program: scoring.zip
    reference_data: truth.txt
solutions:
  - {index: 0, tasks: [7], path: sample}
phases:
  - index: 1
    name: Final
    start: 2026-02-01 12:00:00+02:00
    end: 2026-03-01 23:59 AoE
    hide_score_output: true
    auto_migrate_to_this_phase: true
    execution_time_limit: 60
    tasks: [7, 9]
  - index: 0
    name: Practice
    start: 2026-01-01 00:00 UTC
    end: 2026-02-15 00:00 UTC
    max_submissions_per_day: 3
    max_submissions: 9
    public_data: public
    tasks: [7]
leaderboards:
  - title: Results
    key: main
    submission_rule: Force_Last
    columns:
      - {title: Other, key: other-score, index: 1, sorting: asc, precision: 3}
      - {title: Share, key: share, index: 0}
      - {title: Both, key: both, index: 2, computation: avg, computation_indexes: [0, 1]}
      - {title: Secret, key: Mean Error, index: 3, hidden: true}
"""

VERSION_15 = """\
title: Old spoons
description: A bundle of CodaLab
competition_docker_image: codalab/codalab-legacy:py3
has_registration: true
end_date: 2020-06-01 00:00:00+00:00
admin_names: somebody
html: {overview: overview.html, terms: terms.html}
phases:
  1: {phasenumber: 1, label: Practice, start_date: 2020-01-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, color: green}
  2: {phasenumber: 2, label: English, start_date: 2020-03-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, auto_migration: true}
  3: {phasenumber: 3, label: French, start_date: 2020-03-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, leaderboard_management_mode: hide_results}
  4: {phasenumber: 4, label: Late, start_date: 2020-05-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold}
leaderboard:
  leaderboards:
    Results: &R {label: RESULTS, rank: 1}
    Others: &O {label: Others, rank: 2}
  columns:
    share: {leaderboard: *R, label: Share, rank: 1, numeric_format: 4}
    other-score: {leaderboard: *O, label: Other, rank: 2, sort: asc}
    sum: {leaderboard: *O, label: Sum, rank: 3, computed: {operation: Sum, fields: "share, other-score"}}
"""

EVALAI = """\
title: Spoons again
short_description: A challenge
description: overview.html
terms_and_conditions: terms.html
evaluation_script: scripts.zip
start_date: 2026-01-01 00:00:00
end_date: 2026-12-31 23:59:59
leaderboard:
  - id: 1
    schema: {"labels": ["Share", "Error"], "default_order_by": "Share", "metadata": {"Error": {"sort_ascending": true, "description": "less is better"}}}
dataset_splits:
  - {id: 1, name: Seen, codename: seen}
  - {id: 2, name: Unseen, codename: unseen}
challenge_phases:
  - id: 1
    name: Dev
    description: overview.html
    codename: dev
    start_date: 2026-01-01 00:00:00
    end_date: 2026-06-01 00:00:00
    test_annotation_file: truth.txt
    max_submissions_per_day: 5
    max_submissions_per_month: 50
    max_submissions: 40
    is_public: True
    allowed_submission_file_types: ".json, .txt"
    submission_meta_attributes:
      - {name: Kind, description: of the model, type: radio, options: [a, b], required: True}
  - id: 2
    name: Test
    codename: test
    start_date: 2026-03-01 00:00:00
    end_date: 2026-12-31 00:00:00
    test_annotation_file: truth.txt
    is_restricted_to_select_one_submission: True
    is_public: True
challenge_phase_splits:
  - {challenge_phase_id: 1, leaderboard_id: 1, dataset_split_id: 1, visibility: 3, leaderboard_decimal_precision: 3, is_leaderboard_order_descending: True}
  - {challenge_phase_id: 2, leaderboard_id: 1, dataset_split_id: 1, visibility: 1, leaderboard_decimal_precision: 3, is_leaderboard_order_descending: True}
  - {challenge_phase_id: 2, leaderboard_id: 1, dataset_split_id: 2, visibility: 3, leaderboard_decimal_precision: 3, is_leaderboard_order_descending: True}
"""

#: Gives the share of right answers for one split or, in the phase `test`, for two.
EVALUATE = """\
def evaluate(annotation, submission, phase_codename, **others):
    truth, sent = open(annotation).read().split(), open(submission).read().split()
    share = sum(a == b for a, b in zip(truth, sent)) / len(truth)
    splits = ["seen", "unseen"] if phase_codename == "test" else ["seen"]
    return {"result": [{split: {"Share": share, "Error": 1 - share}} for split in splits]}
"""

#: The smallest picture that is one: a PNG of one pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8ffff3f0005fe02fe0def46b8"
    "0000000049454e44ae426082"
)


def zipped(files: Mapping[str, Content]) -> bytes:
    """Return a zip of these files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def files(main: str, name: str = "competition.yaml") -> dict[str, Content]:
    """Return the files of a bundle with this main file."""
    return {
        name: main,
        "logo.png": PNG,
        "terms.md": "Be kind.",
        "terms.html": "<p>Be <b>kind</b>.</p>",
        "overview.html": "<h1>Hello</h1><p>World<script>alert(1)</script></p>",
        "scoring.zip": zipped({"metadata.yaml": METADATA, "score.py": SCORE}),
        "scripts.zip": zipped({"__init__.py": "from .main import evaluate\n", "main.py": EVALUATE}),
        "gold/truth.txt": "a b c d",
        "public/items.txt": "spoon fork spoon fork",
        "truth.txt": "a b c d",
        "sample/answer.txt": "a b c c",
    }


def version_2(changes: Mapping[str, str] | None = None, **added: Content) -> dict[str, Content]:
    """Return a bundle of version 2 with parts of its competition.yaml replaced, each of which must occur."""
    return {**files(replaced(VERSION_2, changes or {})), **added}


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """Return the text with these parts replaced, each of which must occur."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def written(path: Path, content: Mapping[str, Content] | bytes) -> Path:
    """Write a zip to this path and return the path."""
    path.write_bytes(content if isinstance(content, bytes) else zipped(content))
    return path
