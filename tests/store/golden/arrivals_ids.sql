SELECT DISTINCT TraceId FROM otel_logs WHERE TraceId != '' AND ReceivedAt >= fromUnixTimestamp64Nano({first:Int64}) AND ReceivedAt < fromUnixTimestamp64Nano({end:Int64}) AND toUnixTimestamp64Nano(ReceivedAt) IN {places:Array(Int64)}
-- {'first': 1, 'end': 3, 'places': [1, 2]}
