"""`python -m evergold.cli`: the same as `evergold`."""

from evergold.cli import main

main()
