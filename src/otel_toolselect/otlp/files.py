"""Files to batches: every input path of the command line (design section 8, "Input paths").

Forms, told apart by content and never by name: OTLP/JSON and its kin (see `shapes`), pretty or compact, one
document, several, or one a line; OTLP protobuf, one request, or several behind their lengths; the
Collector's file exporter in each of its formats; all of it plain, gzip or zstd. JSON lines are read one by
one: memory holds one document, whatever the size of the file.

A file that is named must be a trace file. In a folder, a file that is sound JSON but of another kind (a
`meta.json`, a suite) is skipped with a warning; one that is cut short or damaged is an error there too,
since it may be a trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_toolselect.errors import DecodeError, InputError
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import jsontext, shapes
from otel_toolselect.otlp.limits import FILES, Limits
from otel_toolselect.otlp.streams import Reader, expand, opened

_SNIFF = 64 * 1024
_BOM = b"\xef\xbb\xbf"
# a JSON text has no control characters but white space; a protobuf request has others within its first bytes
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r")


def read(paths: Sequence[str], *, limits: Limits = FILES) -> Iterator[Batch]:
    """All documents of all paths in order: "-" is standard input, a folder means its files.

    Raises InputError or DecodeError with "path:line" (for binary forms the number of the message stands for
    the line); batches before the fault were given out already. What was put right or skipped is a warning
    of its batch.
    """
    for path in paths:
        files = expand(path)
        skipped = 0
        for file in files:
            try:
                yield from _read_file(file.path, limits)
            except shapes.UnknownShapeError as error:
                if file.named:
                    raise
                skipped += 1
                yield Batch(warnings=(f"{error.where}: skipped, {error.bare}",))
        if skipped and skipped == len(files):
            raise InputError("the folder holds no trace file", where=path)


def _read_file(path: str, limits: Limits) -> Iterator[Batch]:
    with opened(path) as stream:
        reader = Reader.over(stream, path)
        head = reader.peek(_SNIFF)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DecodeError("this is UTF-16 text; OTLP/JSON is UTF-8", where=reader.where)
        if is_json(head):
            yield from _read_json(reader, limits)
        elif not head.strip():
            yield Batch(warnings=(f"{path}: the file is empty",))
        else:
            from otel_toolselect.otlp import binary  # late: protobuf is loaded for protobuf files only

            yield from binary.read(reader, limits)


def is_json(head: bytes) -> bool:
    """JSON or binary.

    A protobuf request begins with 0x0A, which is white space to JSON: hence the second look.
    """
    first = head.removeprefix(_BOM).lstrip(b" \t\r\n")[:1]
    if first == head[:1]:
        return first in (b"{", b"[", b'"')
    return bool(first) and first in b'{["' and _CONTROLS.isdisjoint(head)


def _read_json(reader: Reader, limits: Limits) -> Iterator[Batch]:
    """One document a line as long as that works; from the first line that is not whole, all the rest as one
    text.
    """
    first = True
    while (line := reader.readline(limits.max_bytes)) is not None:
        if line.isspace() or not line:
            continue
        where = reader.where
        try:
            text = jsontext.as_text(line, where=where)
            document = jsontext.loads(text, where=reader.path, first_line=reader.line)
        except jsontext.CutShortError:
            text = jsontext.as_text(reader.all(limits.max_bytes, line + b"\n"), where=where)
            yield from _read_text(text, reader.path, reader.line, first, limits)
            return
        yield _to_batch(document, where, first, limits)
        first = False


def _read_text(text: str, path: str, line: int, first: bool, limits: Limits) -> Iterator[Batch]:
    """Documents that span lines, one behind the other; `line` is the number of the text's first line."""
    end, at = 0, jsontext.skip_space(text, 0)
    first_line = line
    while at < len(text):
        line += text.count("\n", end, at)
        document, end = jsontext.value_at(text, at, where=path, first_line=first_line)
        yield _to_batch(document, f"{path}:{line}", first, limits)
        first = False
        line += text.count("\n", at, end)
        at = jsontext.skip_space(text, end)


def _to_batch(document: object, where: str, first: bool, limits: Limits) -> Batch:
    try:
        return shapes.to_batch(document, where=where, limits=limits)
    except shapes.UnknownShapeError as error:
        if first:
            raise
        # behind a good document it is no file of another kind, it is damage
        raise DecodeError(error.bare, where=where) from None
