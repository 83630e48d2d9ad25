"""Which modules decide, and in which rooms tests look at them; which test touches which function is seen as they run.

Modules that share their tests share one run of these. Servers and browsers are left out (`pytest -m "not services and
not browser"`), so that a trial takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

_BOARDS = ("tests/boards/", "tests/competitions/test_visibility.py", "tests/submissions/test_choices.py")
_ENTERING = (
    "tests/competitions/",
    "tests/people/test_roles.py",
    "tests/people/test_unproved_addresses.py",
    "tests/submissions/",
    "tests/teams/",
)
_GOLD_AND_RUNS = (
    "tests/gold/",
    "tests/rescoring/",
    "tests/runs/",
    "tests/submissions/test_validations.py",
    "tests/workers/test_check.py",
    "tests/workers/test_confined.py",
    "tests/workers/test_gold.py",
    "tests/workers/test_keys.py",
    "tests/workers/test_lease.py",
    "tests/workers/test_overrun.py",
    "tests/workers/test_public_gold.py",
    "tests/workers/test_rescoring.py",
    "tests/workers/test_score.py",
    "tests/workers/test_sealed.py",
    "tests/workers/test_sealed_gold.py",
    "tests/workers/test_version_check.py",
)
_SCORING = (
    "tests/evergold/scoring/test_agreement.py",
    "tests/evergold/scoring/resampling/test_samples.py",
    "tests/evergold/scoring/test_bad_files.py",
    "tests/evergold/scoring/test_correlation.py",
    "tests/evergold/scoring/test_embeddings.py",
    "tests/evergold/scoring/test_entries.py",
    "tests/evergold/scoring/test_every_task.py",
    "tests/evergold/scoring/test_f1.py",
    "tests/evergold/scoring/test_golden.py",
    "tests/evergold/scoring/test_human_scores.py",
    "tests/evergold/scoring/test_idiom_detection.py",
    "tests/evergold/scoring/test_idiom_similarity.py",
    "tests/evergold/scoring/test_item_results.py",
    "tests/evergold/scoring/test_ladder.py",
    "tests/evergold/scoring/test_left_out.py",
    "tests/evergold/scoring/test_meaning_matching.py",
    "tests/evergold/scoring/test_multi_label.py",
    "tests/evergold/scoring/test_mwe.py",
    "tests/evergold/scoring/test_mwe_identification.py",
    "tests/evergold/scoring/test_mwe_paraphrase.py",
    "tests/evergold/scoring/test_mwe_paraphrase_gold.py",
    "tests/evergold/scoring/test_mwe_paraphrase_scores.py",
    "tests/evergold/scoring/test_mwe_removed.py",
    "tests/evergold/scoring/test_outcomes.py",
    "tests/evergold/scoring/test_probing.py",
    "tests/evergold/scoring/test_probing_task.py",
    "tests/evergold/scoring/test_ranking.py",
    "tests/evergold/scoring/test_sequence_labelling.py",
    "tests/evergold/scoring/test_spans.py",
    "tests/evergold/scoring/test_table_forms.py",
    "tests/evergold/scoring/test_table_task.py",
    "tests/evergold/scoring/test_text_generation.py",
)

_MODULES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    _BOARDS: (
        "app/boards/entries.py",
        "app/boards/leaderboard.py",
        "app/boards/marks.py",
        "app/boards/snapshots.py",
        "app/boards/view.py",
        "app/competitions/visibility.py",
    ),
    _ENTERING: (
        "app/competitions/limits.py",
        "app/people/roles.py",
        "app/submissions/accept.py",
        "app/teams/find.py",
        "app/teams/invitations.py",
        "app/teams/membership.py",
        "app/teams/registration.py",
        "app/teams/registration_rules.py",
    ),
    _GOLD_AND_RUNS: (
        "app/gold/sealing.py",
        "app/gold/versions.py",
        "app/rescoring/difference.py",
        "app/rescoring/publishing.py",
        "app/rescoring/sets.py",
        "app/runs/claims.py",
        "app/runs/outcomes.py",
        "app/runs/sweep.py",
        "app/runs/turns.py",
        "workers/confined.py",
        "workers/gold.py",
        "workers/keys.py",
        "workers/lease.py",
        "workers/sealed.py",
    ),
    _SCORING: (
        "evergold/scoring/agreement.py",
        "evergold/scoring/correlation.py",
        "evergold/scoring/diversity.py",
        "evergold/scoring/entries.py",
        "evergold/scoring/f1.py",
        "evergold/scoring/ladder.py",
        "evergold/scoring/multi_label.py",
        "evergold/scoring/mwe.py",
        "evergold/scoring/mwe_languages.py",
        "evergold/scoring/mwe_pairing.py",
        "evergold/scoring/paraphrase_scores.py",
        "evergold/scoring/probing.py",
        "evergold/scoring/ranking.py",
        "evergold/scoring/segmentation.py",
        "evergold/scoring/spans.py",
        "evergold/scoring/table_metrics.py",
        "evergold/scoring/tasks/idiom_detection.py",
        "evergold/scoring/tasks/idiom_similarity.py",
        "evergold/scoring/tasks/idiomaticity_probing.py",
        "evergold/scoring/tasks/meaning_matching.py",
        "evergold/scoring/tasks/multi_label.py",
        "evergold/scoring/tasks/mwe_identification.py",
        "evergold/scoring/tasks/mwe_paraphrase.py",
        "evergold/scoring/tasks/ranking.py",
        "evergold/scoring/tasks/sequence_labelling.py",
        "evergold/scoring/tasks/table.py",
        "evergold/scoring/tasks/text_generation.py",
    ),
}

#: Of each module, where its tests lie.
TESTS: Mapping[str, tuple[str, ...]] = {module: tests for tests, modules in _MODULES.items() for module in modules}
