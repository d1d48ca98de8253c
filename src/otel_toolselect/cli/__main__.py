"""`python -m otel_toolselect.cli`, for processes that start the command line without its script."""

from otel_toolselect.cli import main

main()
