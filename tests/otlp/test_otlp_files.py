"""Every input path of the command line, and what an error about a file says."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_samples import DATA, SPAN, TRACE, encode, logs, span, traces

from otel_toolselect.errors import DecodeError, InputError, TooLargeError
from otel_toolselect.otlp import Limits, files


def doc(n: int = 0, **options: object) -> bytes:
    return encode(traces(span(spanId=f"{n + 1:016x}")), **options)


def names(*paths: object) -> list[str]:
    return [s.span_id[-2:] for b in files.read([str(p) for p in paths]) for s in b.spans]


def proto_traces(n: int = 0) -> bytes:
    message = ExportTraceServiceRequest()
    group = message.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    group.scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=(n + 1).to_bytes(8, "big"), name="chat")
    return message.SerializeToString()


def proto_logs(**members: object) -> bytes:
    message = ExportLogsServiceRequest()
    record = message.resource_logs.add().scope_logs.add().log_records.add(**members)
    record.body.string_value = "hello"
    return message.SerializeToString()


def framed(*messages: bytes) -> bytes:
    return b"".join(len(m).to_bytes(4, "big") + m for m in messages)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


FORMS = {
    "compact": (doc(), 1),
    "pretty": (doc(indent=2), 1),
    "byte order mark": (b"\xef\xbb\xbf" + doc(), 1),
    "windows line ends": (doc(0) + b"\r\n" + doc(1) + b"\r\n", 2),
    "JSON lines": (doc(0) + b"\n" + doc(1) + b"\n" + doc(2), 3),
    "blank lines between": (b"\n\n" + doc(0) + b"\n\n \n" + doc(1) + b"\n\n", 2),
    "pretty, several": (doc(0, indent=1) + b"\n" + doc(1, indent=1) + b"\n", 2),
    "a list of requests": (b"[" + doc(0) + b",\n" + doc(1) + b"]", 2),
    "lines, then pretty": (doc(0) + b"\n" + doc(1, indent=1), 2),
    "Tempo batches": (encode({"batches": traces(span())["resourceSpans"]}), 1),
    "Tempo trace": (encode({"trace": traces(span())}), 1),
    "metrics beside": (b'{"resourceMetrics": []}\n' + doc(), 1),
    "protobuf": (proto_traces(), 1),
    "collector, framed protobuf": (framed(proto_traces(0), proto_traces(1)), 2),
    "collector, framed JSON": (framed(doc(0), doc(1)), 2),
    "collector, framed zstd": (framed(zstd(doc(0)), zstd(proto_traces(1))), 2),
    "varint-delimited": (b"".join(bytes([len(m)]) + m for m in (proto_traces(0), proto_traces(1))), 2),
}


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd", "gzip members"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_are_told_by_content(tmp_path: Path, form: str, packing: str) -> None:
    body, expected = FORMS[form]
    packed = {
        "plain": lambda: body,
        "gzip": lambda: gzip.compress(body),
        "zstd": lambda: zstd(body),
        "gzip members": lambda: gzip.compress(body[:20]) + gzip.compress(body[20:]),
    }[packing]()
    path = tmp_path / "whatever"
    path.write_bytes(packed)
    assert len(names(path)) == expected


def test_logs_in_both_encodings(tmp_path: Path) -> None:
    for i, body in enumerate(
        [
            encode(logs({"body": {"stringValue": "hello"}})),
            proto_logs(time_unix_nano=5, trace_id=b"\7" * 16, span_id=b"\1" * 8),
            proto_logs(observed_time_unix_nano=5, trace_id=b"\7" * 16),
            proto_logs(severity_number=9),
        ]
    ):
        path = tmp_path / f"{i}"
        path.write_bytes(body)
        (batch,) = files.read([str(path)])
        assert [log.body for log in batch.logs] == ["hello"]
        assert batch.spans == batch.rejected_spans == ()


def test_protobuf_of_an_id_less_span_is_a_rejected_span_not_a_log(tmp_path: Path) -> None:
    message = ExportTraceServiceRequest()
    message.resource_spans.add().scope_spans.add().spans.add(name="chat", start_time_unix_nano=5)
    path = tmp_path / "x.pb"
    path.write_bytes(message.SerializeToString())
    (batch,) = files.read([str(path)])
    assert len(batch.rejected_spans) == 1
    assert batch.logs == ()


def test_a_protobuf_that_looks_like_white_space_and_a_brace(tmp_path: Path) -> None:
    message = ExportTraceServiceRequest()
    group = message.resource_spans.add()
    group.scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    while len(message.SerializeToString()) < 2 + ord("{"):
        group.schema_url += "x"
    body = message.SerializeToString()
    assert body[:2] == b"\n{"
    path = tmp_path / "x"
    path.write_bytes(body)
    assert len(names(path)) == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(doc(0) + b"\n" + doc(1)))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert names("-") == ["01", "02"]


def test_a_folder_is_its_files_in_order_and_only_those(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b" / "1.jsonl.gz").write_bytes(gzip.compress(doc(1)))
    (tmp_path / "a.json").write_bytes(doc(0))
    (tmp_path / "c.pb").write_bytes(proto_traces(2))
    (tmp_path / ".hidden" / "x.json").write_bytes(doc(9))
    (tmp_path / ".x.json").write_bytes(doc(9))
    (tmp_path / "notes.md").write_bytes(b"no trace")
    assert names(tmp_path) == ["01", "02", "03"]


def test_in_a_folder_other_json_is_skipped_and_said_so(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_bytes(b'{"scenarios": {}}')
    (tmp_path / "cases.jsonl").write_bytes(b'{"prompt": "x"}\n{"prompt": "y"}\n')
    (tmp_path / "s1.jsonl").write_bytes(doc())
    warnings = [w for b in files.read([str(tmp_path)]) for w in b.warnings]
    assert names(tmp_path) == ["01"]
    assert [w.split(": ")[0] for w in warnings] == [f"{tmp_path}/cases.jsonl:1", f"{tmp_path}/meta.json:1"]
    # by its own name it is a mistake of the caller
    with pytest.raises(DecodeError, match=r"meta\.json:1: no trace file"):
        names(tmp_path / "meta.json")


def test_an_empty_file_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "s1.logs.jsonl"
    path.write_bytes(b"\n")
    (batch,) = files.read([str(path)])
    assert batch.warnings == (f"{path}: the file is empty",)


ERRORS = {
    "cut short in the last line": (doc(0) + b"\n" + doc(1)[:-9], 2),
    "cut short within a string": (doc(0) + b"\n" + doc(1)[:30], 2),
    "cut short at a comma": (doc(0) + b"\n" + b'{"resourceSpans": [],', 2),
    "pretty, cut short": (doc(0, indent=1)[:-4], doc(0, indent=1)[:-4].rstrip().count(b"\n") + 1),
    "pretty, damaged": (b'{\n"resourceSpans":\n [oops]}', 3),
    "a damaged line between": (doc(0) + b"\n{oops}\n" + doc(1), 2),
    "another kind of document between": (doc(0) + b'\n{"a": 1}\n' + doc(1), 2),
    "two documents in a line": (doc(0) + b"\n" + doc(1) + doc(2), 2),
    "not UTF-8": (doc(0) + b'\n{"\xff": 1}', 2),
    "wrong outer type": (doc(0) + b'\n{"resourceSpans": 5}', 2),
    "gzip cut short": (gzip.compress(b"".join(doc(i) + b"\n" for i in range(2000)))[:-200], None),
    "zstd cut short": (zstd(b"".join(doc(i) + b"\n" for i in range(9)))[:-5], None),
    "gzip damaged": (gzip.compress(doc())[:-8] + bytes(8), 1),
    "protobuf cut short": (proto_traces()[:-3], 1),
    "frame cut short": (framed(proto_traces(0), proto_traces(1))[:-3], 2),
    "frame of another kind": (framed(proto_traces(0), b"{}{}"), 2),
    "frame damaged inside": (framed(zstd(doc(0)), zstd(doc(1))[:-5]), 2),
    "UTF-16": (doc().decode().encode("utf-16"), 1),
    "plain text": (b"hello there", 1),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_name_path_and_line(tmp_path: Path, case: str) -> None:
    body, line = ERRORS[case]
    path = tmp_path / "x.jsonl"
    path.write_bytes(body)
    with pytest.raises(InputError) as caught:
        names(path)
    found, _, number = caught.value.where.rpartition(":")
    assert found == str(path)
    assert int(number) == line if line is not None else int(number) >= 1
    assert str(caught.value).startswith(f"{path}:{number}: ")


def test_what_was_sound_before_the_fault_was_given_out(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(doc(i) + b"\n" for i in range(5000)))[:-100])
    read = 0
    batches = files.read([str(path)])
    with pytest.raises(DecodeError, match="truncated") as caught:  # noqa: PT012 - how far it came is the point
        for _ in batches:
            read += 1
    assert read > 1000
    assert caught.value.where == f"{path}:{read + 1}"


def test_rejections_name_path_and_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(doc() + b"\n" + encode(traces(span(spanId="12"))))
    _, batch = files.read([str(path)])
    assert batch.rejected_spans[0].where.startswith(f"{path}:2: resourceSpans[0]")


@pytest.mark.parametrize("make", ["missing", "empty folder", "folder of others"])
def test_nothing_to_read(tmp_path: Path, make: str) -> None:
    path = tmp_path / "in"
    if make != "missing":
        path.mkdir()
    if make == "folder of others":
        (path / "meta.json").write_bytes(b"{}\n5")
        (path / "meta.json").write_bytes(b'{"a": 1}')
    with pytest.raises(InputError) as caught:
        names(path)
    assert caught.value.where == str(path)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(doc())
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        names(path)


def test_one_document_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for body in (doc(), doc(indent=1), framed(proto_traces()), proto_traces()):
        path.write_bytes(body)
        with pytest.raises(TooLargeError, match=f"^{path}:1: "):
            list(files.read([str(path)], limits=Limits(max_bytes=50)))


def test_json_lines_need_the_memory_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    line = encode(traces(*[span() for _ in range(200)])) + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(line)
    assert len(line) * 200 > 8e6
    tracemalloc.start()
    try:
        assert sum(len(b.spans) for b in files.read([str(path)])) == 40_000
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_reading_json_imports_no_protobuf() -> None:
    code = (
        "import sys; from otel_toolselect.otlp import files; list(files.read(sys.argv[1:]));"
        "print([m for m in ('google.protobuf', 'grpc', 'zstandard', 'starlette') if m in sys.modules])"
    )
    path = DATA / "08-gzip-members-and-bomb/two-members.json.gz"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []


def test_ids_of_all_forms_are_lower_case_hex(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(encode(traces(span(traceId=TRACE.upper(), spanId=SPAN.upper()))))
    (batch,) = files.read([str(path)])
    assert (batch.spans[0].trace_id, batch.spans[0].span_id) == (TRACE, SPAN)
