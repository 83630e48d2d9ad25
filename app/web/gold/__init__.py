"""Gold over HTTP, in one direction only: sealed while it is received, never sent."""
