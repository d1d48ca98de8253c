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
WHERE TraceId != '' AND TraceId >= {first:String} AND TraceId <= {last:String}
ORDER BY TraceId
-- {'first': 'a', 'last': 'b'}
