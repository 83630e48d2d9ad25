"""Attacks with bounded loads on real servers, and long runs: `make soak`, not every commit."""
