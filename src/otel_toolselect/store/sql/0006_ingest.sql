-- Ingest: what a span costs in time and on disk, when a row came, and runs whose events are one text. One statement per
-- table, as each costs a tenth of a second of a new store.
--
-- ReceivedAt is when the server took the row in: what `Store.arrivals` reads by and what caps a retention, as senders
-- may date a span as they please. It is that of the migration for rows that were there before.
--
-- The attributes are nine tenths of the bytes, and large values (offered tools, the conversation so far) repeat from
-- span to span: blocks of 8 MiB and a window as long find them again. Fresh parts are compact (one file, one fsync,
-- half the time of an insert), merged ones wide. Merges go column by column and in small blocks, which bounds their
-- memory, and are synced, as their sources are deleted.
--
-- Maps come with their keys sorted now, so that the hash need not sort them: the hash of a row that was there before is
-- the hash of the same span sent again.
ALTER TABLE otel_traces
    ADD COLUMN IF NOT EXISTS ReceivedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ADD INDEX IF NOT EXISTS idx_received ReceivedAt TYPE minmax GRANULARITY 1,
    MODIFY COLUMN SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(2, 23))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY COLUMN ContentHash UInt64 DEFAULT cityHash64(
        StartNs, EndNs, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ScopeName, ScopeVersion,
        StatusCode, StatusMessage, Shape, ResourceAttributes, SpanAttributes,
        EventNs, Events.Name, Events.Attributes, Links.TraceId, Links.SpanId, Links.TraceState, Links.Attributes),
    MODIFY SETTING min_bytes_for_wide_part = 33554432, vertical_merge_algorithm_min_rows_to_activate = 1,
        merge_max_block_size = 1024, min_compressed_bytes_to_fsync_after_merge = 1;
ALTER TABLE otel_logs
    ADD COLUMN IF NOT EXISTS ReceivedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ADD INDEX IF NOT EXISTS idx_received ReceivedAt TYPE minmax GRANULARITY 1,
    MODIFY COLUMN LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(2, 23))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY COLUMN ContentHash UInt64 DEFAULT cityHash64(
        TimeNs, ObservedNs, TraceId, SpanId, EventName, SeverityText, SeverityNumber, Body, ScopeName, ScopeVersion,
        Shape, ResourceAttributes, LogAttributes),
    MODIFY SETTING min_bytes_for_wide_part = 33554432, vertical_merge_algorithm_min_rows_to_activate = 1,
        merge_max_block_size = 1024, min_compressed_bytes_to_fsync_after_merge = 1;
ALTER TABLE otel_traces MATERIALIZE COLUMN ReceivedAt SETTINGS mutations_sync = 2;
ALTER TABLE otel_logs MATERIALIZE COLUMN ReceivedAt SETTINGS mutations_sync = 2;

-- The events of a run become one JSON text, see event_rows.py. The columns are added first for the case that this file
-- was cut off and is applied again. The view of the columns goes with them; 0007 makes one of the text.
ALTER TABLE runs
    ADD COLUMN IF NOT EXISTS EventList String DEFAULT '' CODEC(ZSTD(3, 23))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY COLUMN Request Nullable(String) CODEC(ZSTD(3)),
    MODIFY COLUMN FinalText Nullable(String) CODEC(ZSTD(3)),
    ADD COLUMN IF NOT EXISTS `Events.Kind` Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS `Events.Turn` Array(Int64), ADD COLUMN IF NOT EXISTS `Events.Seq` Array(Int64),
    ADD COLUMN IF NOT EXISTS `Events.Dialect` Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS `Events.Agent` Array(LowCardinality(Nullable(String))),
    ADD COLUMN IF NOT EXISTS `Events.Text` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.Name` Array(LowCardinality(Nullable(String))),
    ADD COLUMN IF NOT EXISTS `Events.CallId` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.Args` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.ArgsUnknown` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.ArgsRaw` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.Emitted` Array(Nullable(UInt8)),
    ADD COLUMN IF NOT EXISTS `Events.Executed` Array(Nullable(UInt8)),
    ADD COLUMN IF NOT EXISTS `Events.Server` Array(LowCardinality(Nullable(String))),
    ADD COLUMN IF NOT EXISTS `Events.StartNs` Array(Nullable(UInt64)),
    ADD COLUMN IF NOT EXISTS `Events.SpanId` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.CallSeq` Array(Nullable(Int64)),
    ADD COLUMN IF NOT EXISTS `Events.Ok` Array(Nullable(UInt8)),
    ADD COLUMN IF NOT EXISTS `Events.Value` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.ValueUnknown` Array(Nullable(String)),
    ADD COLUMN IF NOT EXISTS `Events.ErrorType` Array(LowCardinality(Nullable(String))),
    ADD COLUMN IF NOT EXISTS `Events.Infra` Array(Nullable(UInt8)),
    ADD COLUMN IF NOT EXISTS `Events.DurationNs` Array(Nullable(Int64)),
    MODIFY SETTING min_bytes_for_wide_part = 6291456, min_compressed_bytes_to_fsync_after_merge = 1;
ALTER TABLE runs UPDATE EventList = toJSONString(arrayZip(
        Events.Kind, Events.Turn, Events.Seq, Events.Dialect, Events.Agent, Events.Text, Events.Name, Events.CallId,
        Events.Args, Events.ArgsUnknown, Events.ArgsRaw, Events.Emitted, Events.Executed, Events.Server,
        Events.StartNs, Events.SpanId, Events.CallSeq, Events.Ok, Events.Value, Events.ValueUnknown, Events.ErrorType,
        Events.Infra, Events.DurationNs))
    WHERE EventList = '' SETTINGS mutations_sync = 2;
ALTER TABLE runs
    DROP COLUMN IF EXISTS `Events.Kind`, DROP COLUMN IF EXISTS `Events.Turn`, DROP COLUMN IF EXISTS `Events.Seq`,
    DROP COLUMN IF EXISTS `Events.Dialect`, DROP COLUMN IF EXISTS `Events.Agent`, DROP COLUMN IF EXISTS `Events.Text`,
    DROP COLUMN IF EXISTS `Events.Name`, DROP COLUMN IF EXISTS `Events.CallId`, DROP COLUMN IF EXISTS `Events.Args`,
    DROP COLUMN IF EXISTS `Events.ArgsUnknown`, DROP COLUMN IF EXISTS `Events.ArgsRaw`,
    DROP COLUMN IF EXISTS `Events.Emitted`, DROP COLUMN IF EXISTS `Events.Executed`,
    DROP COLUMN IF EXISTS `Events.Server`, DROP COLUMN IF EXISTS `Events.StartNs`,
    DROP COLUMN IF EXISTS `Events.SpanId`, DROP COLUMN IF EXISTS `Events.CallSeq`, DROP COLUMN IF EXISTS `Events.Ok`,
    DROP COLUMN IF EXISTS `Events.Value`, DROP COLUMN IF EXISTS `Events.ValueUnknown`,
    DROP COLUMN IF EXISTS `Events.ErrorType`, DROP COLUMN IF EXISTS `Events.Infra`,
    DROP COLUMN IF EXISTS `Events.DurationNs`
    SETTINGS mutations_sync = 2;
DROP VIEW IF EXISTS events;
