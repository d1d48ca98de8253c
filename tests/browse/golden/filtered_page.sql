SELECT RunId, toUInt32(Hour) AS FiledUnder, toUInt8(isNull(DurationNs)) AS Missing, toString(ifNull(DurationNs, 0)) AS Value
FROM judgements FINAL
WHERE Suite = ''
    AND Gone = 0
    AND Tenant = {only:String}
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
    AND Agent IN {agent:Array(String)}
    AND notEmpty(Ghosts)
    AND (Hour, RunId) IN (
        SELECT Hour, RunId FROM judgements FINAL
        WHERE Gone = 0
    AND Tenant = {only:String}
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
    AND Suite IN {files:Array(String)}
    AND (Suite IN {suite:Array(String)} OR concat(Suite, '/', Rule) IN {suite:Array(String)})
    AND Counts = 1
    AND Status IN {status:Array(String)}
    AND arrayExists((e, o) -> has({expected:Array(String)}, toString(e)) AND has({observed:Array(String)}, toString(o)), Expected, Observed)
    AND notEmpty(Forbidden)
    AND CaseId IN {case:Array(String)}
    AND arrayExists(c -> has({called:Array(String)}, toString(c)), Calls))
    AND ((Hour, RunId) IN (SELECT Hour, RunId FROM run_texts FINAL WHERE Text LIKE lowerUTF8({text:String})
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')))
    AND (toUInt8(isNull(DurationNs)) < {missing:UInt8} OR (toUInt8(isNull(DurationNs)) = {missing:UInt8} AND (ifNull(DurationNs, 0) > {value:Int64} OR (ifNull(DurationNs, 0) = {value:Int64} AND RunId > {id:String}))))
ORDER BY isNull(DurationNs) DESC, ifNull(DurationNs, 0) ASC, RunId ASC
LIMIT {rows:UInt32}
-- {'only': 'shop', 'since': 1, 'until': 2, 'agent': ['shop'], 'files': ['guard', 'guard/a', 'shop'], 'suite': ['shop', 'guard/a'], 'status': ['fail'], 'expected': ['x'], 'observed': ['y'], 'case': ['shop'], 'called': ['shop'], 'text': '%shop 100\\%%', 'missing': 0, 'value': '5', 'id': 'shop', 'rows': 51}
