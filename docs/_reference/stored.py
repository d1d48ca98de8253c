"""What a store holds and what a server counts, asked of a real store and a real server."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docs._reference._markdown import code, table

from otel_toolselect import config, store
from otel_toolselect.app.serving import serving
from otel_toolselect.web.lending import lend

SQL = Path(store.__file__).parent / "sql"
COLUMNS = """
SELECT table, name, type, default_kind, comment FROM system.columns
WHERE database = currentDatabase() ORDER BY table, position
"""
SPACE = "toolselect_schema"


def tables() -> str:
    with _home() as home:
        opened: Any = store.open_store(f"chdb://{home}/store")
        try:
            found = opened._session.select(COLUMNS)
        finally:
            opened.close()
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for name, *column in zip(*(found[c] for c in ("table", "name", "type", "default_kind", "comment")), strict=True):
        if name not in ("schema_migrations",):
            rows.setdefault(name, []).append((code(column[0]), code(column[1]), column[3]))
    told = said()
    return "\n".join(
        f"## `{name}`\n\n{told.get(name, '')}\n\n{table(('column', 'type', ''), columns)}"
        for name, columns in rows.items()
    )


def said() -> dict[str, str]:
    """What is said of each table in the files of SQL: the comment before its CREATE, or before the one above it."""
    found: dict[str, str] = {}
    for path in sorted(SQL.glob("*.sql")):
        comment: list[str] = []
        last = ""
        for line in path.read_text("utf-8").splitlines():
            made = re.match(r"CREATE (?:OR REPLACE )?(?:MATERIALIZED )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)", line)
            if made:
                last = "\n".join(comment) or last
                if last and (comment or made[1] not in found):
                    found[made[1]] = last
            comment = [*comment, line.removeprefix("--").strip()] if line.startswith("--") else []
    return found


def metrics() -> str:
    """Families of `/metrics` of a server with everything switched on."""
    with _home() as home:
        suite = home / "suite.yaml"
        suite.write_text("suite: s\ncases:\n- {id: c, prompt: p, expect: {class: none}}\n", "utf-8")
        env = {
            "TOOLSELECT_STORE": f"chdb://{home}/store", "TOOLSELECT_GRPC_PORT": "0", "TOOLSELECT_HTTP_PORT": "0",
            "TOOLSELECT_LIVE_SUITES": str(suite), "TOOLSELECT_EXPORT_OTLP_ENDPOINT": "http://127.0.0.1:9",
        }  # fmt: skip
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        with serving(config.load(env=env), lend) as running:
            families = list(running.receiver.metrics.collect())
    ours = [family for family in families if family.name.startswith("toolselect_")]
    rows = [
        (
            code(_exposed(f)),
            f.type,
            ", ".join(sorted({code(n) for s in f.samples for n in s.labels if n != "le"})),
            f.documentation,
        )
        for f in sorted(ours, key=lambda family: family.name)
    ]
    return table(("metric", "type", "labels", "meaning"), rows)


def _labels(family: Any) -> str:
    """The names that a series carries; a counter without a series yet shows none."""
    names = {name for sample in family.samples for name in sample.labels if name != "le"}
    return ", ".join(code(name) for name in sorted(names))


def _exposed(family: Any) -> str:
    return family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")


@contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
