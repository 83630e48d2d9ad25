"""What organisers take with them: predictions as a zip, participants as a table; boards' tables live in
`app.boards`."""
