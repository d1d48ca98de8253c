"""deploy/grafana: each query of each dashboard runs on a real engine over our schema, and gives what its panel names.

Macros and variables are replaced as the ClickHouse plugin of Grafana does it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from otel_toolselect.model.alerting import Matcher, Query, Scope, Silence, Window
from otel_toolselect.model.verdicts import Cell, LayerVerdict
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.alert_api import AlertRecord, Sending
from otel_toolselect.store.crew_api import Worker
from tests.deploy._files import DEPLOY, DOCS, document
from tests.store.builders import T0, decision, run, span, verdict

HERE = DEPLOY / "grafana"
BOARDS = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((HERE / "dashboards").glob("*.json"))}
SOURCES = {
    source["uid"]: source["type"]
    for source in document(HERE / "provisioning" / "datasources" / "toolselect.yaml")["datasources"]
}
CLICKHOUSE = "grafana-clickhouse-datasource"
MINUTE = 60 * 10**9
# rows bear the time of their insertion too
FROM_S, TO_S = T0 // 10**9 - 600, int(time.time()) + 3_600

PANELS = [(name, panel) for name, board in BOARDS.items() for panel in board["panels"]]
panels = pytest.mark.parametrize(
    ("board", "panel"),
    [(n, p) for n, p in PANELS if p["datasource"]["type"] == CLICKHOUSE],
    ids=[f"{n}-{p['title']}" for n, p in PANELS if p["datasource"]["type"] == CLICKHOUSE],
)


def replaced(sql: str, chosen: Mapping[str, tuple[str, ...] | None]) -> str:
    """A query as it reaches the server. `chosen`: values of the variables, None for All."""

    def all_or(found: re.Match[str]) -> str:
        return "1=1" if chosen[found[2]] is None else found[1]

    def listed(found: re.Match[str]) -> str:
        return ",".join(f"'{value}'" for value in chosen[found[1]] or ())

    sql = re.sub(r"\$__conditionalAll\((.*?\)), \$(\w+)\)", all_or, sql)
    sql = re.sub(r"\$\{(\w+):singlequote\}", listed, sql)
    first, last = FROM_S * 1000, TO_S * 1000
    sql = re.sub(
        r"\$__timeFilter_ms\((\w+)\)",
        rf"\1 >= fromUnixTimestamp64Milli({first}) AND \1 <= fromUnixTimestamp64Milli({last})",
        sql,
    )
    sql = re.sub(r"\$__timeInterval\((\w+)\)", r"toStartOfInterval(toDateTime(\1), INTERVAL 60 second)", sql)
    sql = sql.replace("$__fromTime", f"toDateTime({FROM_S})").replace("$__toTime", f"toDateTime({TO_S})")
    assert "$" not in sql, sql
    return sql


def choice(index: int, wanted: str, got: str, **fields: Any) -> Any:
    right = wanted == got
    given: dict[str, Any] = {
        "start_ns": T0 + index * MINUTE,
        "agent": "shop",
        "model": "m-1",
        "status": "pass" if right else "fail",
        "layers": {"selection": "pass" if right else "fail", "arguments": "needs_review"},
        "cells": (Cell(wanted, got),),
        "first_action": got,
        "input_tokens": 10,
        "output_tokens": 2,
        "cost_usd": 0.5,
    }
    return decision(f"r{index}", **(given | fields))


JUDGED = [
    choice(0, "search", "search"),
    choice(1, "search", "search"),
    choice(2, "search", "refund", model="m-2"),
    choice(3, "refund", "refund"),
    choice(4, "refund", "search", excluded="infra", cells=(), layers={}, status="excluded"),
    # each must not count beside the others
    choice(0, "search", "refund", suite="labels", origin="person"),
    choice(0, "search", "refund", rule="never-refund", suite="safety", cells=(), severity="critical"),
    *(choice(i, "search", "search", suite="", cells=(), layers={}) for i in range(5)),
]


ALERT = {"alert": "wrong-tool", "says": "3 of 20", "record": "{}"}
WORDS = ("firing", "pending", "no_data", "inactive")
RECORDS = [AlertRecord(series=f'{{"tool": "{w}"}}', state=w, since_ns=T0, through_ns=T0, **ALERT) for w in WORDS]
SENT = [
    Sending(f"k{outcome}", "hook", outcome, kind="fire", at_ns=T0, settled_ns=T0, attempts=3, error="503", **ALERT)
    for outcome in ("delivered", "dead")
]
CHOICES: list[dict[str, tuple[str, ...] | None]] = [
    {"suite": None, "agent": None, "model": None},
    {"suite": ("s", "safety"), "agent": ("shop",), "model": ("m-1", "m-2")},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = open_store(f"chdb://{tmp_path_factory.mktemp('grafana')}")
    opened.insert([span(1), span(2)], [])
    opened.write_runs([run("r0"), run("r1")])
    wrong = verdict("r2", layers={"selection": LayerVerdict("fail", "refund is not allowed", {})})
    opened.add_judged([verdict("r0"), wrong], JUDGED)
    opened.alerts.write_records(RECORDS)
    opened.alerts.write_silence(Silence("s1", (Matcher("owner", equals="ann"),), T0, TO_S * 10**9, "ann"))
    opened.alerts.add_sendings(SENT)
    opened.crews.report("crew", Worker("a", T0))
    yield opened
    opened.close()


def ask(store: Store, sql: str) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Names and types of the columns, and the rows."""
    engine = store.raw_engine()
    assert engine is not None
    # whole numbers as numbers, in the way the plugin reads them
    settings = {"output_format_json_quote_64bit_integers": "0"}
    found = engine.raw_query(sql.encode(), params={}, settings=settings, database=None, fmt="JSON")
    answer = json.loads(found.body)
    return [c["name"] for c in answer["meta"]], [c["type"] for c in answer["meta"]], answer["data"]


