SELECT toString(CaseId) AS Name, count() AS N, sumMap(map(toString(Status), toUInt64(1))) AS Statuses,
    min(StartNs) AS First, max(StartNs) AS Last
FROM judgements FINAL
WHERE Gone = 0
    AND Suite = {suite:String}
    AND Tenant = {only:String}
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
    AND CaseId > {after:String}
GROUP BY Name
ORDER BY Name
LIMIT {most:UInt32}
-- {'suite': 'shop', 'only': 'shop', 'since': 1, 'until': 2, 'after': 'shop', 'most': 10}
