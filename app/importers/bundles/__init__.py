"""Parts that imports of competition bundles share: reading a zip, moments, programs, the declaration, IMPORT.md."""
