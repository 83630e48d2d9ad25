"""What a team learns of its own submissions: scores, history, comparisons, reports; nothing of anybody else's."""
