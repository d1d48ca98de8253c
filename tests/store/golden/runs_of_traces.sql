SELECT RunId FROM runs FINAL WHERE Gone = 0 AND hasAny(TraceIds, {ids:Array(String)}) ORDER BY RunId
-- {'ids': ['t']}
