CREATE TABLE otel_logs (
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)), TimestampTime DateTime DEFAULT toDateTime(Timestamp),
    TraceId String, SpanId String, TraceFlags UInt8, SeverityText LowCardinality(String), SeverityNumber UInt8,
    ServiceName LowCardinality(String), Body String, ResourceSchemaUrl LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String), ScopeSchemaUrl LowCardinality(String),
    ScopeName String, ScopeVersion LowCardinality(String), ScopeAttributes Map(LowCardinality(String), String),
    LogAttributes Map(LowCardinality(String), String)
) ENGINE = MergeTree()
PARTITION BY toDate(TimestampTime)
PRIMARY KEY (ServiceName, TimestampTime)
ORDER BY (ServiceName, TimestampTime, Timestamp)
