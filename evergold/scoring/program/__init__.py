"""Task type `program`: an organisers' own scoring program. Options, uploads, packed programs, its scores.

The program itself runs in a sandbox of the workers; nothing here starts it.
"""
