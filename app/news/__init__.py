"""News to the outside: what a webhook's audience sees of it, its shape, and the way there. `app.webhooks` notes it."""
