"""Announcements and questions over HTTP; `app.messages` decides who gets which mail."""
