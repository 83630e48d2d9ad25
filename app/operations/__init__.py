"""Operation of a server: health, metrics, migrations, models, backup and restore; `app.server` starts it."""
