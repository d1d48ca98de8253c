SELECT
    TraceId,
    TimeNs,
    ObservedNs,
    SpanId,
    EventName,
    toInt64(SeverityNumber) AS SeverityNumber,
    SeverityText,
    Body,
    Shape,
    LogAttributes,
    ResourceAttributes,
    ScopeName,
    ScopeVersion
FROM otel_logs
WHERE TraceId = '' AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND ServiceName = {service:String} AND TraceId IN {ids:Array(String)}
-- {'since': 1, 'until': 2, 'service': 'shop', 'ids': ['a', 'b']}
