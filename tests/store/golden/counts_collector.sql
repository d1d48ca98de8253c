SELECT (SELECT count() FROM otel_traces WHERE 1) AS Spans, (SELECT count() FROM otel_logs WHERE 1) AS Logs, (SELECT count() FROM otel_logs WHERE TraceId = '') AS OrphanLogs, 0 AS Runs, 0 AS Verdicts
