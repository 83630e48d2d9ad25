"""What keeps a server running: health, metrics, migrations, models, backup and restore; starting it is
`app.server`'s."""
