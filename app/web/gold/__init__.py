"""Gold over HTTP, one way only: it is sealed as it streams in and never sent out."""
