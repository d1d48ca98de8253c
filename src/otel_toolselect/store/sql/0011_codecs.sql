-- What it costs to keep a span or a run, a second time (after 0006).
--
-- ZSTD(3) within its own window of 2 MiB instead of level 2 within 8 MiB: so wide a window turns on the search for
-- matches at long distances, which took half the time of compressing and found nothing that the next level does not.
-- Ten parts of a size become one, not five: a row is rewritten a third less often while a table grows, at the price of
-- more parts beside each other, of which few are read: these tables are read by id or by recent times.
ALTER TABLE otel_traces
    MODIFY COLUMN SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(3))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY SETTING merge_selector_base = 10;
ALTER TABLE otel_logs
    MODIFY COLUMN LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(3))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY SETTING merge_selector_base = 10;
ALTER TABLE runs
    MODIFY COLUMN EventList String DEFAULT '' CODEC(ZSTD(3))
        SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608),
    MODIFY SETTING merge_selector_base = 10;
