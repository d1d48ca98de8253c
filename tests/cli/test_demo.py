"""`toolselect demo`, as a user runs it."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tests.cli.conftest import Cli


def test_demo(program: Cli, tmp_path: Path) -> None:
    begin = time.perf_counter()
    done = program("demo", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - begin < 60
    assert "85.0 %   68/80 runs" in done.stdout
    assert re.search(r"refund_order +76\.2 % \(16/21\)", done.stdout)
    assert re.search(r"get_invoice .*81\.5 % \(22/27\)", done.stdout)
    assert "worst recall: refund_order 76.2 % (16/21)" in done.stdout
    assert re.search(r"\n  3  wanted refund_order +got get_invoice", done.stdout)
    traces = done.stdout.partition("3 WORST FAILURES")[2] or done.stdout.partition("3 worst failures")[2]
    assert len(re.findall(r"\n  [123]\. ", traces)) == 3
    assert traces.count("  result  ") >= 3
    assert "toolselect serve" in done.stdout
    assert not list(tmp_path.glob("toolselect-demo-*"))


def test_keep_and_judge_again(cli: Cli, program: Cli, tmp_path: Path) -> None:
    done = program("demo", "--keep", TMPDIR=str(tmp_path))
    (kept,) = re.findall(r"toolselect (eval .*)", done.stdout)
    again = cli(*kept.split())
    assert again.returncode == 1, again.stderr
    assert "68/80 runs" in again.stdout


def test_no_receiver(program: Cli) -> None:
    done = program("demo", "--to", "127.0.0.1:1", OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.returncode == 4
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
