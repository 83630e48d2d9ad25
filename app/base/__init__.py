"""The base of all packages: settings, database, errors, addresses, storage, queue, texts, times; no domain rules."""
