SELECT toUInt8(indexOf([grouping(Agent) = 0, grouping(Model) = 0], 1) - 1) AS Kind, concat(if(grouping(Agent) = 0, toString(Agent), ''), if(grouping(Model) = 0, toString(Model), ''), '') AS Value, count() AS N
FROM judgements
WHERE Gone = 0
    AND Suite = ''
    AND Tenant = {only:String}
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
GROUP BY GROUPING SETS ((Agent), (Model))
HAVING Value != ''
ORDER BY Kind, N DESC, Value
LIMIT {most:UInt32} BY Kind
-- {'only': 'shop', 'since': 1, 'until': 2, 'most': 50}
