"""Which of a team's scored runs it stands with on each board: decided here, and kept in a table."""
