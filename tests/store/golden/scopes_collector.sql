SELECT
    ServiceName AS Service, SpanAttributes['otel.scope.name'] AS Scope, SpanAttributes['otel.scope.version'] AS Version, count() AS Spans, uniqExact(TraceId) AS Traces,
    toUInt64(min(toUnixTimestamp64Nano(Timestamp))) AS First, toUInt64(max(toUnixTimestamp64Nano(Timestamp))) AS Last
FROM otel_traces
GROUP BY Service, Scope, Version
ORDER BY Service, Scope, Version
