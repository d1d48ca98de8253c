SELECT RunId, toUInt32(Hour) AS FiledUnder, toUInt8(0) AS Missing, toString(StartNs) AS Value
FROM judgements FINAL
WHERE Suite = ''
    AND Gone = 0
ORDER BY StartNs DESC, RunId DESC
LIMIT {rows:UInt32}
-- {'rows': 51}
