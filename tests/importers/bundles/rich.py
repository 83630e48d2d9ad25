"""Bundles in which every key of their kind is used, with strange, missing, repeated and reordered parts; `golden` holds
the result of each as a whole.
"""

# ruff: noqa: E501 - lines of bundles

from __future__ import annotations

from collections.abc import Mapping

from tests.importers.bundles import made

VERSION_2 = """\
version: 2
title: "Spoons  and forks"
description: "Which is which.\\n\\nAnd what of knives?"
image: logo.png
docker_image: codalab/codalab-legacy:py312
terms: terms.md
contact_email: organisers@example.org
registration_auto_approve: yes
reward: A spoon of silver.
queue: fast
competition_type: competition
forum_enabled: false
enable_detailed_results: true
show_detailed_results_in_submission_panel: false
make_programs_available: true
make_input_data_available: true
can_participants_make_submissions_public: true
admin_names: [somebody]
new_things: {inside: 1}
pages:
  - {title: Data, file: terms.md}
  - {title: Overview, file: overview.html}
  - {title: Table, file: public/items.txt}
fact_sheet:
  "size": {"key": "size", "type": "text", "title": "Size", "selection": "", "is_required": "true", "is_on_leaderboard": "true"}
  "open": {"key": "open", "type": "select", "title": "Open?", "selection": [True, False], "is_required": "false", "is_on_leaderboard": "true"}
  "kind": {"key": "kind", "type": "select", "title": "Kind", "selection": [encoder, decoder, encoder], "is_required": "true", "is_on_leaderboard": "false"}
  "tick": {"key": "tick", "type": "checkbox", "title": "A question that is so long that a method card has no room for all of it", "selection": "", "is_required": "false", "is_on_leaderboard": "false"}
  "odd": {"key": "odd", "type": "slider", "title": "Odd", "selection": "", "is_required": "false", "is_on_leaderboard": "false"}
tasks:
  - {index: 4, name: Forks, description: Forks alone., scoring_program: scoring.zip, reference_data: truth.txt}
  - {index: 2, name: Spoons, description: Spoons alone., scoring_program: scoring.zip, reference_data: gold/, input_data: public}
  - {index: 3, name: Forks, scoring_program: silent.zip}
  - {index: 0, name: Knives, reference_data: gold/}
  - {index: 9, key: 5ab1c2d3}
  - {index: 1, name: Code, description: Code of teams., scoring_program: scoring.zip, reference_data: gold/, ingestion_program: scoring.zip, ingestion_only_during_scoring: true}
solutions:
  - {index: 1, name: Majority, description: Always a., tasks: [2, 4], path: sample}
  - {index: 0, tasks: [4], path: sample}
  - {index: 2, name: Code, tasks: [2], path: code.zip}
  - {index: 3, key: 5ab1c2d3, tasks: [2]}
phases:
  - {index: 3, name: Final, description: The last one., start: 2026-03-01 12:00:00+02:00, end: 2026-04-01 23:59 AoE, hide_score_output: true, hide_output: true, auto_migrate_to_this_phase: true, execution_time_limit: 60, max_submissions_per_day: 20, max_submissions: 10, starting_kit: sample, tasks: [2, 4, 2]}
  - {index: 1, name: Practice, start: 2026-01-01 00:00 UTC, end: 2026-02-15 00:00 UTC, auto_migrate_to_this_phase: true, max_submissions_per_day: 3, max_submissions: 9, public_data: public, starting_kit: sample, tasks: [4, 3]}
  - {index: 2, name: Practice, start: 2026-02-15 00:00 UTC, end: 2026-03-01 00:00 UTC, leaderboard_management_mode: Hide_Results, tasks: [1, 2]}
  - {index: 4, name: Ever, start: 2026-05-01 00:00 UTC, hide_score_output: true, tasks: [2]}
  - {index: 5, name: Nothing, start: 2026-05-01 00:00 UTC, tasks: [0]}
leaderboards:
  - title: Results
    key: main
    submission_rule: Add_And_Delete_Multiple
    columns:
      - {title: Other, key: other-score, index: 2, sorting: asc, precision: 3}
      - {title: Secret, key: Mean Error, index: 0, hidden: true, sorting: down}
      - {title: Share, key: share, index: 1, precision: 12}
      - {title: Both, key: both, index: 3, computation: avg, computation_indexes: [2, 1], sorting: desc}
      - {title: Ranked, key: ranked, index: 4, computation: avg_rank, computation_indexes: [1, 2]}
      - {title: Lost, key: lost, index: 5, hidden: true, computation: max, computation_indexes: [1, 7]}
  - title: Others
    key: others
    submission_rule: Force_Last
    columns:
      - {title: Least, key: least, index: 9, computation: min, computation_indexes: "8"}
      - {title: Share again, key: share, index: 8}
"""
#: The same with switches turned the other way.
SWITCHED_2 = made.replaced(
    VERSION_2,
    {
        "enable_detailed_results: true": "enable_detailed_results: false",
        "in_submission_panel: false": "in_submission_panel: true",
        "make_programs_available: true": "make_programs_available: false",
        "make_input_data_available: true": "make_input_data_available: false",
        "registration_auto_approve: yes": "registration_auto_approve: no",
    },
)

