"""Days and instants in the forms that people and models write (R26). A reader gives the value, or why there is none.

Read the same way on both sides of a comparison, relative to the day on which the run began:

- ISO 8601 dates and times; a time with an offset is the day of the named zone, without one the day it was written for;
- numbers with the year first or last. `03/11/2026` is *ambiguous* (two days, neither better) unless a format is named;
  with dots the day stands first, as everywhere where dots are used;
- words: month names, `today`, `tomorrow`, `in 3 days`, weekdays. `tuesday` and `next tuesday` are the first Tuesday
  after the run's day, `this tuesday` may be the day itself, `last tuesday` lies before it. Everything else that is a
  full date or relative in some language is read by dateparser; a text that leaves out the year is no full date.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import re2

from otel_toolselect.model.remembered import remembered

Day: TypeAlias = "dt.date | str"
Moment: TypeAlias = "dt.datetime | str"
MAX_TEXT = 60  # longer texts are no dates; dateparser's time grows with the text
_LONGEST = 4 * MAX_TEXT  # of what is remembered, with its spaces

_ISO_DAY = re2.compile(r"\d{4}-\d{2}-\d{2}")
_ISO_TIME = re2.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}(:?\d{2}){0,2}([.,]\d+)?\s*([Zz]|[+-]\d{2}:?\d{2})?")
_NUMBERS = re2.compile(r"(\d{1,4})([/.-])(\d{1,2})[/.-](\d{1,4})")
_ORDINAL = re2.compile(r"(\d)(st|nd|rd|th)\b")
_WEEKDAY = re2.compile(r"(?:(on|next|this|coming|last) )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)")
_IN_DAYS = re2.compile(r"in (\d{1,4}) (day|week)s?")
_WORDS = {"today": 0, "tomorrow": 1, "yesterday": -1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("%B %d %Y", "%d %B %Y", "%b %d %Y", "%d %b %Y", "%A %B %d %Y", "%A %d %B %Y")
_SPELLINGS = (("YYYY", "%Y"), ("YY", "%y"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"), ("DD", "%d"))


def run_day(start_ns: int, zone: ZoneInfo | None) -> dt.date | None:
    """The day on which a run began, in the zone (UTC without one); None when the trace does not say."""
    moment = run_moment(start_ns, zone)
    return None if moment is None else moment.date()


def run_moment(start_ns: int, zone: ZoneInfo | None) -> dt.datetime | None:
    return dt.datetime.fromtimestamp(start_ns // 10**9, zone or dt.UTC) if start_ns else None


def as_strptime(text: str) -> str | None:
    """A format in strptime's spelling; `DD/MM/YYYY` is understood too. None when it does not name day, month, year."""
    if "%" not in text:
        for word, code in _SPELLINGS:
            text = text.replace(word, code)
    year, month, day = "%Y" in text or "%y" in text, any(m in text for m in ("%m", "%b", "%B")), "%d" in text
    return text if year and month and day else None


