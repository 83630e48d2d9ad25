"""Lifecycle of runs: claimed, held by a lease, ended once, cleaned up after crashes; the workers do the scoring."""
