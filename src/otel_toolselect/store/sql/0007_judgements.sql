-- Judgements: one flat row per run and expectation (a suite, or one rule of a rule file), what windows, signals and
-- metrics are counted from; see model/decisions.py. Ordered by suite and hour, so that a window reads its hours and no
-- more. A row is replaced by key and version; one whose run moved to another hour, or is no run any more, gets a row
-- with Gone = 1 under its old key. `decisions` stays the public face: one row per confusion cell, each run once.
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
    PromptVersion LowCardinality(String),
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
    CostUsd Nullable(Float64) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Hour)
ORDER BY (Suite, Hour, RunId, Rule)
SETTINGS index_granularity = 4096, fsync_after_insert = 1, fsync_part_directory = 1;

-- What was judged before this table was there: the cells and layers that a verdict holds, without the facts of its run.
INSERT INTO judgements
    (Suite, Hour, RunId, Rule, Version, WrittenNs, Start, StartNs, TraceId, CaseId, Status, FirstAction, ObservedClass, Expected,
     Observed, Selection, Arguments, Sequencing, Abstention, Clarification, Execution, Outcome, Efficiency, Excluded,
     Failure, Owner, Risk, Origin, Model, PromptVersion, CatalogId, Label, PolicyVersion, Scored,
     ScoredRight)
SELECT
    Suite, toStartOfHour(toDateTime(Start, 'UTC')), RunId, '', Version, Version, Start, StartNs, TraceId, CaseId,
    multiIf(
        Excluded IS NOT NULL, 'excluded', has(Layers.Status, 'fail'), 'fail',
        has(Layers.Status, 'needs_review'), 'needs_review', has(Layers.Status, 'pass'), 'pass', 'n/a'),
    FirstAction, ObservedClass, Cells.Expected, Cells.Observed,
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'selection')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'arguments')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'sequencing')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'abstention')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'clarification')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'execution')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'outcome')], 'n/a', ''),
    replaceOne(Layers.Status[indexOf(Layers.Layer, 'efficiency')], 'n/a', ''),
    ifNull(Excluded, ''), ifNull(Failure, ''), ifNull(Owner, ''), ifNull(Risk, ''), 'suite', ifNull(Model, ''),
    ifNull(PromptVersion, ''), ifNull(CatalogId, ''), ifNull(Label, ''), ifNull(PolicyVersion, ''),
    CallScores.Name, CallScores.Passed
FROM verdicts FINAL;

CREATE OR REPLACE VIEW decisions AS
SELECT
    Suite, Rule, RunId, Position, TraceId, CaseId, Label, ServiceName, Agent, Provider, Model, PromptVersion, CatalogId,
    Tenant, Origin, Excluded, Start, StartNs, CellExpected AS Expected, CellObserved AS Observed
FROM judgements FINAL
ARRAY JOIN Expected AS CellExpected, Observed AS CellObserved, arrayEnumerate(Expected) AS Position
WHERE Gone = 0;

-- A run that late spans have changed into another one, or that was judged under another key, is marked, not deleted.
ALTER TABLE runs ADD COLUMN IF NOT EXISTS Gone UInt8 DEFAULT 0 CODEC(ZSTD(1));
ALTER TABLE runs ADD COLUMN IF NOT EXISTS Tenant LowCardinality(String) DEFAULT '';
ALTER TABLE runs ADD INDEX IF NOT EXISTS idx_traces TraceIds TYPE bloom_filter(0.001) GRANULARITY 1;
ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS Gone UInt8 DEFAULT 0 CODEC(ZSTD(1));
CREATE OR REPLACE VIEW events AS
SELECT
    RunId, TraceId, Suite, CaseId, Event.Kind AS Kind, Event.Turn AS Turn, Event.Seq AS Seq, Event.Dialect AS Dialect,
    Event.Agent AS Agent, if(Event.Kind = 'assistant', ifNull(Event.Text, FinalText), NULL) AS Text,
    Event.Name AS Name, Event.CallId AS CallId, Event.Args AS Args, Event.ArgsUnknown AS ArgsUnknown,
    Event.ArgsRaw AS ArgsRaw, Event.Emitted AS Emitted, Event.Executed AS Executed, Event.Server AS Server,
    Event.StartNs AS StartNs, Event.SpanId AS SpanId, Event.CallSeq AS CallSeq, Event.Ok AS Ok, Event.Value AS Value,
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

-- Where a reader of arrivals has come to: the live judge, a monitor of a table that somebody else fills.
CREATE TABLE IF NOT EXISTS bookmarks
(
    Name String,
    Place String COMMENT 'JSON text, for its reader alone',
    Version UInt64
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY Name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
