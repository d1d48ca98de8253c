SELECT
    TraceId,
    toUInt64(toUnixTimestamp64Nano(Timestamp)) AS StartNs,
    toUInt64(toUnixTimestamp64Nano(Timestamp) + toInt64(Duration)) AS EndNs,
    SpanId,
    ParentSpanId,
    TraceState,
    SpanName,
    SpanKind,
    SpanAttributes['otel.scope.name'] AS ScopeName,
    SpanAttributes['otel.scope.version'] AS ScopeVersion,
    StatusCode,
    '' AS StatusMessage,
    '' AS Shape,
    SpanAttributes,
    ResourceAttributes,
    arrayMap(t -> toUInt64(toUnixTimestamp64Nano(t)), Events.Timestamp) AS EventNs,
    Events.Name AS EventNames,
    Events.Attributes AS EventAttributes,
    Links.TraceId AS LinkTraceIds,
    Links.SpanId AS LinkSpanIds,
    Links.TraceState AS LinkTraceStates,
    Links.Attributes AS LinkAttributes
FROM otel_traces
WHERE TraceId >= {first:String} AND TraceId <= {last:String}
ORDER BY TraceId
-- {'first': 'a', 'last': 'b'}
