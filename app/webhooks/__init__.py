"""Webhooks as people declare them, stored news, and their log; `app.news` builds and sends the messages."""
