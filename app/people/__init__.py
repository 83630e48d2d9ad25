"""Accounts: who somebody is, roles, log-ins, tokens, mail, the audit log; not what they may do with which thing."""
