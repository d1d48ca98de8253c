"""Verdicts leave as OpenTelemetry events, beside the traces that they are about (issue F point 7).

`events` says what an event holds, `sending` hands events to an OTLP endpoint, `follower` sends what the store keeps,
whoever judged it: `serve` as it arrives, `eval`, or another process.
"""
