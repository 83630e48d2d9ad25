"""Teams and registration over HTTP; the rules are in `app.teams`."""
