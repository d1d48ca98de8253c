-- Verdicts: one row per suite and run, replaced as a whole; `decisions` is a view with one row per confusion cell, so
-- that no aggregate can count a run twice. Evidence is JSON text.
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
    PromptVersion LowCardinality(Nullable(String)),
    CatalogId LowCardinality(Nullable(String)),
    Start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    StartNs UInt64 CODEC(Delta(8), ZSTD(1)),
    Layers Nested
    (
        Layer LowCardinality(String),
        Status LowCardinality(String),
        Explanation String,
        Evidence String
    ) CODEC(ZSTD(1)),
    Cells Nested
    (
        Expected LowCardinality(String),
        Observed LowCardinality(String)
    ) CODEC(ZSTD(1)),
    CallScores Nested
    (
        Seq Int64,
        Name LowCardinality(String),
        Passed UInt8
    ) CODEC(ZSTD(1)),
    Findings Nested
    (
        Check LowCardinality(String),
        Layer LowCardinality(String),
        Status LowCardinality(String),
        Explanation String,
        Evidence String
    ) CODEC(ZSTD(1)),
    INDEX idx_start Start TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
ORDER BY (Suite, RunId)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE VIEW IF NOT EXISTS decisions AS
SELECT
    Suite, RunId, Cell AS Position, TraceId, CaseId, Attempt, Label, Model, PromptVersion, CatalogId, Excluded,
    Start, StartNs, Cells.Expected AS Expected, Cells.Observed AS Observed
FROM verdicts FINAL
ARRAY JOIN Cells, arrayEnumerate(Cells.Expected) AS Cell;
