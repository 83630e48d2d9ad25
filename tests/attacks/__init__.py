"""Attacks on a started server, one module each; what they report is bounded by tests in the usual rooms."""
