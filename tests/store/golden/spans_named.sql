SELECT
    TraceId,
    StartNs,
    EndNs,
    SpanId,
    ParentSpanId,
    TraceState,
    SpanName,
    SpanKind,
    ScopeName,
    ScopeVersion,
    StatusCode,
    StatusMessage,
    Shape,
    SpanAttributes,
    ResourceAttributes,
    EventNs,
    Events.Name AS EventNames,
    Events.Attributes AS EventAttributes,
    Links.TraceId AS LinkTraceIds,
    Links.SpanId AS LinkSpanIds,
    Links.TraceState AS LinkTraceStates,
    Links.Attributes AS LinkAttributes
FROM otel_traces
WHERE TraceId IN {ids:Array(String)}
ORDER BY TraceId
-- {'ids': ['a', 'b']}
