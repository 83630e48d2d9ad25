"""Teams and registration over HTTP; the rules are `app.teams`'."""
