"""HTTP of webhooks: of competitions, of teams, of the server."""
