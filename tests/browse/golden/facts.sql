SELECT * FROM
(
    SELECT RunId, TraceId, StartNs, FirstAction, ObservedClass, Agent, ServiceName, Model, Provider, PromptVersion, CatalogId, CaseId, Label, Excluded, DurationNs, InputTokens, OutputTokens, CostUsd, Ghosts, length(Calls) AS CallCount, Suite, Rule, Tenant, Gone
    FROM judgements
    PREWHERE Suite = '' AND Hour IN {hours:Array(UInt32)} AND RunId IN {ids:Array(String)}
    ORDER BY RunId, Suite, Rule, Hour, Version DESC
    LIMIT 1 BY RunId, Suite, Rule, Hour
)
WHERE Gone = 0 AND Tenant = {only:String}
ORDER BY RunId, Suite, Rule
-- {'hours': [3600], 'ids': ['shop'], 'only': 'shop'}
