SELECT count() AS N FROM (SELECT 1 FROM judgements FINAL WHERE Suite = ''
    AND Gone = 0
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
    AND arrayExists(c -> has({called:Array(String)}, toString(c)), Calls)
    AND ((Hour, RunId) IN (SELECT Hour, RunId FROM run_texts FINAL WHERE Text LIKE lowerUTF8({text:String})
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')) OR startsWith(RunId, {begin:String}) OR startsWith(TraceId, {begin:String})) LIMIT {most:UInt32})
-- {'since': 1, 'until': 2, 'called': ['shop'], 'text': '%cafe%', 'begin': 'cafe', 'most': 10001}
