CREATE TABLE IF NOT EXISTS toolselect_migrations
(
    Number UInt32,
    Name String,
    Checksum String,
    AppliedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
)
ENGINE = ReplacingMergeTree(AppliedAt)
ORDER BY Number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS otel_traces
(
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    `Events.Timestamp` Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    `Events.Name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    `Links.TraceId` Array(String) CODEC(ZSTD(1)),
    `Links.SpanId` Array(String) CODEC(ZSTD(1)),
    `Links.TraceState` Array(String) CODEC(ZSTD(1)),
    `Links.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    StartNs UInt64 DEFAULT toUInt64(toUnixTimestamp64Nano(Timestamp)) CODEC(Delta(8), ZSTD(1)),
    EndNs UInt64 DEFAULT StartNs + Duration CODEC(Delta(8), ZSTD(1)),
    EventNs Array(UInt64) DEFAULT arrayMap(t -> toUInt64(toUnixTimestamp64Nano(t)), Events.Timestamp) CODEC(ZSTD(1)),
    Shape LowCardinality(String) DEFAULT '' CODEC(ZSTD(1)),
    ContentHash UInt64 DEFAULT cityHash64( StartNs, EndNs, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ScopeName, ScopeVersion, StatusCode, StatusMessage, Shape, ResourceAttributes, SpanAttributes, EventNs, Events.Name, Events.Attributes, Links.TraceId, Links.SpanId, Links.TraceState, Links.Attributes),
    RowBytes UInt64 DEFAULT byteSize( SpanAttributes, ResourceAttributes, StatusMessage, Events.Attributes, Links.Attributes) CODEC(T64, ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    INDEX idx_timestamp Timestamp TYPE minmax GRANULARITY 1,
    INDEX idx_service ServiceName TYPE set(100) GRANULARITY 1,
    INDEX idx_received ReceivedAt TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (TraceId, SpanId, ContentHash)
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 33554432, vertical_merge_algorithm_min_rows_to_activate = 1, merge_max_block_size = 1024, min_compressed_bytes_to_fsync_after_merge = 1, merge_selector_base = 10;

CREATE TABLE IF NOT EXISTS otel_logs
(
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TimestampTime DateTime('UTC') DEFAULT toDateTime(Timestamp, 'UTC'),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    TraceFlags UInt8,
    SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    SeverityNumber UInt8,
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Body String CODEC(ZSTD(1)),
    ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    EventName String CODEC(ZSTD(1)),
    TimeNs UInt64 DEFAULT toUInt64(toUnixTimestamp64Nano(Timestamp)) CODEC(Delta(8), ZSTD(1)),
    ObservedNs UInt64 DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    Shape LowCardinality(String) DEFAULT '' CODEC(ZSTD(1)),
    ContentHash UInt64 DEFAULT cityHash64( TimeNs, ObservedNs, TraceId, SpanId, EventName, SeverityText, SeverityNumber, Body, ScopeName, ScopeVersion, Shape, ResourceAttributes, LogAttributes),
    RowBytes UInt64 DEFAULT byteSize(Body, LogAttributes, ResourceAttributes) CODEC(T64, ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    INDEX idx_timestamp Timestamp TYPE minmax GRANULARITY 1,
    INDEX idx_received ReceivedAt TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (TraceId, SpanId, TimeNs, ContentHash)
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 33554432, vertical_merge_algorithm_min_rows_to_activate = 1, merge_max_block_size = 1024, min_compressed_bytes_to_fsync_after_merge = 1, merge_selector_base = 10;

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
    PromptVersion LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    CatalogId LowCardinality(Nullable(String)),
    ToolsKey LowCardinality(Nullable(String)) COMMENT 'key in catalogs; null: no catalog in the trace',
    ConversationId Nullable(String) CODEC(ZSTD(1)),
    Request Nullable(String) CODEC(ZSTD(3)),
    History Array(String) CODEC(ZSTD(1)),
    FinalText Nullable(String) CODEC(ZSTD(3)),
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
    EventList String DEFAULT '' COMMENT 'JSON text; the view events takes it apart' CODEC(ZSTD(1)) SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    Gone UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    Tenant LowCardinality(String) DEFAULT '',
    Expected Array(String) CODEC(ZSTD(1)),
    EventTexts Array(String) CODEC(ZSTD(2)) SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    INDEX idx_start Start TYPE minmax GRANULARITY 1,
    INDEX idx_traces TraceIds TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY RunId
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 33554432, min_compressed_bytes_to_fsync_after_merge = 1, merge_selector_base = 10;

CREATE TABLE IF NOT EXISTS catalogs
(
    ToolsKey String CODEC(ZSTD(1)),
    CatalogId LowCardinality(Nullable(String)),
    Names Array(LowCardinality(String)),
    Tools String COMMENT 'JSON text: a list of [name, description, schema or null]' CODEC(ZSTD(1)),
    Version UInt64
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY ToolsKey
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS verdicts
(
    Suite String CODEC(ZSTD(1)),
    RunId String CODEC(ZSTD(1)),
    Version UInt64 CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    CaseId String CODEC(ZSTD(1)),
    FirstAction LowCardinality(String),
    ObservedClass LowCardinality(String),
    ParentRunId Nullable(String) CODEC(ZSTD(1)),
    Attempt Nullable(Int64),
    Label LowCardinality(Nullable(String)),
    Request Nullable(String) CODEC(ZSTD(1)),
    Risk LowCardinality(Nullable(String)),
    Tags Map(LowCardinality(String), String),
    Excluded LowCardinality(Nullable(String)),
    Failure LowCardinality(Nullable(String)),
    Owner LowCardinality(Nullable(String)),
    PolicyVersion LowCardinality(Nullable(String)),
    Model LowCardinality(Nullable(String)),
    PromptVersion LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    CatalogId LowCardinality(Nullable(String)),
    Start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    StartNs UInt64 CODEC(Delta(8), ZSTD(1)),
    `Layers.Layer` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Layers.Status` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Layers.Explanation` Array(String) CODEC(ZSTD(1)),
    `Layers.Evidence` Array(String) CODEC(ZSTD(1)),
    `Cells.Expected` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Cells.Observed` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `CallScores.Seq` Array(Int64) CODEC(ZSTD(1)),
    `CallScores.Name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `CallScores.Passed` Array(UInt8) CODEC(ZSTD(1)),
    `Findings.Check` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Findings.Layer` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Findings.Status` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Findings.Explanation` Array(String) CODEC(ZSTD(1)),
    `Findings.Evidence` Array(String) CODEC(ZSTD(1)),
    Gone UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    INDEX idx_start Start TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY (Suite, RunId)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS judgements
(
    Suite LowCardinality(String),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    RunId String CODEC(ZSTD(1)),
    Rule LowCardinality(String),
    Version UInt64 COMMENT 'as of when the run was read' CODEC(Delta(8), ZSTD(1)),
    WrittenNs UInt64 DEFAULT toUInt64(toUnixTimestamp64Nano(now64(9, 'UTC'))) CODEC(Delta(8), ZSTD(1)),
    Gone UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    Start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    StartNs UInt64 CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    CaseId LowCardinality(String),
    Status LowCardinality(String),
    FirstAction LowCardinality(String),
    ObservedClass LowCardinality(String),
    Expected Array(LowCardinality(String)),
    Observed Array(LowCardinality(String)),
    Selection LowCardinality(String),
    Arguments LowCardinality(String),
    Sequencing LowCardinality(String),
    Abstention LowCardinality(String),
    Clarification LowCardinality(String),
    Execution LowCardinality(String),
    Outcome LowCardinality(String),
    Efficiency LowCardinality(String),
    Excluded LowCardinality(String),
    Failure LowCardinality(String),
    Owner LowCardinality(String),
    Severity LowCardinality(String),
    Risk LowCardinality(String),
    Origin LowCardinality(String),
    ServiceName LowCardinality(String),
    Agent LowCardinality(String),
    Provider LowCardinality(String),
    Model LowCardinality(String),
    PromptVersion LowCardinality(String) CODEC(ZSTD(1)),
    CatalogId LowCardinality(String),
    Tenant LowCardinality(String),
    Label LowCardinality(String),
    PolicyVersion LowCardinality(String),
    Calls Array(LowCardinality(String)),
    CallsRedundant Array(UInt8),
    Scored Array(LowCardinality(String)),
    ScoredRight Array(UInt8),
    Ghosts Array(LowCardinality(String)),
    Forbidden Array(LowCardinality(String)),
    Unauthorized Array(LowCardinality(String)),
    FailedCalls UInt32 CODEC(T64, ZSTD(1)),
    Loops UInt32 CODEC(T64, ZSTD(1)),
    DurationNs Nullable(Int64) CODEC(ZSTD(1)),
    InputTokens Nullable(Int64) CODEC(ZSTD(1)),
    OutputTokens Nullable(Int64) CODEC(ZSTD(1)),
    CostUsd Nullable(Float64) CODEC(ZSTD(1)),
    Counts UInt8 DEFAULT 1 CODEC(ZSTD(1)),
    INDEX idx_written WrittenNs TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Hour)
ORDER BY (Suite, Hour, RunId, Rule)
SETTINGS index_granularity = 4096, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS bookmarks
(
    Name String,
    Place String COMMENT 'JSON text, for its reader alone',
    Version UInt64
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY Name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS alerts
(
    Alert LowCardinality(String),
    Series String COMMENT 'values of `by`, as a JSON object',
    Version UInt64,
    State LowCardinality(String) COMMENT 'inactive, pending, firing, resolved or no_data',
    Since DateTime64(9, 'UTC'),
    Through DateTime64(9, 'UTC') COMMENT 'end of the last window that was decided on',
    Says String CODEC(ZSTD(1)),
    Record String COMMENT 'model.alerting.AlertState as JSON' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY (Alert, Series)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS silences
(
    Id String,
    Version UInt64,
    FromNs UInt64,
    UntilNs UInt64,
    Author String,
    Comment String,
    Matchers String COMMENT 'JSON list of {name, equals, pattern}'
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY Id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS notifications
(
    Alert LowCardinality(String),
    AtNs UInt64 CODEC(Delta(8), ZSTD(1)),
    Key String,
    Receiver LowCardinality(String),
    Version UInt64,
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Kind LowCardinality(String),
    Outcome LowCardinality(String) COMMENT 'delivered, dead, silenced or unrouted',
    SettledNs UInt64,
    Attempts UInt32,
    Error String CODEC(ZSTD(1)),
    Says String CODEC(ZSTD(1)),
    Record String COMMENT 'model.alerting.Notification as JSON' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(At)
ORDER BY (Alert, AtNs, Key, Receiver)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS leases
(
    Name LowCardinality(String),
    Owner String,
    Since DateTime64(9, 'UTC'),
    Expires DateTime64(9, 'UTC'),
    At DateTime64(9, 'UTC')
)
ENGINE = ReplacingMergeTree(At)
ORDER BY (Name, Owner)
TTL toDateTime(Expires) + INTERVAL 1 DAY;

CREATE TABLE IF NOT EXISTS labels
(
    RunId String CODEC(ZSTD(1)),
    Source LowCardinality(String) COMMENT 'person or judge',
    Labeller LowCardinality(String),
    Version UInt64,
    AtNs UInt64,
    At DateTime64(9, 'UTC'),
    Gone UInt8 DEFAULT 0 COMMENT 'the labeller took it back',
    TraceId String CODEC(ZSTD(1)),
    StartNs UInt64 COMMENT 'of the run',
    Expected Array(String) COMMENT 'allowed first actions; empty: FirstAction is wrong',
    FirstAction LowCardinality(String) COMMENT 'what the labeller saw',
    Note String CODEC(ZSTD(1)),
    Agent LowCardinality(String),
    Model LowCardinality(String),
    PromptVersion LowCardinality(String),
    CatalogId LowCardinality(String),
    Stratum LowCardinality(String),
    Chance Nullable(Float64) COMMENT 'with which the sample of its day held the run; null: chosen by hand',
    Record String COMMENT 'JSON: questions and answers of a judge' CODEC(ZSTD(3)),
    INDEX idx_start StartNs TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (RunId, Source, Labeller, Version)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS workers
(
    Crew LowCardinality(String),
    Worker String,
    At DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC'),
    JoinedNs UInt64 COMMENT 'when it began to report without a gap, by this clock',
    Gone UInt8 DEFAULT 0,
    View String COMMENT 'the workers among which it shares, as it sees them',
    Place String COMMENT 'everything of its share before is judged: a cursor of arrivals'
)
ENGINE = ReplacingMergeTree(At)
ORDER BY (Crew, Worker)
TTL toDateTime(At) + INTERVAL 1 DAY;

CREATE TABLE IF NOT EXISTS bonds
(
    Crew LowCardinality(String),
    Worker LowCardinality(String),
    Number UInt64 COMMENT 'grows from one insert of a worker to the next' CODEC(Delta(8), ZSTD(1)),
    At DateTime('UTC') DEFAULT now('UTC') CODEC(Delta(4), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    Offers Array(UInt64) CODEC(ZSTD(1)),
    Wants Array(UInt64) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(At)
ORDER BY (Crew, Worker, Number)
TTL At + INTERVAL 2 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS audit
(
    AtNs UInt64 CODEC(Delta(8), ZSTD(1)),
    Id String,
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Actor String COMMENT 'name of a token, of a person, or the labeller on the command line',
    Via LowCardinality(String) COMMENT 'open, bearer, session, oidc, certificate or command',
    Address String COMMENT 'of the client; empty: on this machine',
    Action LowCardinality(String),
    Subject String COMMENT 'the run, the silence, ... that it was done to',
    Tenant LowCardinality(String) COMMENT 'the only one that the actor may see; empty: all',
    Detail String COMMENT 'a JSON object' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(At)
ORDER BY (AtNs, Id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS run_texts
(
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    RunId String CODEC(ZSTD(1)),
    Version UInt64 CODEC(Delta(8), ZSTD(1)),
    Text String COMMENT 'beginning of the request, a new line, beginning of the final text' CODEC(ZSTD(1)),
    INDEX idx_text Text TYPE ngrambf_v1(4, 65536, 2, 0) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Hour)
ORDER BY (Hour, RunId)
SETTINGS index_granularity = 1024, merge_selector_base = 10;

CREATE OR REPLACE VIEW decisions AS
SELECT
    Suite, Rule, RunId, Position, TraceId, CaseId, Label, ServiceName, Agent, Provider, Model, PromptVersion, CatalogId,
    Tenant, Origin, Excluded, Start, StartNs, CellExpected AS Expected, CellObserved AS Observed
FROM judgements FINAL
ARRAY JOIN Expected AS CellExpected, Observed AS CellObserved, arrayEnumerate(Expected) AS Position
WHERE Gone = 0;

CREATE OR REPLACE VIEW events AS
SELECT
    RunId, TraceId, Suite, CaseId, Event.Kind AS Kind, Event.Turn AS Turn, Event.Seq AS Seq, Event.Dialect AS Dialect,
    Event.Agent AS Agent,
    if(Event.Kind = 'assistant',
        ifNull(if(empty(EventTexts) OR isNull(Event.Text), Event.Text, EventTexts[toUInt32OrZero(ifNull(Event.Text, ''))]), FinalText), NULL) AS Text,
    Event.Name AS Name, Event.CallId AS CallId,
    if(empty(EventTexts) OR isNull(Event.Args), Event.Args, EventTexts[toUInt32OrZero(ifNull(Event.Args, ''))]) AS Args,
    Event.ArgsUnknown AS ArgsUnknown, Event.ArgsRaw AS ArgsRaw, Event.Emitted AS Emitted, Event.Executed AS Executed,
    Event.Server AS Server, Event.StartNs AS StartNs, Event.SpanId AS SpanId, Event.CallSeq AS CallSeq, Event.Ok AS Ok,
    if(empty(EventTexts) OR isNull(Event.Value), Event.Value, EventTexts[toUInt32OrZero(ifNull(Event.Value, ''))]) AS Value,
    Event.ValueUnknown AS ValueUnknown, Event.ErrorType AS ErrorType, Event.Infra AS Infra,
    Event.DurationNs AS DurationNs
FROM runs FINAL
ARRAY JOIN JSONExtract(EventList, 'Array(Tuple(
        Kind String, Turn Int64, Seq Int64, Dialect String, Agent Nullable(String), Text Nullable(String),
        Name Nullable(String), CallId Nullable(String), Args Nullable(String), ArgsUnknown Nullable(String),
        ArgsRaw Nullable(String), Emitted Nullable(UInt8), Executed Nullable(UInt8), Server Nullable(String),
        StartNs Nullable(UInt64), SpanId Nullable(String), CallSeq Nullable(Int64), Ok Nullable(UInt8),
        Value Nullable(String), ValueUnknown Nullable(String), ErrorType Nullable(String), Infra Nullable(UInt8),
        DurationNs Nullable(Int64)))') AS Event
WHERE Gone = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS run_texts_of_runs TO run_texts AS
SELECT
    toDateTime(least(intDiv(StartNs, 3600000000000) * 3600, 4294792800), 'UTC') AS Hour, RunId, Version,
    lowerUTF8(concat(
        substringUTF8(ifNull(Request, ''), 1, 4000), '\n', substringUTF8(ifNull(FinalText, ''), 1, 4000))) AS Text
FROM runs
WHERE Gone = 0;
