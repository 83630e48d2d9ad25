"""Participation: registration, teams, invitations, members. `app.people` has the accounts."""
