SELECT RunId, arrayIntersect(TraceIds, {ids:Array(String)}) AS Traces
FROM runs FINAL
WHERE Gone = 0 AND hasAny(TraceIds, {ids:Array(String)})
ORDER BY RunId
-- {'ids': ['t']}
