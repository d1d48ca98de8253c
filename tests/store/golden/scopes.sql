SELECT
    ServiceName AS Service, ScopeName AS Scope, ScopeVersion AS Version, count() AS Spans, uniqExact(TraceId) AS Traces,
    toUInt64(min(toUnixTimestamp64Nano(Timestamp))) AS First, toUInt64(max(toUnixTimestamp64Nano(Timestamp))) AS Last
FROM otel_traces FINAL
GROUP BY Service, Scope, Version
ORDER BY Service, Scope, Version
