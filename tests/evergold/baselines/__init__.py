"""Tests of evergold.baselines: run without a server."""
