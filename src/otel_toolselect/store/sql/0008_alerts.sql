-- Alerts: what a monitor remembers, whom it may not disturb, what it told, and which of several monitors evaluates.

-- One row per alert and series, replaced as a whole: the state and what is still to be sent are one record, so that no
-- crash can part them.
CREATE TABLE IF NOT EXISTS alerts
(
    Alert LowCardinality(String),
    Series String COMMENT 'values of `by`, as a JSON object',
    Version UInt64,
    State LowCardinality(String) COMMENT 'inactive, pending, firing, resolved or no_data',
    Since DateTime64(9, 'UTC'),
    Through DateTime64(9, 'UTC') COMMENT 'end of the last window that was decided on',
    Says String CODEC(ZSTD(1)),
    Record String CODEC(ZSTD(3)) COMMENT 'model.alerting.AlertState as JSON'
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

-- What became of each notification at each receiver. Dead letters are those that no attempt can deliver any more.
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
    Record String CODEC(ZSTD(3)) COMMENT 'model.alerting.Notification as JSON'
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(At)
ORDER BY (Alert, AtNs, Key, Receiver)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Who does a work that only one may do: of the owners whose lease has not expired, the one that has held it longest.
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

-- Which windows late data touched is asked by when a row was written.
ALTER TABLE judgements ADD INDEX IF NOT EXISTS idx_written WrittenNs TYPE minmax GRANULARITY 1;
ALTER TABLE judgements MATERIALIZE INDEX idx_written SETTINGS mutations_sync = 2;
