"""Our own telemetry: logs, metrics and spans of this program about itself (design section 2).

Nothing of a trace's content ever goes in: names, counts, sizes, times and kinds of errors only. prometheus-client and
the OpenTelemetry SDK are imported when they are first used, so that whoever uses neither pays for neither.
"""
