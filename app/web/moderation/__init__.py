"""Reports of texts, and what organisers do about them, over HTTP; `app.moderation` decides."""
