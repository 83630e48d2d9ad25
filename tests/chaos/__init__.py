"""Servers, workers and runs that die at the worst moments: every accepted file is still scored exactly once."""
