-- Crews: workers that share the judging of what arrives. Each reports where it stands, by the clock of this server, and
-- what the traces that it reads offer to others and want of them, so that tied traces of two shares find each other.
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
