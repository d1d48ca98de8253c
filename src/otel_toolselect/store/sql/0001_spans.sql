-- Spans: the columns of the OpenTelemetry Collector's ClickHouse exporter, so that its dashboards and a Collector
-- itself work on this table, then our own columns, all with defaults. Times carry the zone UTC: without it a
-- process in another zone would read and partition them differently.
--
-- StartNs and EndNs are the exact times (0 = unset); Timestamp is never 1970 for a span with an end, and Duration is
-- never negative. Shape holds the types of attribute values. ContentHash makes an identical resend the same row;
-- RowBytes lets a reader bound its memory. No TTL: it would silently delete a replay of old traces.
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
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    Events Nested
    (
        Timestamp DateTime64(9, 'UTC'),
        Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    Links Nested
    (
        TraceId String,
        SpanId String,
        TraceState String,
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    StartNs UInt64 DEFAULT toUInt64(toUnixTimestamp64Nano(Timestamp)) CODEC(Delta(8), ZSTD(1)),
    EndNs UInt64 DEFAULT StartNs + Duration CODEC(Delta(8), ZSTD(1)),
    EventNs Array(UInt64) DEFAULT arrayMap(t -> toUInt64(toUnixTimestamp64Nano(t)), Events.Timestamp) CODEC(ZSTD(1)),
    Shape LowCardinality(String) DEFAULT '' CODEC(ZSTD(1)),
    ContentHash UInt64 DEFAULT cityHash64(
        StartNs, EndNs, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ScopeName, ScopeVersion,
        StatusCode, StatusMessage, Shape, mapSort(ResourceAttributes), mapSort(SpanAttributes),
        EventNs, Events.Name, arrayMap(m -> mapSort(m), Events.Attributes),
        Links.TraceId, Links.SpanId, Links.TraceState, arrayMap(m -> mapSort(m), Links.Attributes)),
    RowBytes UInt64 DEFAULT byteSize(
        SpanAttributes, ResourceAttributes, StatusMessage, Events.Attributes, Links.Attributes) CODEC(T64, ZSTD(1)),
    INDEX idx_timestamp Timestamp TYPE minmax GRANULARITY 1,
    INDEX idx_service ServiceName TYPE set(100) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (TraceId, SpanId, ContentHash)
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;
