SELECT RunId AS `RunId`, TraceId AS `TraceId`, ParentRunId AS `ParentRunId`, CaseId AS `CaseId`, Suite AS `Suite`, Label AS `Label`, Attempt AS `Attempt`, ServiceName AS `ServiceName`, Agent AS `Agent`, Provider AS `Provider`, Model AS `Model`, PromptVersion AS `PromptVersion`, CatalogId AS `CatalogId`, ConversationId AS `ConversationId`, Request AS `Request`, FinalText AS `FinalText`, StartNs AS `StartNs`, DurationNs AS `DurationNs`, InputTokens AS `InputTokens`, OutputTokens AS `OutputTokens`, CostUsd AS `CostUsd`, Incomplete AS `Incomplete`, TraceIds AS `TraceIds`, History AS `History`, Dialects AS `Dialects`, Expected AS `Expected`, ToolsKey AS `ToolsKey`, EventList AS `EventList`, EventTexts AS `EventTexts`, Tenant AS `Tenant`, NoCallLabel AS `NoCallLabel`, NoCallSignal AS `NoCallSignal`, NoCallConfidence AS `NoCallConfidence`
FROM runs FINAL
WHERE Gone = 0 AND Suite = {suite:String} AND RunId IN {ids:Array(String)} AND StartNs >= {since:UInt64} AND StartNs < {until:UInt64} AND RunId > {after:String}
ORDER BY RunId
LIMIT {limit:UInt32}
-- {'suite': 's', 'ids': ['r'], 'since': 1, 'until': 2, 'after': 'r', 'limit': 10}
