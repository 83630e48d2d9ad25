"""Teams and registration over HTTP; `app.teams` has the rules."""
