"""Tests of evergold.probe: run without a server."""
