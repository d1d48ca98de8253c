"""toolselect: did the agent pick the right tool? Judged from OpenTelemetry traces."""

__version__ = "0.1.0"
