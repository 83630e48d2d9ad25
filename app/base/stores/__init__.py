"""Places for files, a folder or a bucket, and what is alike in both; others use them by `app.base.storage`."""
