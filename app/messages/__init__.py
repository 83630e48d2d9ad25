"""Announcements, questions and groups of recipients; `app.people.mail` sends mail."""
