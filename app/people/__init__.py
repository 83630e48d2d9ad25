"""Accounts: identity, roles, log-ins, tokens, mail, the audit log. Permissions are checked by other packages."""
