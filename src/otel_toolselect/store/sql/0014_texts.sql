-- What is long in the events of a run stands apart from what is around it (see event_rows.py): that compresses to less in
-- two thirds of the time. Runs that are there already keep the form that they have. Fresh parts are compact up to 32 MiB,
-- as those of spans: a wide one has 70 files to make and to sync.
--
-- Texts to search in are merged as spans are, ten parts of a size at a time: their index is made anew at each merge.
ALTER TABLE runs
    ADD COLUMN IF NOT EXISTS EventTexts Array(String) CODEC(ZSTD(2))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY COLUMN EventList String DEFAULT '' COMMENT 'JSON text; the view events takes it apart' CODEC(ZSTD(1))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY SETTING min_bytes_for_wide_part = 33554432;
ALTER TABLE run_texts MODIFY SETTING merge_selector_base = 10;

CREATE OR REPLACE VIEW events AS
SELECT
    RunId, TraceId, Suite, CaseId, Event.Kind AS Kind, Event.Turn AS Turn, Event.Seq AS Seq, Event.Dialect AS Dialect,
    Event.Agent AS Agent,
    if(Event.Kind = 'assistant',
        ifNull(if(empty(EventTexts) OR isNull(Event.Text), Event.Text, EventTexts[toUInt32OrZero(ifNull(Event.Text, ''))]), FinalText), NULL) AS Text,
    Event.Name AS Name, Event.CallId AS CallId,
    if(empty(EventTexts) OR isNull(Event.Args), Event.Args, EventTexts[toUInt32OrZero(ifNull(Event.Args, ''))]) AS Args,
    Event.ArgsUnknown AS ArgsUnknown, Event.ArgsRaw AS ArgsRaw, Event.Emitted AS Emitted, Event.Executed AS Executed,
    Event.Server AS Server, Event.StartNs AS StartNs, Event.SpanId AS SpanId, Event.CallSeq AS CallSeq, Event.Ok AS Ok,
    if(empty(EventTexts) OR isNull(Event.Value), Event.Value, EventTexts[toUInt32OrZero(ifNull(Event.Value, ''))]) AS Value,
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
