"""Announcements, questions and groups to write to; sending mail is `app.people.mail`'s."""
