SELECT TraceId, sum(Rows) AS Rows, sum(Bytes) AS Bytes, sum(Logs) AS Logs
FROM (SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, toUInt64(0) AS Logs FROM otel_traces WHERE TraceId IN {ids:Array(String)} GROUP BY TraceId
    UNION ALL SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, count() AS Logs FROM otel_logs WHERE TraceId != '' AND TraceId IN {ids:Array(String)} GROUP BY TraceId)
GROUP BY TraceId
ORDER BY TraceId
-- {'ids': ['a', 'b']}
