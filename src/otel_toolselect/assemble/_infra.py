"""Is a failure the platform's, not the agent's (R36)? Decided from the error's type and text, conservatively.

A suite's policy can name its own patterns; this default only tags what is unmistakable: timeouts, refused or reset
connections, HTTP 5xx and 429, rate limits.
"""

from __future__ import annotations

import re2

from otel_toolselect.model.values import whole

_TYPE = re2.compile(r"(?i)timeout|timed_?out|connection|unavailable|rate_?limit|dns|network|deadline|^(429|5\d\d)$")
_TEXT = re2.compile(
    r"(?i)\b(timed out|time-?out|timeout|connection (refused|reset|aborted|error)|service unavailable|bad gateway|"
    r"gateway timeout|rate limit(ed)?|too many requests|deadline exceeded|name resolution|network is unreachable)\b"
    r"|\b(http|status|code|error|status_code)[ :=]*(429|5\d\d)\b|\((429|5\d\d)\)"
)


def is_infra(error_type: str | None, text: str | None) -> bool:
    """True when the error is unmistakably one of the platform."""
    # half of a surrogate pair may come by a dialect of a plug-in, and RE2 reads UTF-8
    return bool((error_type and _TYPE.search(whole(error_type))) or (text and _TEXT.search(whole(text[:2000]))))
