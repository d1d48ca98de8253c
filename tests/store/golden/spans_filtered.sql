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
WHERE TraceId >= {first:String} AND TraceId <= {last:String} AND TraceId IN (SELECT TraceId FROM otel_traces WHERE TraceId >= {first:String} AND TraceId <= {last:String} AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND ServiceName = {service:String} AND TraceId IN {ids:Array(String)} GROUP BY TraceId
    UNION ALL SELECT TraceId FROM otel_logs WHERE TraceId != '' AND TraceId >= {first:String} AND TraceId <= {last:String} AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND ServiceName = {service:String} AND TraceId IN {ids:Array(String)} GROUP BY TraceId)
ORDER BY TraceId
-- {'since': 1, 'until': 2, 'service': 'shop', 'ids': ['a', 'b'], 'first': 'a', 'last': 'b'}
