"""Announcements and questions over HTTP; who gets which mail is `app.messages`'."""
