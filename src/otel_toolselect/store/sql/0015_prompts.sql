-- The version of a prompt is the hash of its instructions, and many instructions tell the time or who asks: then every run
-- has its own, and a dictionary of hashes under the default codec (LZ4) takes its full length, three times.
ALTER TABLE runs MODIFY COLUMN PromptVersion LowCardinality(Nullable(String)) CODEC(ZSTD(1));
ALTER TABLE verdicts MODIFY COLUMN PromptVersion LowCardinality(Nullable(String)) CODEC(ZSTD(1));
ALTER TABLE judgements MODIFY COLUMN PromptVersion LowCardinality(String) CODEC(ZSTD(1));
