"""Attacks on a started server, as clever as we can make them, one module each; each says how far it got.

`make attacks` performs them all, `make soak` too; what they report is bounded by tests in the usual rooms.
"""
