"""Accounts over HTTP: login, tokens, passwords, roles, mail preferences, audit; the rules are in `app.people`."""
