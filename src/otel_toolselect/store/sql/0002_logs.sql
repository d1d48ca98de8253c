-- Log records, in the same way as spans: the exporter's columns, then our own. Timestamp is the observed time where
-- the record has no time, as in the exporter.
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
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    EventName String CODEC(ZSTD(1)),
    TimeNs UInt64 DEFAULT toUInt64(toUnixTimestamp64Nano(Timestamp)) CODEC(Delta(8), ZSTD(1)),
    ObservedNs UInt64 DEFAULT 0 CODEC(Delta(8), ZSTD(1)),
    Shape LowCardinality(String) DEFAULT '' CODEC(ZSTD(1)),
    ContentHash UInt64 DEFAULT cityHash64(
        TimeNs, ObservedNs, TraceId, SpanId, EventName, SeverityText, SeverityNumber, Body, ScopeName, ScopeVersion,
        Shape, mapSort(ResourceAttributes), mapSort(LogAttributes)),
    RowBytes UInt64 DEFAULT byteSize(Body, LogAttributes, ResourceAttributes) CODEC(T64, ZSTD(1)),
    INDEX idx_timestamp Timestamp TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (TraceId, SpanId, TimeNs, ContentHash)
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;
