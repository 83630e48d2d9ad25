"""Moderation: texts that people report and organisers hide. `app.people.competition_blocks` blocks their authors."""
