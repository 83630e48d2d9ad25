"""Processes other than the web: scoring, later computations, the sweep; only they open sealed files."""
