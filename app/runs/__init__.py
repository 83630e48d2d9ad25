"""A run's life: claimed, kept by a lease, ended once, swept up after crashes; scoring itself is the workers'."""
