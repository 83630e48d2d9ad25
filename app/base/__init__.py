"""What every room stands on: settings, database, errors, addresses, storage, queue, texts, times; no subject's
rules."""
