-- Runs: one row per run with its events in arrays, so that a run is replaced as a whole by one insert and no event of
-- an older assembly can stay behind. `events` is a view on it. JSON values are canonical JSON text.
CREATE TABLE IF NOT EXISTS runs
(
    RunId String CODEC(ZSTD(1)),
    Version UInt64 CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    TraceIds Array(String) CODEC(ZSTD(1)),
    ParentRunId Nullable(String) CODEC(ZSTD(1)),
    CaseId Nullable(String) CODEC(ZSTD(1)),
    Suite LowCardinality(Nullable(String)),
    Label LowCardinality(Nullable(String)),
    Attempt Nullable(Int64),
    ServiceName LowCardinality(String),
    Agent LowCardinality(Nullable(String)),
    Provider LowCardinality(Nullable(String)),
    Model LowCardinality(Nullable(String)),
    PromptVersion LowCardinality(Nullable(String)),
    CatalogId LowCardinality(Nullable(String)),
    ToolsKey LowCardinality(Nullable(String)) COMMENT 'key in catalogs; null: no catalog in the trace',
    ConversationId Nullable(String) CODEC(ZSTD(1)),
    Request Nullable(String) CODEC(ZSTD(1)),
    FinalText Nullable(String) CODEC(ZSTD(1)),
    FirstAction LowCardinality(String),
    ObservedClass LowCardinality(String),
    NoCallLabel LowCardinality(String),
    NoCallSignal LowCardinality(String),
    NoCallConfidence Float64,
    Start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    StartNs UInt64 CODEC(Delta(8), ZSTD(1)),
    DurationNs Nullable(Int64),
    InputTokens Nullable(Int64),
    OutputTokens Nullable(Int64),
    CostUsd Nullable(Float64),
    Incomplete LowCardinality(Nullable(String)),
    Dialects Array(LowCardinality(String)),
    Events Nested
    (
        Kind LowCardinality(String),
        Turn Int64,
        Seq Int64,
        Dialect LowCardinality(String),
        Agent LowCardinality(Nullable(String)),
        Text Nullable(String),
        Name LowCardinality(Nullable(String)),
        CallId Nullable(String),
        Args Nullable(String),
        ArgsUnknown Nullable(String),
        ArgsRaw Nullable(String),
        Emitted Nullable(UInt8),
        Executed Nullable(UInt8),
        Server LowCardinality(Nullable(String)),
        StartNs Nullable(UInt64),
        SpanId Nullable(String),
        CallSeq Nullable(Int64),
        Ok Nullable(UInt8),
        Value Nullable(String),
        ValueUnknown Nullable(String),
        ErrorType LowCardinality(Nullable(String)),
        Infra Nullable(UInt8),
        DurationNs Nullable(Int64)
    ) CODEC(ZSTD(1)),
    INDEX idx_start Start TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY RunId
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Offered tools, once per distinct list: definitions are large and repeat from run to run.
CREATE TABLE IF NOT EXISTS catalogs
(
    ToolsKey String CODEC(ZSTD(1)),
    CatalogId LowCardinality(Nullable(String)),
    Names Array(LowCardinality(String)),
    Tools String CODEC(ZSTD(1)) COMMENT 'JSON text: a list of [name, description, schema or null]',
    Version UInt64
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY ToolsKey
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE VIEW IF NOT EXISTS events AS
SELECT
    RunId, TraceId, Suite, CaseId, Events.Kind AS Kind, Events.Turn AS Turn, Events.Seq AS Seq,
    Events.Dialect AS Dialect, Events.Agent AS Agent, Events.Text AS Text, Events.Name AS Name,
    Events.CallId AS CallId, Events.Args AS Args, Events.ArgsUnknown AS ArgsUnknown, Events.ArgsRaw AS ArgsRaw,
    Events.Emitted AS Emitted, Events.Executed AS Executed, Events.Server AS Server, Events.StartNs AS StartNs,
    Events.SpanId AS SpanId, Events.CallSeq AS CallSeq, Events.Ok AS Ok, Events.Value AS Value,
    Events.ValueUnknown AS ValueUnknown, Events.ErrorType AS ErrorType, Events.Infra AS Infra,
    Events.DurationNs AS DurationNs
FROM runs FINAL
ARRAY JOIN Events;
