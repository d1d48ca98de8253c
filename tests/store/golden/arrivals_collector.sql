SELECT At, sum(Rows) AS Rows
FROM (SELECT intDiv(toUnixTimestamp64Nano(Timestamp), 10000000000) * 10000000000 AS At, count() AS Rows FROM otel_traces WHERE Timestamp > fromUnixTimestamp64Nano({settled:Int64}) AND Timestamp <= fromUnixTimestamp64Nano({latest:Int64}) GROUP BY At HAVING At > {settled:Int64}
    UNION ALL SELECT intDiv(toUnixTimestamp64Nano(Timestamp), 10000000000) * 10000000000 AS At, count() AS Rows FROM otel_logs WHERE Timestamp > fromUnixTimestamp64Nano({settled:Int64}) AND Timestamp <= fromUnixTimestamp64Nano({latest:Int64}) GROUP BY At HAVING At > {settled:Int64})
GROUP BY At
ORDER BY At
LIMIT {limit:UInt32}
-- {'settled': 1, 'latest': 2, 'limit': 10}
