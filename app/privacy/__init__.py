"""What people may ask of their own data: an archive of it, the deletion of their account; how long data stay."""
