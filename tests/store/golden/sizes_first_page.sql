WITH Chosen AS (SELECT DISTINCT TraceId FROM (SELECT TraceId FROM otel_traces WHERE 1 GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}
    UNION ALL SELECT TraceId FROM otel_logs WHERE TraceId != '' GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}) ORDER BY TraceId LIMIT {limit:UInt32})
SELECT TraceId, count() AS Rows, sum(Size) AS Bytes
FROM (SELECT TraceId, RowBytes AS Size FROM otel_traces WHERE 1 AND TraceId IN Chosen
    UNION ALL SELECT TraceId, RowBytes AS Size FROM otel_logs WHERE TraceId != '' AND TraceId IN Chosen)
GROUP BY TraceId
ORDER BY TraceId
-- {'limit': 10}
