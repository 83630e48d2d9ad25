"""Rights of people in their own data: archives, deletion of accounts, retention; consent is in `app.teams`."""
