WITH Chosen AS (SELECT DISTINCT TraceId FROM (SELECT TraceId FROM otel_traces WHERE 1 GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}
    UNION ALL SELECT TraceId FROM otel_logs WHERE TraceId != '' GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}) ORDER BY TraceId LIMIT {limit:UInt32})
SELECT TraceId, sum(Rows) AS Rows, sum(Bytes) AS Bytes, sum(Logs) AS Logs
FROM (SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, toUInt64(0) AS Logs FROM otel_traces WHERE TraceId IN Chosen GROUP BY TraceId
    UNION ALL SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, count() AS Logs FROM otel_logs WHERE TraceId != '' AND TraceId IN Chosen GROUP BY TraceId)
GROUP BY TraceId
ORDER BY TraceId
-- {'limit': 10}
