"""Reports of texts, and organisers' decisions on them, over HTTP; `app.moderation` has the rules."""
