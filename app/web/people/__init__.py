"""Accounts over HTTP: log-in, tokens, passwords, roles, mail choices, audit; the rules are `app.people`'."""
