from __future__ import annotations

import pytest

from otel_toolselect.app.times import moment
from otel_toolselect.errors import UsageError

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 1_700_000_000 - 90),
        ("24h", 1_700_000_000 - 86400),
        ("7d", 1_700_000_000 - 7 * 86400),
        ("2023-11-14T22:13:20Z", 1_700_000_000),
        ("2023-11-14T23:13:20+01:00", 1_700_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000),
        ("2023-11-14", 1_699_920_000),
        ("1969-12-31T23:59:59.5Z", -0.5),
    ],
)
def test_moment(text: str, seconds: float) -> None:
    assert moment(text, now_ns=NOW) == seconds * SECOND


def test_none_stays_none_and_nonsense_is_refused() -> None:
    assert moment(None) is None
    with pytest.raises(UsageError, match="24h"):
        moment("yesterday")
