"""Tests of what clients of Codabench are answered."""