def rows(store: Store, board: str, title: str, **chosen: tuple[str, ...]) -> list[dict[str, Any]]:
    (panel,) = (p for p in BOARDS[board]["panels"] if p["title"] == title)
    return ask(store, replaced(panel["targets"][0]["rawSql"], CHOICES[0] | chosen))[2]


@panels
def test_a_query_gives_rows_and_the_columns_that_its_panel_names(
    store: Store, board: str, panel: dict[str, Any]
) -> None:
    (target,) = panel["targets"]
    for chosen in CHOICES:
        names, types, found = ask(store, replaced(target["rawSql"], chosen))
        assert found
    named = {o["matcher"]["options"] for o in panel["fieldConfig"]["overrides"]}
    for change in panel.get("transformations", ()):
        assert change["id"] == "groupingToMatrix"
        options = change["options"]
        assert {options["rowField"], options["columnField"], options["valueField"]} == set(names)
        named = {name for name in named if name != f"{options['rowField']}\\{options['columnField']}"}
    assert named <= set(names)
    if target["format"] == 0:
        assert names[0] == "time"
        assert types[0].startswith("DateTime")
        assert target["queryType"] == "timeseries"
        texts = [kind for kind in types[1:] if "String" in kind]
        assert len(texts) <= 1  # one line for each of its values
        assert len(types) - 1 - len(texts) >= 1
        assert re.search(r"ORDER BY time\b", target["rawSql"])
    else:
        assert target["queryType"] == "table"


def test_figures_are_those_that_we_count(store: Store) -> None:
    window = [Window(FROM_S * 10**9, TO_S * 10**9)]
    (ours,) = store.observe(Query("accuracy", Scope(suite=("s",))), window)[()]
    (shown,) = rows(store, "tool-choice", "Accuracy")
    assert (shown["accuracy"], shown["n"]) == (ours.value, ours.n) == (0.75, 4)
    recalls = store.observe(Query("recall", Scope(suite=("s",)), ("tool",)), window)
    by_tool = {row["tool"]: row for row in rows(store, "tool-choice", "By tool")}
    assert {tool: (row["recall"], row["expected"]) for tool, row in by_tool.items()} == {
        dict(series)["tool"]: (seen.value, seen.n) for series, (seen,) in recalls.items()
    }
    assert (by_tool["refund"]["precision"], by_tool["refund"]["observed"]) == (0.5, 2)
    (matrix,) = store.confusion(Scope(suite=("s",)), (), window)[()]
    cells = {(row["expected"], row["observed"]): row["runs"] for row in rows(store, "tool-choice", "Confusion")}
    assert cells == {(cell.expected, cell.observed): n for cell, n in matrix.items()}
    assert [(p["expected"], p["observed"], p["runs"]) for p in rows(store, "tool-choice", "Pairs confused most")] == [
        ("search", "refund", 1)
    ]


def test_accuracy_over_time_has_its_n_and_its_interval(store: Store) -> None:
    points = rows(store, "tool-choice", "Accuracy over time")
    assert [(point["n"], point["accuracy"]) for point in points] == [(1, 1), (1, 1), (1, 0), (1, 1)]
    for point in points:
        assert 0 <= point["low"] <= point["accuracy"] <= point["high"] <= 1
        # Wilson, 1 of 1 and 0 of 1
        assert point["high"] - point["low"] == pytest.approx(0.7935, abs=1e-4)


