"""Users' rights in their own data: archives, deletion of accounts, retention. `app.teams` has the consents."""