@remembered(8_192, _LONGEST)
def read_day(text: str, today: dt.date | None, zone: ZoneInfo | None, formats: tuple[str, ...] = ()) -> Day:
    """The day that a text names, or why it names none."""
    plain = " ".join(text.split())
    if not plain or len(plain) > MAX_TEXT:
        return "is no date"
    for form in formats:
        try:
            return dt.datetime.strptime(plain, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    try:
        if _ISO_DAY.fullmatch(plain):
            return dt.date.fromisoformat(plain)
        if _ISO_TIME.fullmatch(plain):
            return _in_zone(_iso(plain), zone)
        numbers = _NUMBERS.fullmatch(plain)
        if numbers:
            return _of_numbers(plain, numbers)
    except (ValueError, OverflowError):  # at the end of the year 9999 it is 10000 elsewhere
        return "is no day of the calendar"
    return _of_words(plain, today)


def _iso(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text.upper().replace(",", ".").replace(" Z", "Z"))


def _in_zone(moment: dt.datetime, zone: ZoneInfo | None) -> dt.date:
    return (moment.astimezone(zone) if zone is not None and moment.tzinfo is not None else moment).date()


def _of_numbers(text: str, found: Any) -> Day:
    a, mark, b, c = int(found.group(1)), found.group(2), int(found.group(3)), int(found.group(4))
    if len(found.group(1)) == 4:
        return dt.date(a, b, c)
    if len(found.group(4)) != 4:
        return "is ambiguous (which number is the year?): name the format"
    if mark == "." or a > 12 or a == b:
        return dt.date(c, b, a)
    if b > 12:
        return dt.date(c, a, b)
    return f"{text} is ambiguous ({dt.date(c, b, a)} or {dt.date(c, a, b)}): name the format"


def _of_words(text: str, today: dt.date | None) -> Day:
    folded = _ORDINAL.sub(r"\1", text.casefold()).replace(",", "")
    relative = _relative(folded)
    if relative is not None:
        return "is relative, and the run has no start time" if today is None else relative(today)
    for form in _MONTHS:
        try:
            return dt.datetime.strptime(folded, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    base = dt.datetime.combine(today or dt.date(2000, 1, 1), dt.time())
    moment = _parsed(text, base)
    if moment is None:
        return "is no full date"
    if today is None and _parsed(text, base + dt.timedelta(days=400)) != moment:
        return "is relative, and the run has no start time"
    return moment.date()


def _relative(text: str) -> Any:
    """A function from the run's day to the day, for the commonest words; dateparser knows more of them."""
    if text in _WORDS:
        return lambda today: today + dt.timedelta(days=_WORDS[text])
    after = _IN_DAYS.fullmatch(text)
    if after:
        days = int(after.group(1)) * (7 if after.group(2) == "week" else 1)
        return lambda today: today + dt.timedelta(days=days)
    found = _WEEKDAY.fullmatch(text)
    if not found:
        return None
    which, number = found.group(1), _WEEKDAYS.index(found.group(2))

    def weekday(today: dt.date) -> dt.date:
        ahead = (number - today.weekday()) % 7
        if which == "last":
            return today - dt.timedelta(days=(today.weekday() - number) % 7 or 7)
        return today + dt.timedelta(days=ahead if which == "this" else ahead or 7)

    return weekday


_MENTIONS = re2.compile(
    r"(?i)\b(?:today|tomorrow|yesterday|in \d{1,3} (?:day|week)s?|(?:(?:next|this|last|coming) )?"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d{2}-\d{2}|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|"
    r"(?:\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?)?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?)\b"
)
_MONTH_DAY = ("%B %d %Y", "%d %B %Y", "%b %d %Y", "%d %b %Y")


def mentioned(text: str, today: dt.date | None) -> set[dt.date]:
    """The days that a text speaks of, in English or in numbers; a date without a year is this year's or the next's."""
    found: set[dt.date] = set()
    for phrase in _MENTIONS.findall(text[:20_000]):
        plain = _ORDINAL.sub(r"\1", phrase.casefold()).replace(",", "").replace(" of ", " ").replace(". ", " ")
        relative = _relative(plain)
        if relative is not None:
            found |= {relative(today)} if today is not None else set()
        elif plain[:1].isdigit() and plain[-1:].isdigit() and " " not in plain:
            day = read_day(plain, today, None)
            found |= set() if isinstance(day, str) else {day}
        else:
            found |= _named(plain, today)
    return found


def _named(text: str, today: dt.date | None) -> set[dt.date]:
    years = [""] if text[-4:].isdigit() else [f" {today.year}", f" {today.year + 1}"] if today is not None else []
    found = set()
    for year in years:
        for form in _MONTH_DAY:
            try:
                found.add(dt.datetime.strptime(text + year, form).date())  # noqa: DTZ007 - a day has no zone
            except ValueError:
                continue
    return found


def _parsed(text: str, base: dt.datetime) -> dt.datetime | None:
    import dateparser  # late: an extra, and slow to import

    settings: Any = {"RELATIVE_BASE": base, "REQUIRE_PARTS": ["day", "month", "year"], "PREFER_DATES_FROM": "future"}
    found: dt.datetime | None = dateparser.parse(text, settings=settings)
    return found


@remembered(8_192, _LONGEST)
def read_moment(text: str, now: dt.datetime | None, zone: ZoneInfo | None) -> Moment:
    """The instant that a text names, always with an offset, or why it names none."""
    plain = " ".join(text.split())
    if not plain or len(plain) > MAX_TEXT:
        return "is no time"
    moment: dt.datetime | None
    if _ISO_TIME.fullmatch(plain):
        try:
            moment = _iso(plain)
        except ValueError:
            return "is no time of the calendar"
    else:
        numbers = _NUMBERS.match(plain)
        if numbers:
            try:
                day = _of_numbers(numbers.group(0), numbers)
            except ValueError:
                return "is no time of the calendar"
            if isinstance(day, str):
                return day
        base = (now or dt.datetime(2000, 1, 1)).replace(tzinfo=None)  # noqa: DTZ001 - dateparser's base is naive
        moment = _parsed(plain, base)
        if moment is None:
            return "is no full time"
    if moment.tzinfo is not None:
        return moment
    return "has no offset: name the zone" if zone is None else moment.replace(tzinfo=zone)
