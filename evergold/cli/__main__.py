"""`python -m evergold.cli`, which equals `evergold`."""

from evergold.cli import main

main()
