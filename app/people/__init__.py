"""Accounts: identity, roles, log-ins, tokens, mail, the audit log; authorisation is with the things themselves."""
