"""Participation: registration, teams, invitations, members; accounts are in `app.people`."""
