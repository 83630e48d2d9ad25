"""`python -m app.cli`: the same as `evergold`."""

from app.cli import main

main()
