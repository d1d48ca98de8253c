"""Windows over event time equal what a brute-force reading of the calendar gives (design section 10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_toolselect.model.alerting import UNIT_NS, Span, Window, WindowSpec
from otel_toolselect.stats.windows import Windows

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",  # half an hour of summer time
    "America/Sao_Paulo",  # clocks skipped midnight until 2018
    "Africa/Cairo",  # they do since 2023
    "Pacific/Apia",  # 2011-12-30 never was
)
MINUTE = UNIT_NS["m"]
TIMES = st.integers(ns := 1_293_840_000 * 10**9, ns + 20 * 365 * UNIT_NS["d"])  # 2011 to 2030


def at(text: str, zone: str = "UTC") -> int:
    when = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    return int(when.astimezone(UTC).timestamp()) * 10**9


def windows(size: str, slide: str | None = None, zone: str = "UTC", lateness: int = 0) -> Windows:
    def span(text: str) -> Span:
        return Span(int(text[:-1]), text[-1])  # type: ignore[arg-type]

    return Windows(WindowSpec(span(size), span(slide or size), zone, lateness))


def hours(window: Window) -> float:
    return (window.end_ns - window.start_ns) / UNIT_NS["h"]


@pytest.mark.parametrize(
    ("day", "zone", "length"),
    [
        ("2026-03-29", "Europe/Berlin", 23),
        ("2026-10-25", "Europe/Berlin", 25),
        ("2026-11-02", "Europe/Berlin", 24),
        ("2026-10-04", "Australia/Lord_Howe", 23.5),
        ("2018-11-04", "America/Sao_Paulo", 23),
    ],
)
def test_a_day_is_as_long_as_the_clocks_make_it(day: str, zone: str, length: float) -> None:
    (found,) = windows("1d", zone=zone).containing(at(f"{day}T12:00", zone))
    assert hours(found) == length


def test_a_date_that_never_was_is_no_window() -> None:
    days = list(windows("1d", zone="Pacific/Apia").closed(at("2011-12-28T12:00"), at("2012-01-02T12:00")))
    local = [datetime.fromtimestamp(w.start_ns // 10**9, ZoneInfo("Pacific/Apia")).strftime("%m-%d") for w in days]
    assert local == ["12-28", "12-29", "12-31", "01-01", "01-02"]
    assert [w.end_ns for w in days[:-1]] == [w.start_ns for w in days[1:]]


def test_weeks_begin_on_monday() -> None:
    (found,) = windows("1w", zone="Europe/Berlin").containing(at("2026-10-25T23:30", "Europe/Berlin"))
    assert found == Window(at("2026-10-19T00:00", "Europe/Berlin"), at("2026-10-26T00:00", "Europe/Berlin"))
    assert hours(found) == 7 * 24 + 1


@given(TIMES, st.sampled_from(ZONES))
def test_the_day_of_a_time_is_its_local_date(time_ns: int, zone: str) -> None:
    (found,) = windows("1d", zone=zone).containing(time_ns)
    assert found.start_ns <= time_ns < found.end_ns
    date = datetime.fromtimestamp(time_ns // 10**9, ZoneInfo(zone)).date()
    assert datetime.fromtimestamp(found.start_ns // 10**9, ZoneInfo(zone)).date() == date
    assert datetime.fromtimestamp((found.end_ns - 1) // 10**9, ZoneInfo(zone)).date() == date


@given(
    st.integers(0, 400),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(0, 5),
    st.integers(0, 300),
)
def test_fixed_windows_are_those_of_a_brute_count(time: int, size: int, slide: int, late: int, length: int) -> None:
    size = max(size, slide)
    cut = windows(f"{size}m", f"{slide}m", lateness=late * MINUTE)
    every = [(k * slide, k * slide + size) for k in range(-40, 900)]

    def minutes(found: list[Window] | tuple[Window, ...]) -> list[tuple[int, int]]:
        return [(w.start_ns // MINUTE, w.end_ns // MINUTE) for w in found]

    assert minutes(cut.containing(time * MINUTE)) == [(a, b) for a, b in every if a <= time < b]
    now = time + length
    closed = list(cut.closed(time * MINUTE, now * MINUTE))
    assert minutes(closed) == [(a, b) for a, b in every if time < b <= now - late]
    starts = [b // MINUTE for b in cut.boundaries(time * MINUTE, now * MINUTE)]
    assert starts == [a for a, _ in every if time <= a < now]


@example(1_325_160_000 * 10**9, "Pacific/Apia", ("3d", "1d"))
@given(TIMES, st.sampled_from(ZONES), st.sampled_from([("1d", "1d"), ("3d", "1d"), ("1w", "1d"), ("2w", "1w")]))
def test_calendar_windows_cover_every_time_as_often_as_they_overlap(
    time_ns: int, zone: str, shape: tuple[str, str]
) -> None:
    cut = windows(*shape, zone=zone)
    found = cut.containing(time_ns)
    # a window may begin or end on a date that was skipped, so count against the closed ones, which are found otherwise
    brute = [
        w
        for w in cut.closed(time_ns - 40 * UNIT_NS["d"], time_ns + 40 * UNIT_NS["d"])
        if w.start_ns <= time_ns < w.end_ns
    ]
    assert list(found) == brute
    assert len(found) in (cut.spec.size.days // cut.spec.slide.days, cut.spec.size.days // cut.spec.slide.days - 1)
    ends = [w.end_ns for w in cut.closed(time_ns, time_ns + 60 * UNIT_NS["d"])]
    assert ends == sorted(set(ends))


def test_around_a_skipped_date_a_window_is_known_by_its_start_and_by_its_end() -> None:
    zone = "Pacific/Apia"
    found = list(windows("3d", "1d", zone).closed(at("2011-12-28T12:00"), at("2012-01-05T12:00")))

    def date(time_ns: int) -> str:
        return datetime.fromtimestamp(time_ns // 10**9, ZoneInfo(zone)).strftime("%d")

    # the 30th never was: three dates from the 28th on are two days, which another window holds
    assert [(date(w.start_ns), date(w.end_ns - 1)) for w in found] == [
        ("26", "28"), ("27", "29"), ("29", "31"), ("31", "02"), ("01", "03"), ("02", "04"), ("03", "05"),
    ]  # fmt: skip


@given(TIMES, st.sampled_from(ZONES), st.lists(st.integers(0, 3 * 24 * 60), max_size=6))
def test_asking_in_steps_gives_every_window_once(time_ns: int, zone: str, steps: list[int]) -> None:
    cut = windows("6h", "2h", zone=zone, lateness=7 * MINUTE)
    instants = [time_ns, *(time_ns + step * MINUTE for step in sorted(steps))]
    found: list[Window] = []
    through = time_ns
    for now in instants:
        new = list(cut.closed(through, now))
        found += new
        through = new[-1].end_ns if new else through
    assert found == list(cut.closed(time_ns, instants[-1]))


def test_lateness_keeps_a_window_open() -> None:
    cut = windows("5m", lateness=2 * MINUTE)
    start = at("2026-11-02T10:00")
    assert list(cut.closed(start, start + 7 * MINUTE - 1)) == []
    assert list(cut.closed(start, start + 7 * MINUTE)) == [Window(start, start + 5 * MINUTE)]


def test_back_is_the_same_hours_of_an_earlier_day() -> None:
    cut = windows("1h", zone="Europe/Berlin")
    window = Window(at("2026-10-26T09:00", "Europe/Berlin"), at("2026-10-26T10:00", "Europe/Berlin"))
    assert cut.back(window) == Window(window.start_ns - UNIT_NS["h"], window.start_ns)
    week = Window(at("2026-10-19T09:00", "Europe/Berlin"), at("2026-10-19T10:00", "Europe/Berlin"))
    assert cut.back(window, Span(1, "w")) == week
    assert window.start_ns - week.start_ns == UNIT_NS["w"] + UNIT_NS["h"]


@pytest.mark.parametrize(("size", "slide"), [("1d", "1h"), ("24h", "1d"), ("5m", "10m"), ("1d", "1w")])
def test_what_cannot_be_cut(size: str, slide: str) -> None:
    with pytest.raises(ValueError, match="slide"):
        windows(size, slide)


def test_an_unknown_zone() -> None:
    with pytest.raises(ValueError, match="no time zone is called 'Europe/Berln'"):
        windows("1d", zone="Europe/Berln")


def test_the_first_and_the_last_times_there_are() -> None:
    for zone in ZONES:
        for time_ns in (0, 2**64 - 1):
            (found,) = windows("1d", zone=zone).containing(time_ns)
            assert found.start_ns <= time_ns < found.end_ns
    assert timedelta(hours=hours(found)) == timedelta(days=1)