VERSION_15 = """\
title: Old spoons
description: A bundle of CodaLab
competition_docker_image: codalab/codalab-legacy:py3
image: terms.md
has_registration: false
start_date: 2020-01-01 00:00:00+00:00
end_date: 2020-07-01 00:00:00+00:00
admin_names: somebody
allow_teams: false
anonymous_leaderboard: true
enable_detailed_results: true
show_detailed_results_in_submission_panel: false
disallow_leaderboard_modifying: false
force_submission_to_leaderboard: false
html: {data_used: overview.html, terms: terms.html, overview: public/items.txt}
phases:
  5: {phasenumber: 4, label: Late, description: The last one., start_date: 2020-05-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, force_best_submission_to_leaderboard: true, max_submissions: 4, max_submissions_per_day: 7}
  1: {phasenumber: 1, label: Practice, start_date: 2020-01-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, color: green, datasets: {1: {name: x}}, public_data: public, starting_kit: sample, input_data: public}
  3: {phasenumber: 3, label: French, start_date: 2020-03-01 00:00:00+00:00, scoring_program: silent.zip, leaderboard_management_mode: hide_results, is_parallel_parent: true, execution_time_limit: 90}
  2: {phasenumber: 2, label: English, start_date: 2020-03-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: truth.txt, auto_migration: true, parent_phasenumber: 3, hide_score_output: true}
  4: {phasenumber: 5, label: Code, start_date: 2020-06-01 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, ingestion_program: scoring.zip, ingestion_program_only_during_scoring: true}
  6: {phasenumber: 6, label: Ever, start_date: 2020-06-15 00:00:00+00:00, scoring_program: scoring.zip, reference_data: gold, phase_never_ends: true, ingestion_program: scoring.zip, is_scoring_only: true}
  7: {phasenumber: 7, label: Nothing, start_date: 2020-06-20 00:00:00+00:00}
leaderboard:
  leaderboards:
    Others: &O {label: Others, rank: 2}
    Results: &R {label: RESULTS, rank: 1}
    Empty: {label: Empty, rank: 3}
  columns:
    sum: {leaderboard: *O, label: Sum, rank: 4, computed: {operation: Sum, fields: "share, other-score"}}
    share: {leaderboard: *R, label: Share, rank: 2, numeric_format: 4}
    hidden: {leaderboard: *R, label: Hidden, rank: 1, hidden: true}
    other-score: {leaderboard: Others, label: Other, rank: 3, sort: asc}
    lost: {leaderboard: *R, label: Lost, rank: 5, computed: {operation: Median, fields: [share]}}
    nowhere: {leaderboard: Gone, label: Nowhere, rank: 6, sort: up}
"""

