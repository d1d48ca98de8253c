"""What only shows with more than one process: locks, a running server, a kill, time zones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from otel_toolselect.errors import StoreBusyError, StoreError
from otel_toolselect.store import (
    SERVE_INFO_NAME,
    open_store,
    read_serve_info,
    remove_serve_info,
    write_serve_info,
)
from otel_toolselect.web.lending import lend

from .builders import span

ROOT = Path(__file__).parents[2]
PRELUDE = """
    import json, os, signal, sys
    from otel_toolselect.errors import ToolselectError
    from otel_toolselect.store import open_store
    from tests.store.builders import span, log, run
    place = sys.argv[1]
"""


def start(code: str, place: Path, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PRELUDE) + textwrap.dedent(code), str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | env,
    )


def run_code(code: str, place: Path, **env: str) -> str:
    process = start(code, place, **env)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out


def test_rows_survive_kill_9_right_after_insert(tmp_path: Path) -> None:
    process = start(
        """
        store = open_store(place)
        store.insert([span(1, n) for n in range(100)], [log(1)])
        store.write_runs([run()])
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path,
    )
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    store = open_store(str(tmp_path))
    found = store.overview()
    store.close()
    assert (found.spans, found.logs, found.runs) == (100, 1, 1)


def test_a_second_process_is_told_at_once_who_holds_the_store(tmp_path: Path) -> None:
    holder = start("store = open_store(place); print('open', flush=True); sys.stdin.read()", tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    began = time.monotonic()
    with pytest.raises(StoreBusyError, match=rf"held by process {holder.pid}.*stop it"):
        open_store(f"chdb://{tmp_path}")
    assert time.monotonic() - began < 1
    holder.communicate("", timeout=30)
    open_store(str(tmp_path)).close()


def test_this_process_holds_one_directory_at_a_time(tmp_path: Path) -> None:
    first, again = open_store(str(tmp_path / "a")), open_store(f"chdb://{tmp_path}/./a")
    with pytest.raises(StoreBusyError, match="close it before opening"):
        open_store(str(tmp_path / "b"))
    again.close()
    first.insert([span()], [])
    first.close()
    open_store(str(tmp_path / "b")).close()


def test_other_processes_go_through_the_running_server(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    engine = store.raw_engine()
    assert engine is not None
    with lend(engine, str(tmp_path)) as url:
        told = json.loads(
            run_code(
                """
                store = open_store("chdb://" + place)
                store.insert([span(7, 7, attributes={"n": 1})], [])
                print(json.dumps([store.via, store.dsn, store.raw_engine(), store.overview().spans]))
                store.close()
                """,
                tmp_path,
            )
        )
        assert told == [f"the running server on {url.removeprefix('http://')}", f"chdb://{tmp_path}", None, 1]
        ((spans, _),) = store.traces()
        assert spans == (span(7, 7, attributes={"n": 1}),)
        # this process holds the engine itself and needs no detour
        direct = open_store(str(tmp_path))
        assert direct.via is None
        direct.close()
    assert read_serve_info(tmp_path) is None
    engine.close()
    store.close()


@pytest.mark.parametrize("pid", [None, 2**22 + 1])
def test_a_stale_serve_file_is_ignored(tmp_path: Path, pid: int | None) -> None:
    # None: our own pid, alive, but nobody answers on port 9 (discard)
    write_serve_info(tmp_path, url="http://127.0.0.1:9", token="x", pid=pid)
    store = open_store(str(tmp_path))
    assert store.via is None
    store.close()


def test_the_serve_file_is_private_and_comes_back(tmp_path: Path) -> None:
    for _ in range(2):
        path = write_serve_info(tmp_path, url="http://127.0.0.1:4318/clickhouse/", token="secret")
    assert path == tmp_path / SERVE_INFO_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    info = read_serve_info(tmp_path)
    assert info is not None
    assert (info.pid, info.token, info.address, info.alive) == (os.getpid(), "secret", "127.0.0.1:4318", True)
    assert "secret" not in repr(info)
    remove_serve_info(tmp_path)
    remove_serve_info(tmp_path)
    assert read_serve_info(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x", "url": "u", "token": "t", "started": 1}'])
def test_a_broken_serve_file_reads_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / SERVE_INFO_NAME).write_text(text)
    assert read_serve_info(tmp_path) is None


def test_create_false_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        open_store(str(tmp_path / "absent"), create=False)
    assert not (tmp_path / "absent").exists()


def test_times_do_not_depend_on_the_zone_of_the_process(tmp_path: Path) -> None:
    """Bug 36: single nanoseconds, the hour that New York has twice; from the wire to each query, in three zones."""
    code = """
        import json
        from otel_toolselect.otlp import decode_json
        texts = ["1793511000000000005", "1793514600000000005", "1793613600000000000", "1793613600000000001",
                 "1793613600000000002", "1793613600999999999"]
        raw = [{"traceId": "a7" * 16, "spanId": f"{n:016x}1"[1:], "name": "step", "startTimeUnixNano": text,
                "endTimeUnixNano": str(int(text) + 1), "events": [{"name": "e", "timeUnixNano": text}]}
               for n, text in enumerate(texts, 1)]
        logs = [{"traceId": "a7" * 16, "timeUnixNano": texts[1], "body": {"stringValue": "x"}}]
        wire = {"resourceSpans": [{"scopeSpans": [{"spans": raw[::-1]}]}],
                "resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}
        batch = decode_json(json.dumps(wire).encode())
        store = open_store(place)
        store.insert(batch.spans, batch.logs)
        first = int(texts[0])
        (spans, logs), = store.traces(since_ns=first, until_ns=first + 1)
        assert list(store.traces(since_ns=int(texts[-1]) + 1)) == []
        assert store.arrivals().trace_ids == ("a7" * 16,)
        shown = [(str(s.start_ns), s.duration_ns, s.events[0].time_ns) for s in spans]
        assert [start for start, _, _ in shown] == texts
        store.write_runs([run(start_ns=int(texts[0]))])
        select = store._session.select
        kept = select("SELECT DISTINCT toString(Timestamp) AS t FROM otel_traces ORDER BY t")
        parts = select(
            "SELECT DISTINCT partition AS p FROM system.parts WHERE active AND table = 'otel_traces' ORDER BY p"
        )
        print(shown, [x.time_ns for x in logs], store.overview().scopes, kept, parts["p"],
              select("SELECT DISTINCT toString(Start) AS t FROM runs"),
              len(list(store.runs(since_ns=first, until_ns=first + 1))))
    """
    zones = ("UTC", "America/New_York", "Asia/Tokyo")
    apart = {run_code(code, tmp_path / str(n), TZ=zone) for n, zone in enumerate(zones)}
    shared = {run_code(code, tmp_path / "shared", TZ=zone) for zone in zones}
    assert len(apart | shared) == 1
    assert "['2026-11-01', '2026-11-02']" in apart.pop()
