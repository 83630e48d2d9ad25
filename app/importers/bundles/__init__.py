"""Code shared by imports of competition bundles: reading a zip, times, programs, the declaration, IMPORT.md."""
