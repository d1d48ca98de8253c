-- What pages list and search. Lists read `judgements`, where every judged run has one row without an expectation
-- (Suite ''), in order of time; this adds what they search texts in, in the same order, so that a search within a window
-- reads that window and no more. Filled from `runs` by a view, in lower case. A run that is assembled anew in the same
-- hour replaces its text; what it leaves behind under another hour is found by nobody, as its row in `judgements` is not
-- there any more. Not synced at each insert: it can be made again from `runs`, as below.
--
-- The index knows which four letters follow each other anywhere in 1,024 runs: a search for what is rare skips the rest.
CREATE TABLE IF NOT EXISTS run_texts
(
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    RunId String CODEC(ZSTD(1)),
    Version UInt64 CODEC(Delta(8), ZSTD(1)),
    Text String COMMENT 'beginning of the request, a new line, beginning of the final text' CODEC(ZSTD(1)),
    INDEX idx_text Text TYPE ngrambf_v1(4, 65536, 2, 0) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Hour)
ORDER BY (Hour, RunId)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS run_texts_of_runs TO run_texts AS
SELECT
    toDateTime(least(intDiv(StartNs, 3600000000000) * 3600, 4294792800), 'UTC') AS Hour, RunId, Version,
    lowerUTF8(concat(
        substringUTF8(ifNull(Request, ''), 1, 4000), '\n', substringUTF8(ifNull(FinalText, ''), 1, 4000))) AS Text
FROM runs
WHERE Gone = 0;

INSERT INTO run_texts (Hour, RunId, Version, Text)
SELECT
    toDateTime(least(intDiv(StartNs, 3600000000000) * 3600, 4294792800), 'UTC'), RunId, Version,
    lowerUTF8(concat(substringUTF8(ifNull(Request, ''), 1, 4000), '\n', substringUTF8(ifNull(FinalText, ''), 1, 4000)))
FROM runs
WHERE Gone = 0
SETTINGS max_partitions_per_insert_block = 0;
