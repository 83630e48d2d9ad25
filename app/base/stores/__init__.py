"""Implementations of storage, a folder or a bucket, and their common parts; used through `app.base.storage`."""
