"""Servers, workers and runs that die at the worst moments; what was accepted is scored once, all the same."""
