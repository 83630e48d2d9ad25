"""Who takes part: registration, teams, invitations, members; a person's account is `app.people`'."""
