SELECT Suite, toUInt32(Hour) AS FiledUnder, RunId, Rule
FROM judgements FINAL
WHERE Gone = 0 AND Suite IN {suites:Array(String)} AND RunId IN {ids:Array(String)}
    AND Hour >= toDateTime({first:UInt32}, 'UTC') AND Hour <= toDateTime({last:UInt32}, 'UTC')
-- {'suites': ['s'], 'ids': ['r'], 'first': 0, 'last': 3600}
