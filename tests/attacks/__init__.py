"""Attacks on a started server, as clever as we can make them, one module each; each reports how far it got.

`make attacks` and `make soak` run them all; tests elsewhere bound what they report.
"""
