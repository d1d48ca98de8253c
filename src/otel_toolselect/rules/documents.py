"""Other YAML files of the product (baselines, gate policies), read as carefully as suites: bounded, scalars keep their
text, every mistake with file, line and column. `gates` reads through this module, so that YAML stays in `rules`.
"""

from __future__ import annotations

from pathlib import Path

from otel_toolselect.errors import InputError, SuiteError
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of, plain_value
from otel_toolselect.rules._nodes import to_json as json_value
from otel_toolselect.rules._yaml import MAX_BYTES, read_yaml
from otel_toolselect.rules.problems import Problems, suggest

__all__ = [
    "Fields",
    "Items",
    "Node",
    "Problems",
    "Scalar",
    "clip",
    "json_value",
    "kind_of",
    "plain_value",
    "read_document",
    "suggest",
]


def read_document(path: str) -> tuple[Node, Problems]:
    """The one value of a YAML file, and where to note further problems. Raises InputError, SuiteError."""
    try:
        size = Path(path).stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{size:,} bytes, at most {MAX_BYTES:,} are read", where=path)
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", where=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path) from error
    return parse_document(text, path)


def parse_document(text: str, path: str) -> tuple[Node, Problems]:
    """The same from a text."""
    problems = Problems(path)
    root = read_yaml(text.removeprefix("\ufeff"), problems)
    if root is None and not problems.found:
        problems.at(1, 1, "the file is empty")
    if root is None or problems.found:
        raise SuiteError(problems.found)
    return root, problems
