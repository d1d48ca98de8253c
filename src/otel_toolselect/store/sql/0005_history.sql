-- What the user said before the request, oldest first: where a value of an argument may come from (R31).
ALTER TABLE runs ADD COLUMN IF NOT EXISTS History Array(String) CODEC(ZSTD(1)) AFTER Request;
