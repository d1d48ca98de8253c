"""What was seen is never denied while it is remembered, and little is that was not."""

from __future__ import annotations

from otel_toolselect.judge.seen import SeenBefore


def test_what_was_added_is_there_and_little_else_is() -> None:
    seen = SeenBefore()
    for number in range(20_000):
        seen.add(f"{number:032x}")
    assert all(f"{number:032x}" in seen for number in range(20_000))
    assert sum(f"{number:032x}" in seen for number in range(20_000, 40_000)) < 20


def test_a_generation_is_remembered_after_the_next_has_begun_and_not_longer() -> None:
    seen = SeenBefore(full=100)
    for number in range(150):
        seen.add(str(number))
    assert all(str(number) in seen for number in range(150))
    for number in range(150, 350):
        seen.add(str(number))
    assert sum(str(number) in seen for number in range(100)) < 5
    assert all(str(number) in seen for number in range(200, 350))
