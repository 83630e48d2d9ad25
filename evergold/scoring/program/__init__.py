"""Task type `program`: an organisers' own scoring program. Options, uploads, packed programs, and what scores become.

The program itself runs in a sandbox of the workers; nothing here starts it.
"""
