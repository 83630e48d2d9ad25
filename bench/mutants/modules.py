"""Which modules decide, and which tests look at each: those that would be run first after a change there.

Servers and browsers are left out (`pytest -m "not services and not browser"`), so that a trial takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

_SCORING = "tests/evergold/scoring"
_MEMBERSHIP = "tests/teams/test_membership.py"
_SETS = "tests/rescoring/test_sets.py"
_MWE = f"{_SCORING}/test_mwe.py"
_MWE_TASK = f"{_SCORING}/test_mwe_identification.py"
_OUTCOMES = f"{_SCORING}/test_outcomes.py"
_PROBING = (f"{_SCORING}/test_probing.py", f"{_SCORING}/test_probing_task.py")

TESTS: Mapping[str, tuple[str, ...]] = {
    "app/boards/entries.py": (
        "tests/boards/test_leaderboard.py",
        "tests/boards/test_view.py",
        "tests/boards/test_marks.py",
        "tests/submissions/test_choices.py",
    ),
    "app/boards/leaderboard.py": (
        "tests/boards/test_leaderboard.py",
        "tests/boards/test_view.py",
        "tests/boards/test_version.py",
        "tests/boards/test_marks.py",
        "tests/boards/test_snapshots.py",
    ),
    "app/boards/marks.py": ("tests/boards/test_marks_said.py", "tests/boards/test_marks.py"),
    "app/boards/snapshots.py": ("tests/boards/test_snapshots.py", "tests/boards/test_marks.py"),
    "app/boards/view.py": ("tests/boards/test_view.py", "tests/boards/test_marks.py", "tests/boards/test_cards.py"),
    "app/competitions/limits.py": (
        "tests/competitions/test_limits.py",
        "tests/submissions/test_accept.py",
        _MEMBERSHIP,
    ),
    "app/competitions/visibility.py": ("tests/competitions/test_visibility.py", "tests/boards/test_view.py"),
    "app/gold/sealing.py": ("tests/workers/test_sealed.py", "tests/workers/test_keys.py"),
    "app/gold/versions.py": (
        "tests/gold/test_versions.py",
        "tests/workers/test_sealed_gold.py",
        "tests/workers/test_keys.py",
        "tests/workers/test_version_check.py",
        "tests/boards/test_view.py",
    ),
    "app/people/roles.py": ("tests/people/test_roles.py", "tests/people/test_unproved_addresses.py"),
    "app/rescoring/difference.py": (_SETS,),
    "app/rescoring/publishing.py": (_SETS,),
    "app/rescoring/sets.py": (_SETS,),
    "app/runs/claims.py": (
        "tests/runs/test_claims.py",
        "tests/runs/test_sweep.py",
        "tests/workers/test_sealed_gold.py",
    ),
    "app/runs/outcomes.py": ("tests/runs/test_claims.py", "tests/competitions/test_limits.py"),
    "app/runs/sweep.py": ("tests/runs/test_sweep.py",),
    "app/runs/turns.py": ("tests/runs/test_turns.py",),
    "app/submissions/accept.py": ("tests/submissions/test_accept.py", "tests/competitions/test_limits.py"),
    "app/teams/find.py": (_MEMBERSHIP, "tests/submissions/test_accept.py"),
    "app/teams/invitations.py": (_MEMBERSHIP,),
    "app/teams/membership.py": (_MEMBERSHIP,),
    "app/teams/registration.py": ("tests/teams/test_registration.py",),
    "app/teams/registration_rules.py": ("tests/teams/test_registration.py",),
    "evergold/scoring/agreement.py": (f"{_SCORING}/test_agreement.py",),
    "evergold/scoring/correlation.py": (f"{_SCORING}/test_correlation.py", f"{_SCORING}/test_idiom_similarity.py"),
    "evergold/scoring/diversity.py": (_MWE, _MWE_TASK),
    "evergold/scoring/entries.py": (f"{_SCORING}/test_entries.py",),
    "evergold/scoring/f1.py": (f"{_SCORING}/test_f1.py", f"{_SCORING}/test_idiom_detection.py"),
    "evergold/scoring/ladder.py": (f"{_SCORING}/test_ladder.py",),
    "evergold/scoring/mwe.py": (_MWE, _MWE_TASK),
    "evergold/scoring/mwe_languages.py": (_MWE_TASK,),
    "evergold/scoring/mwe_pairing.py": (_MWE, _MWE_TASK),
    "evergold/scoring/paraphrase_scores.py": (f"{_SCORING}/test_mwe_paraphrase_scores.py",),
    "evergold/scoring/probing.py": _PROBING,
    "evergold/scoring/table_metrics.py": (f"{_SCORING}/test_table_task.py",),
    "evergold/scoring/tasks/idiom_detection.py": (f"{_SCORING}/test_idiom_detection.py", _OUTCOMES),
    "evergold/scoring/tasks/idiom_similarity.py": (f"{_SCORING}/test_idiom_similarity.py", _OUTCOMES),
    "evergold/scoring/tasks/idiomaticity_probing.py": _PROBING,
    "evergold/scoring/tasks/meaning_matching.py": (f"{_SCORING}/test_meaning_matching.py",),
    "evergold/scoring/tasks/mwe_identification.py": (_MWE_TASK, _OUTCOMES),
    "evergold/scoring/tasks/table.py": (f"{_SCORING}/test_table_task.py",),
    "workers/confined.py": ("tests/workers/test_confined.py",),
    "workers/gold.py": ("tests/workers/test_gold.py", "tests/workers/test_sealed_gold.py"),
    "workers/keys.py": ("tests/workers/test_keys.py", "tests/workers/test_sealed.py"),
    "workers/lease.py": ("tests/workers/test_lease.py",),
    "workers/sealed.py": ("tests/workers/test_sealed.py",),
}
