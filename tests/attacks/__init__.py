"""Attacks on hidden gold by somebody with an account, as clever as we can make them; each says how much it has read.

Each module that has a `main` performs one against a server that it starts: `python -m tests.attacks.hidden_gold`;
`make soak` runs them all.
"""
