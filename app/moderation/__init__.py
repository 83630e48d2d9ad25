"""Moderation: texts that people report, and organisers hide; `app.people.blocks` blocks their authors."""
