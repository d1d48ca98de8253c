"""Templates to text. Every value is escaped, and what could steer the reader's page or terminal is made visible."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from otel_toolselect.reports import visible
from otel_toolselect.web.call import CARRIED, part
from otel_toolselect.web.page import Show, sections
from otel_toolselect.web.statics import PREFIX, files

if TYPE_CHECKING:
    from jinja2 import Environment

    from otel_toolselect.web.call import Call

FOLDER = Path(__file__).with_name("templates")
LONGEST = 20_000
"""Characters of one value on a page; a tool may have returned a whole document."""
WINDOWS = (("1h", "last hour"), ("24h", "last 24 hours"), ("7d", "last 7 days"), ("30d", "last 30 days"), ("", "ever"))
MAX_TIME_NS = 253_402_300_799 * 10**9


@cache
def environment() -> Environment:
    """Holds the compiled templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=shown,
    )
    made.filters |= {"utc": utc, "day": day, "since": since, "percent": percent, "many": many, "part": part}
    made.filters |= {"seconds": seconds, "money": money}
    made.globals |= {"windows": WINDOWS, "carried": CARRIED}
    return made


def render(call: Call, show: Show) -> HTMLResponse:
    """A page is never kept by a browser or a proxy: it holds contents of traces."""
    text = environment().get_template(show.template).render(
        {**show.values, "call": call, "title": show.title, "nav": _nav(call), "static": _static_links(call.site.root)}
    )  # fmt: skip
    body = text.encode("utf-8", "backslashreplace")
    return HTMLResponse(body, show.status, {"cache-control": "no-store"})


def _nav(call: Call) -> list[dict[str, Any]]:
    """Sections that the person may see. The filters go along from page to page."""
    found = []
    for section in sections():
        first = section.pages[0].path
        if section.title and call.who.may(section.scope):
            paths = [page.path for page in section.pages]
            here = call.path == first or (first != "/" and call.path.startswith(first + "/")) or call.path in paths
            found.append({"title": section.title, "href": call.filtered(first), "here": here})
    return found


@cache
def _static_links(root: str) -> dict[str, str]:
    return {name: f"{root}{PREFIX}/{static.name}" for name, static in files().items()}


def shown(value: Any) -> Any:
    """Applied to everything that a template prints, before it is escaped."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    if len(value) > LONGEST:
        value = f"{value[:LONGEST]}… ({len(value)} characters)"
    return visible(value)


# filters


def utc(ns: int) -> str:
    """`2026-11-30 13:05:09`; the page says once that times are UTC."""
    return datetime.fromtimestamp(min(ns, MAX_TIME_NS) // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def day(ns: int) -> str:
    return datetime.fromtimestamp(min(ns, MAX_TIME_NS) // 10**9, UTC).strftime("%Y-%m-%d")


def since(ns: int, now_ns: int) -> str:
    """`3 min ago`, `in 2 h`."""
    seconds = abs(now_ns - ns) // 10**9
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    size, unit = next(((size, unit) for size, unit in units if seconds >= size), (1, "s"))
    text = f"{seconds // size} {unit}"
    return f"{text} ago" if now_ns >= ns else f"in {text}"


def percent(share: float | None) -> str:
    return "n/a" if share is None else f"{100 * share:.1f} %"


def many(n: int, noun: str) -> str:
    """`1 run`, `3,000 runs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def seconds(ns: int | None) -> str:
    """`1.25 s`, `340 ms`, `2 min 5 s`; "" when it is not known."""
    if ns is None:
        return ""
    if ns < 10**9:
        return f"{ns / 1e6:.0f} ms"
    return f"{ns / 1e9:.2f} s" if ns < 60 * 10**9 else f"{ns // (60 * 10**9)} min {ns // 10**9 % 60} s"


def money(usd: float | None) -> str:
    """US dollars, as cents are not enough for a run; "" when it is not known."""
    return "" if usd is None else f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"
