SELECT At, sum(Rows) AS Rows
FROM (SELECT toUnixTimestamp64Nano(ReceivedAt) AS At, count() AS Rows FROM otel_traces WHERE ReceivedAt > fromUnixTimestamp64Nano({settled:Int64}) AND ReceivedAt <= fromUnixTimestamp64Nano({latest:Int64}) GROUP BY At HAVING At > {settled:Int64}
    UNION ALL SELECT toUnixTimestamp64Nano(ReceivedAt) AS At, count() AS Rows FROM otel_logs WHERE ReceivedAt > fromUnixTimestamp64Nano({settled:Int64}) AND ReceivedAt <= fromUnixTimestamp64Nano({latest:Int64}) GROUP BY At HAVING At > {settled:Int64})
GROUP BY At
ORDER BY At
LIMIT {limit:UInt32}
-- {'settled': 1, 'latest': 2, 'limit': 10}
