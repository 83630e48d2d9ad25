"""What the tables share."""

NAME_CHARACTERS = 100
