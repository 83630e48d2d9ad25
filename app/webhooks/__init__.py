"""Webhooks as people declare them, notes of what happened, and their log; `app.news` writes and sends the messages."""