EVALAI = """\
title: Spoons again
short_description: A challenge
description: overview.html
evaluation_details: terms.html
submission_guidelines: public/items.txt
terms_and_conditions: terms.html
evaluation_script: scripts.zip
image: logo.png
start_date: 2026-01-01 00:00:00
end_date: 2026-12-31 23:59:59
remote_evaluation: false
tags: [a, b]
published: true
leaderboard:
  - id: 7
    schema: {"labels": ["Error", "Share"], "default_order_by": "Share", "metadata": {"Error": {"sort_ascending": true, "description": "less is better"}}}
  - id: 3
    schema: {"labels": ["Time", "Share"], "default_order_by": "Speed"}
dataset_splits:
  - {id: 2, name: Unseen, codename: unseen}
  - {id: 1, name: Seen, codename: seen}
challenge_phases:
  - {id: 4, name: Test, codename: test, start_date: 2026-03-01 00:00:00, end_date: 2026-12-31 00:00:00, test_annotation_file: truth.txt, is_restricted_to_select_one_submission: True, is_public: True, leaderboard_public: True, allowed_submission_file_types: ".json, .zip", max_submissions_per_day: 5, max_submissions_per_month: 50, max_submissions: 40, allowed_email_ids: [a@example.org]}
  - id: 1
    name: Dev
    description: overview.html
    codename: dev
    start_date: 2026-01-01 00:00:00
    end_date: 2026-06-01 00:00:00
    test_annotation_file: gold/truth.txt
    max_submissions_per_day: 50
    max_submissions: 40
    is_public: True
    is_submission_public: False
    leaderboard_public: False
    allowed_submission_file_types: ".json, .txt, .tar.gz"
    allowed_email_ids: []
    disable_logs: True
    submission_meta_attributes:
      - {name: Kind, description: of the model, type: radio, options: [a, b, a], required: True}
      - {name: Parts, type: checkbox, options: [c, d]}
      - {name: Open, description: "", type: boolean, required: False}
      - {name: Words, type: text}
  - {id: 6, name: Late, start_date: 2026-06-01 00:00:00, max_submissions_per_day: 0, max_submissions_per_month: -1, max_submissions: 4294967296, submission_meta_attributes: [{name: Kind, type: text}]}
  - {id: 2, name: Shared, codename: shared, start_date: 2026-06-01 00:00:00, end_date: 2026-07-01 00:00:00, test_annotation_file: truth.txt}
  - {id: 5, name: Shown nowhere, codename: nowhere, start_date: 2026-06-01 00:00:00, test_annotation_file: truth.txt}
challenge_phase_splits:
  - {challenge_phase_id: 4, leaderboard_id: 3, dataset_split_id: 1, visibility: 3, leaderboard_decimal_precision: 1, is_leaderboard_order_descending: True}
  - {challenge_phase_id: 4, leaderboard_id: 7, dataset_split_id: 2, visibility: 3, leaderboard_decimal_precision: 3, is_leaderboard_order_descending: True}
  - {challenge_phase_id: 4, leaderboard_id: 7, dataset_split_id: 1, visibility: 1, leaderboard_decimal_precision: 4, is_leaderboard_order_descending: True}
  - {challenge_phase_id: 1, leaderboard_id: 3, dataset_split_id: 1, visibility: 3, leaderboard_decimal_precision: 12, is_leaderboard_order_descending: False, show_execution_time: True, show_leaderboard_by_latest_submission: True}
  - {challenge_phase_id: 6, leaderboard_id: 3, dataset_split_id: 1, visibility: 2}
  - {challenge_phase_id: 2, leaderboard_id: 3, dataset_split_id: 1, visibility: 1}
"""


def files(main: str, name: str = "competition.yaml") -> Mapping[str, made.Content]:
    """Return the files that these bundles name."""
    silent = made.zipped({"score.py": made.SCORE})
    return {
        **made.files(main, name),
        "silent.zip": silent,
        "code.zip": made.zipped({"metadata": made.METADATA, "a.py": ""}),
    }
