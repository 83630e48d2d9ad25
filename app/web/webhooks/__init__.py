"""Webhooks over HTTP: of competitions, of teams, of the server."""
