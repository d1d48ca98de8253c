SELECT
    TraceId,
    toUInt64(toUnixTimestamp64Nano(Timestamp)) AS TimeNs,
    toUInt64(0) AS ObservedNs,
    SpanId,
    '' AS EventName,
    toInt64(SeverityNumber) AS SeverityNumber,
    SeverityText,
    Body,
    '' AS Shape,
    LogAttributes,
    ResourceAttributes,
    '' AS ScopeName,
    '' AS ScopeVersion
FROM otel_logs
WHERE TraceId != '' AND TraceId >= {first:String} AND TraceId <= {last:String}
ORDER BY TraceId
-- {'first': 'a', 'last': 'b'}
