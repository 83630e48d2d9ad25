"""Attacks on hidden gold by somebody with an account, as clever as we can make them; each says how much it has read.

`python -m tests.attacks` performs all of them over HTTP against a server that it starts; `make soak` does so.
"""
