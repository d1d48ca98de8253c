SELECT CaseId, RunId, StartNs, Status, FirstAction, Selection, Excluded, Failure, Owner, Label, Model,
    arrayElementOrNull(Expected, 1) AS Wanted, arrayElementOrNull(Observed, 1) AS Got
FROM judgements FINAL
WHERE Gone = 0
    AND Suite = {suite:String}
    AND Hour >= toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')
    AND Hour <= toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')
    AND StartNs >= {since:UInt64}
    AND StartNs < {until:UInt64}
    AND CaseId IN {cases:Array(String)}
    AND Status = 'fail'
ORDER BY CaseId, StartNs DESC, RunId DESC, Rule
LIMIT {recent:UInt32} BY CaseId
-- {'suite': 'shop', 'since': 1, 'until': 2, 'cases': ['shop'], 'recent': 5}
