"""The lifecycle of runs: claimed, held by a lease, ended once, cleaned up after crashes; workers do the scoring."""
