-- Labels: what people and judges say was expected of a run (model/labels.py). Rows are only ever added: the newest one of
-- a labeller on a run is the label, the others are its history. The version is part of the key, so that merging parts
-- takes away nothing but an insert that was sent twice.
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

-- What a trace itself says was expected of it (`toolselect.expected`).
ALTER TABLE runs ADD COLUMN IF NOT EXISTS Expected Array(String) CODEC(ZSTD(1));

-- 0: a decision on a label, where another source has precedence for the same run.
ALTER TABLE judgements ADD COLUMN IF NOT EXISTS Counts UInt8 DEFAULT 1 CODEC(ZSTD(1));
