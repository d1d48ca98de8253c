"""The command line from outside: results on stdout, the rest on stderr, exit codes, messages that help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel_toolselect.cli import command_names
from tests.cli import _spans
from tests.cli.conftest import Cli


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", command_names())
def test_every_help_has_examples(cli: Cli, name: str) -> None:
    done = cli(name, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"toolselect {name}" in done.stdout
    assert done.stderr == ""


def test_help_lists_every_command(cli: Cli) -> None:
    done = cli("--help")
    assert done.returncode == 0
    for name in command_names():
        assert f"\n  {name} " in done.stdout


def test_the_readme_lists_every_command() -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8")
    for name in command_names():
        assert f"\n| `toolselect {name}" in readme


def test_version(program: Cli) -> None:
    assert program("--version").stdout.startswith("toolselect ")


def loaded(tmp_path: Path, *args: object) -> set[str]:
    """Top-level modules that a command line loads."""
    code = f"""
import sys
sys.argv = ["toolselect", *{[str(a) for a in args]!r}]
from otel_toolselect.cli import main
try:
    main()
except SystemExit:
    pass
print(*{{m.partition(".")[0] for m in sys.modules}}, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    return set(done.stderr.split())


# typer itself loads pydantic
HEAVY = {"grpc", "chdb", "clickhouse_connect", "pandas", "pyarrow", "starlette", "uvicorn", "numpy", "scipy", "rich"}
HEAVY |= {"google", "ruamel", "opentelemetry", "altair", "apprise", "fastapi", "httpx", "jinja2", "mcp", "sphinx"}


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded(tmp_path, "--help") & HEAVY == set()


def test_events_of_a_file_loads_nothing_heavy(tmp_path: Path) -> None:
    path = _spans.sample(tmp_path)
    for more in ([], ["--format", "json"], ["--runs"]):
        assert loaded(tmp_path, "events", path, *more) & HEAVY == set()


def test_a_schema_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded(tmp_path, "rules", "schema") & HEAVY <= {"ruamel"}  # which reads the rules


def test_events_as_json(cli: Cli, tmp_path: Path) -> None:
    done = cli("events", _spans.sample(tmp_path), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    events = lines(done.stdout)
    calls = [e for e in events if e["kind"] == "tool_call"]
    assert [(c["name"], c["args"]) for c in calls] == [
        ("find", {"q": "order"}),
        ("find", {"q": "A-1"}),
        ("refund", {"id": "A-1"}),
    ]
    assert {(c["emitted"], c["executed"]) for c in calls} == {(True, True)}
    assert [e["value"] for e in events if e["kind"] == "tool_result"] == [{"id": "A-1"}, [], "ok"]
    assert [e["text"] for e in events if e["kind"] == "assistant"][-1] == "Which order do you mean?"


def test_runs_as_json(cli: Cli, tmp_path: Path) -> None:
    done = cli("events", _spans.sample(tmp_path), "--runs", "--format", "json")
    runs = lines(done.stdout)
    assert [r["request"] for r in runs] == ["where is my order?", "refund A-1", "refund it"]
    assert [r["first_action"] for r in runs] == ["find", "find", "ask_followup"]


def test_events_for_people_and_from_stdin(cli: Cli, tmp_path: Path) -> None:
    text = _spans.sample(tmp_path).read_text("utf-8")
    done = cli("events", "-", stdin=text)
    assert "find" in done.stdout
    assert "Which order do you mean?" in done.stdout
    assert "\x1b" not in done.stdout


def test_output_file(cli: Cli, tmp_path: Path) -> None:
    path = _spans.sample(tmp_path)
    done = cli("events", path, "--format", "json", "-o", "out.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.jsonl").read_text("utf-8") == cli("events", path, "--format", "json").stdout
    refused = cli("events", path, "-o", "missing/out.jsonl")
    assert refused.returncode == 4
    assert "cannot write missing/out.jsonl" in refused.stderr


def test_score(cli: Cli, tmp_path: Path) -> None:
    traces, suite = _spans.sample(tmp_path), _spans.suite(tmp_path)
    done = cli("score", traces, "--suite", suite, "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["summary"]["selection"]["passed"], report["summary"]["selection"]["n"]) == (2, 3)
    assert {"expected": "refund", "observed": "find", "n": 1} in report["confusion"]["cells"]
    table = cli("score", traces, "--suite", suite)
    assert table.returncode == 1
    assert "66.7 %  2/3 runs" in table.stdout
    assert "1  wanted refund" in table.stdout


def test_score_is_byte_identical_for_any_order_and_repeats(cli: Cli, tmp_path: Path) -> None:
    traces, suite = _spans.sample(tmp_path), _spans.suite(tmp_path)
    first = cli("score", traces, "--suite", suite, "--format", "json").stdout
    rows = traces.read_text("utf-8").splitlines()
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_text("\n".join([*reversed(rows), *rows]) + "\n", "utf-8")
    assert cli("score", shuffled, "--suite", suite, "--format", "json").stdout == first
    assert cli("score", traces, shuffled, "--suite", suite, "--format", "json").stdout == first


def test_exit_codes(cli: Cli, program: Cli, tmp_path: Path) -> None:
    traces = _spans.sample(tmp_path)
    fine = _spans.suite(tmp_path, _spans.CASES[:1])
    assert program("score", traces, "--suite", fine).returncode == 0
    other = _spans.suite(tmp_path, [{"prompt": "something else", "expected": "find"}])
    nothing = program("score", traces, "--suite", other)
    assert nothing.returncode == 3
    assert "toolselect.case.id" in nothing.stderr
    assert cli("score", traces).returncode == 2
    assert cli("score", "no-such-file.jsonl", "--suite", fine).returncode == 2
    assert cli("nonsense").returncode == 2
    assert cli("doctor", "--store", "clickhouse://127.0.0.1:1").returncode == 4


def test_a_truncated_file_names_file_and_line(cli: Cli, tmp_path: Path) -> None:
    text = _spans.sample(tmp_path).read_text("utf-8")
    (tmp_path / "cut.jsonl").write_text(text[: len(text) // 2], "utf-8")
    done = cli("events", "cut.jsonl")
    assert done.returncode == 2
    assert "cut.jsonl:2" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_format_names_the_right_ones(cli: Cli, tmp_path: Path) -> None:
    done = cli("events", _spans.sample(tmp_path), "--format", "xml")
    assert done.returncode == 2
    assert "table, json" in done.stderr


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    rows = [_spans.agent_trace(i, "x" * 500, "y" * 500) for i in range(1, 400)]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    command = [sys.executable, "-m", "otel_toolselect.cli", "events", str(path), "--format", "json"]
    reading, writing = os.pipe()
    process = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, errors = process.communicate(timeout=60)
    assert errors == b""
    assert process.returncode == 0


def test_a_lone_surrogate_is_written_as_json(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text(_spans.agent_trace(1, "a\ud800b", "c"), "utf-8", errors="surrogatepass")
    done = cli("events", "odd.jsonl", "--runs", "--format", "json")
    if done.returncode == 0:  # the reader may refuse such a file; then nothing is to be written
        assert json.loads(done.stdout)["request"] in ("a\ud800b", "a\ufffdb")


def test_replay_eval_doctor_with_the_embedded_store(cli: Cli, program: Cli, tmp_path: Path) -> None:
    traces, suite = _spans.sample(tmp_path), _spans.suite(tmp_path)
    sent = program("replay", traces)
    assert sent.returncode == 0, sent.stderr
    assert sent.stdout.startswith("11 spans and 0 log records")
    assert cli("replay", traces).returncode == 0
    done = cli("eval", "--suite", suite, "--format", "json")
    assert done.returncode == 1, done.stderr
    assert done.stdout == cli("score", traces, "--suite", suite, "--format", "json").stdout
    assert cli("eval", "--suite", suite, "--format", "json").stdout == done.stdout
    later = program("eval", "--suite", suite, "--since", "2099-01-01")
    assert later.returncode == 3
    found = json.loads(cli("doctor", "--format", "json").stdout)
    assert [(s["service"], s["scope"], s["spans"]) for s in found["scopes"]] == [("shop", "hand.made", 11)]
    assert found == json.loads(cli("doctor", traces, "--format", "json").stdout)


def test_doctor_of_a_store_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    done = cli("doctor")
    assert done.returncode == 4
    assert not (tmp_path / "store").exists()


def test_configuration_mistakes_are_all_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "toolselect.toml").write_text('stor = "x"\n[receive]\ngrpc_port = "nowhere"\nudp = 1\n', "utf-8")
    done = cli("doctor")
    assert done.returncode == 2
    for part in ("toolselect.toml", "stor", "nowhere", "receive.udp"):
        assert part in done.stderr


def test_a_suite_with_five_mistakes_lists_five_positions(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        "suite: x\ncasess: []\npolicy: {tools: {a: {effect: rea}}}\ncases:\n  - id: a\n"
        "    expect: {first: [b], nver: [a]}\n  - id: c\n    prompt: hello\n",
        "utf-8",
    )
    done = cli("score", _spans.sample(tmp_path), "--suite", "bad.yaml")
    assert done.returncode == 2
    first, *positions = done.stderr.splitlines()
    assert first == "toolselect: 5 problems:"
    assert [p.split(": ")[0] for p in positions] == [
        "bad.yaml:2:1",
        "bad.yaml:3:30",
        "bad.yaml:6:22",
        "bad.yaml:6:26",
        "bad.yaml:7:5",
    ]