def test_a_choice_of_a_variable_limits(store: Store) -> None:
    (shown,) = rows(store, "tool-choice", "Accuracy", model=("m-2",))
    assert (shown["accuracy"], shown["n"]) == (0, 1)
    assert [r["rule"] for r in rows(store, "tool-choice", "Rules broken", model=("m-1",))] == ["never-refund"]
    assert [r["reason"] for r in rows(store, "tool-choice", "Left out")] == ["infra"]


def test_every_run_counts_once_in_traffic(store: Store) -> None:
    assert sum(row["runs"] for row in rows(store, "runs", "Runs")) == 5
    assert [row["cost"] for row in rows(store, "runs", "By agent, model and prompt")] == [2.5]


def test_alerts_stand_with_what_fires_first(store: Store) -> None:
    assert rows(store, "alerts", "Now") == [{"firing": 1, "pending": 1, "no_data": 1}]
    assert [row["state"] for row in rows(store, "alerts", "States")] == ["firing", "no_data", "pending", "inactive"]
    assert [row["error"] for row in rows(store, "alerts", "Dead notifications")] == ["503"]


@pytest.mark.parametrize("board", BOARDS)
def test_variables_are_defined_and_their_queries_run(store: Store, board: str) -> None:
    variables = {variable["name"]: variable for variable in BOARDS[board]["templating"]["list"]}
    sqls = [t.get("rawSql", "") for p in BOARDS[board]["panels"] for t in p["targets"]]
    used = {name for sql in sqls for name in re.findall(r"\$\{?(\w+)(?::singlequote\}|\))", sql) if name[0] != "_"}
    assert used == set(variables)
    for variable in variables.values():
        names, _, found = ask(store, replaced(variable["query"], CHOICES[0]))
        assert len(names) == 1
        assert found
        assert SOURCES[variable["datasource"]["uid"]] == variable["datasource"]["type"]


@pytest.mark.parametrize("board", BOARDS)
def test_sources_exist_and_panels_fit_side_by_side(board: str) -> None:
    found = BOARDS[board]
    assert found["uid"] == f"toolselect-{board}"
    assert found["title"] in (DOCS / "deploy.md").read_text("utf-8")
    taken: set[tuple[int, int]] = set()
    for panel in found["panels"]:
        for source in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
            assert SOURCES[source["uid"]] == source["type"]
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    ids = [panel["id"] for panel in found["panels"]]
    assert len(set(ids)) == len(ids)


def test_metrics_are_those_there_are() -> None:
    page = (DOCS / "operations.md").read_text("utf-8")
    recorded = {
        rule["record"]
        for group in document(DEPLOY / "prometheus" / "recording.rules.yml")["groups"]
        for rule in group["rules"]
    }
    named: set[str] = set()
    for _, panel in PANELS:
        for target in panel["targets"]:
            named |= set(re.findall(r"(?:instance:)?toolselect_[a-z_]+(?::[a-z0-9_]+)?", target.get("expr", "")))
    assert len(named) > 8
    assert named - recorded <= set(re.findall(r"`(toolselect_[a-z_]+)`", page))


def test_provisioning_is_mounted_and_its_variables_are_given() -> None:
    service = document(DEPLOY / "compose" / "compose.yaml")["services"]["grafana"]
    mounts = dict(reversed(mount.removesuffix(":ro").split(":")) for mount in service["volumes"])
    (provider,) = document(HERE / "provisioning" / "dashboards" / "toolselect.yaml")["providers"]
    assert (DEPLOY / "compose" / mounts[provider["options"]["path"]]).resolve() == HERE / "dashboards"
    assert (DEPLOY / "compose" / mounts["/etc/grafana/provisioning"]).resolve() == HERE / "provisioning"
    text = (HERE / "provisioning" / "datasources" / "toolselect.yaml").read_text("utf-8")
    wanted = set(re.findall(r"\$\{(\w+)\}", text))
    assert wanted <= set(service["environment"])
    assert all(name in (DOCS / "deploy.md").read_text("utf-8") for name in wanted)
    plugin, _, version = service["environment"]["GF_PLUGINS_PREINSTALL_SYNC"].partition("@")
    assert plugin == CLICKHOUSE
    assert {t["pluginVersion"] for _, p in PANELS for t in p["targets"] if "rawSql" in t} == {version}
