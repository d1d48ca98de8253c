WITH Chosen AS (SELECT DISTINCT TraceId FROM (SELECT TraceId FROM otel_traces WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND ServiceName = {service:String} AND TraceId IN {ids:Array(String)} AND TraceId > {after:String} GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}
    UNION ALL SELECT TraceId FROM otel_logs WHERE TraceId != '' AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND ServiceName = {service:String} AND TraceId IN {ids:Array(String)} AND TraceId > {after:String} GROUP BY TraceId ORDER BY TraceId LIMIT {limit:UInt32}) ORDER BY TraceId LIMIT {limit:UInt32})
SELECT TraceId, sum(Rows) AS Rows, sum(Bytes) AS Bytes, sum(Logs) AS Logs
FROM (SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, toUInt64(0) AS Logs FROM otel_traces WHERE TraceId IN Chosen GROUP BY TraceId
    UNION ALL SELECT TraceId, count() AS Rows, sum(RowBytes) AS Bytes, count() AS Logs FROM otel_logs WHERE TraceId != '' AND TraceId IN Chosen GROUP BY TraceId)
GROUP BY TraceId
ORDER BY TraceId
-- {'since': 1, 'until': 2, 'service': 'shop', 'ids': ['a', 'b'], 'limit': 10, 'after': 'a'}
