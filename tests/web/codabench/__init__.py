"""Tests of the answers to clients of Codabench."""
