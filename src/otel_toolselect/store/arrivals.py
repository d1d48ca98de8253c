"""Which traces got rows since a reader looked last.

A row bears the time at which the server began to take it in; it is visible a moment later, and of two inserts the
later one may be visible first. So a cursor does not stand at a time: it stands at a *settled* time, before which
everything was told, and remembers how many rows of each later arrival it has told of. An arrival (all rows of an
insert bear one time) that has more rows than that is new, however late it became visible, as long as that took less
than the overlap. The index on the arrival time leaves old parts unread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.store import queries
from otel_toolselect.store.arrival_api import Arrivals, Cursor
from otel_toolselect.store.queries import Select, Tables
from otel_toolselect.store.session import Session

OVERLAP_S = 60
FOREIGN_OVERLAP_S = 3600
FOREIGN_WIDTH_S = 10
PLACES_PER_PAGE = 100  # bound into one address
_SECOND = 10**9


@dataclass(frozen=True, slots=True)
class _Found:
    """Arrivals later than the settled time, in order, with the number of their rows; `cut`: there are later ones."""

    places: Sequence[tuple[int, int]]
    cut: bool

    def page(self, cursor: Cursor, limit: int) -> tuple[dict[int, int], int | None]:
        """The first new arrivals with `limit` rows together, or one; and the first arrival that was left."""
        chosen: dict[int, int] = {}
        rows = 0
        for at, count in self.places:
            fresh = count - cursor.seen.get(at, 0)
            if fresh <= 0:
                continue
            if chosen and (rows + fresh > limit or len(chosen) == PLACES_PER_PAGE):
                return chosen, at
            chosen[at] = count
            rows += fresh
        return chosen, self.places[-1][0] + 1 if self.cut else None


def read(session: Session, tables: Tables, since: Cursor | None, limit: int) -> Arrivals:
    """See `Store.arrivals`."""
    cursor = since or Cursor()
    names = queries.record_tables(tables)
    if not names:
        return Arrivals((), cursor)
    foreign = not all(tables.has(name, "ReceivedAt") for name in names)
    # the time first: what becomes visible after it is younger than the overlap
    now = session.select(queries.NOW)["Now"][0]
    latest = now + (FOREIGN_OVERLAP_S if foreign else OVERLAP_S) * _SECOND
    listed = len(cursor.seen) + PLACES_PER_PAGE * 10
    select = _places(tables, cursor.settled_ns, latest, listed)
    found = session.select(select.sql, select.params)
    places = list(zip(found.get("At", ()), found.get("Rows", ()), strict=True))
    overlap = 2 * now - latest  # as long before now as `latest` is after it
    chosen, after, more = advanced(cursor, places, len(places) == listed, limit, overlap)
    ids: set[str] = set()
    for name in names if chosen else ():
        select = _ids(tables, name, chosen)
        ids.update(session.select(select.sql, select.params).get("TraceId", ()))
    return Arrivals(tuple(sorted(ids)), after, more, FOREIGN_WIDTH_S if foreign else 0.0)


def advanced(
    cursor: Cursor, places: Sequence[tuple[int, int]], cut: bool, limit: int, overlap_ns: int
) -> tuple[list[int], Cursor, bool]:
    """Of arrivals after the cursor, (time, rows) in order, those to tell of now, the cursor after them, and whether
    there are more. `cut`: the list does not go to the end. Nothing becomes visible any more before `overlap_ns`.
    """
    chosen, left = _Found(places, cut).page(cursor, limit)
    settled = max(cursor.settled_ns, overlap_ns if left is None else min(overlap_ns, left - 1))
    told = {at: rows for at, rows in {**cursor.seen, **chosen}.items() if at > settled}
    return sorted(chosen), Cursor(settled, told), left is not None


def _time(tables: Tables, table: str) -> tuple[str, int]:
    """The column that says when a row came, and the width in ns of what counts as one arrival."""
    return ("ReceivedAt", 1) if tables.has(table, "ReceivedAt") else ("Timestamp", FOREIGN_WIDTH_S * _SECOND)


def _key(column: str, width: int) -> str:
    exact = f"toUnixTimestamp64Nano({column})"
    return exact if width == 1 else f"intDiv({exact}, {width}) * {width}"


def _places(tables: Tables, settled: int, latest: int, limit: int) -> Select:
    parts = []
    for table in queries.record_tables(tables):
        column, width = _time(tables, table)
        parts.append(
            f"SELECT {_key(column, width)} AS At, count() AS Rows FROM {table}"  # noqa: S608 - names of ours
            f" WHERE {column} > fromUnixTimestamp64Nano({{settled:Int64}})"
            f" AND {column} <= fromUnixTimestamp64Nano({{latest:Int64}}) GROUP BY At HAVING At > {{settled:Int64}}"
        )
    union = "\n    UNION ALL ".join(parts)
    sql = f"SELECT At, sum(Rows) AS Rows\nFROM ({union})\nGROUP BY At\nORDER BY At\nLIMIT {{limit:UInt32}}"
    return Select(sql, {"settled": settled, "latest": latest, "limit": limit})


def _ids(tables: Tables, table: str, places: Sequence[int]) -> Select:
    column, width = _time(tables, table)
    conditions = [
        *queries.base_conditions(table),
        f"{column} >= fromUnixTimestamp64Nano({{first:Int64}})",
        f"{column} < fromUnixTimestamp64Nano({{end:Int64}})",
        f"{_key(column, width)} IN {{places:Array(Int64)}}",
    ]
    sql = f"SELECT DISTINCT TraceId FROM {table} WHERE {' AND '.join(conditions)}"  # noqa: S608 - names of ours
    return Select(sql, {"first": places[0], "end": places[-1] + width, "places": list(places)})
