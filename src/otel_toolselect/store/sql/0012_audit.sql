-- Who did what: labels, silences, sign-ins. Rows are only ever added; of one that was sent twice one is left.
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
