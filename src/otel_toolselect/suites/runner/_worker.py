"""A worker of `--callable`: calls the function once per line, under the context of its attempt.

Run as a file, by the interpreter of the agent's environment: of this package it loads one file, `instrument/_case.py`,
and OpenTelemetry where the agent has it. The last argument is `package.module:function`.

Requests and replies are JSON lines on the standard pipes as they were at the start; afterwards standard output is
standard error, so that the agent may print. `TOOLSELECT_*` in the environment name the attempt under way.

The tracer provider is the agent's own; when it has set none, one that exports to `OTEL_EXPORTER_OTLP_ENDPOINT`. Either
way spans name their case, and are flushed before the reply.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FLUSH_MS = 30_000


def main() -> None:
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def reply(value: dict[str, Any]) -> None:
        replies.write(json.dumps(value, default=str).encode("utf-8", "backslashreplace") + b"\n")
        replies.flush()

    sys.path.insert(0, str(Path.cwd()))
    try:
        function = _function(sys.argv[-1])
    except (ImportError, AttributeError) as error:
        reply({"error": f"{type(error).__name__}: {error}"})
        return
    tracing = Tracing()
    reply({"ready": True})
    loop = asyncio.new_event_loop()
    for line in requests:
        request = json.loads(line)
        os.environ.update(request["environment"])
        answer = _answer(function, request, tracing, loop)
        answer["flushed"] = tracing.flush()
        reply(answer)


def _function(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise AttributeError(f"{where} is not callable")
    return found  # type: ignore[no-any-return]


def _answer(
    function: Callable[..., Any], request: dict[str, Any], tracing: Tracing, loop: asyncio.AbstractEventLoop
) -> dict[str, Any]:
    token = tracing.attach(request["headers"])
    try:
        value = function(request["prompt"], **_wanted(function, request))
        if inspect.isawaitable(value):
            value = loop.run_until_complete(_awaited(value))
        return {"value": _plain(value)}
    except Exception as error:  # noqa: BLE001  the agent's failure is an outcome
        return {"error": {"type": type(error).__name__, "message": str(error)[:2000]}}
    finally:
        tracing.detach(token)


async def _awaited(value: Any) -> Any:
    return await value


def _wanted(function: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
    """What the function asks for by name beside the prompt."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {name: request[name] for name in ("case_id", "attempt") if name in parameters}


def _plain(value: Any) -> Any:
    """Pydantic models, dataclasses and the like as plain data; the rest as text."""
    if isinstance(value, (dict, list, str, type(None))):
        return value
    method = getattr(value, "model_dump", None)
    if callable(method):
        return method()
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


class Tracing:
    """OpenTelemetry as far as the agent's environment has it; without it nothing happens here."""

    def __init__(self) -> None:
        self._provider: Any = None
        try:
            from opentelemetry import context, propagate, trace
        except ImportError:
            self._context: Any = None
            return
        self._context, self._propagate = context, propagate
        provider: Any = trace.get_tracer_provider()
        provider = getattr(provider, "_real_provider", None) or provider
        if not hasattr(provider, "add_span_processor"):
            provider = _provider()
            if provider is None:
                return
            trace.set_tracer_provider(provider)
        self._provider = provider
        provider.add_span_processor(_case_module().CaseSpanProcessor())

    def attach(self, headers: dict[str, str]) -> Any:
        return self._context.attach(self._propagate.extract(headers)) if self._context is not None else None

    def detach(self, token: Any) -> None:
        if token is not None:
            self._context.detach(token)

    def flush(self) -> bool:
        """Whether all spans have left; also where there is nothing that could send any."""
        flush = getattr(self._provider, "force_flush", None)
        return bool(flush(_FLUSH_MS)) if callable(flush) else True


def _provider() -> Any:
    """A provider with an exporter to the receiver; None where SDK or exporter are not installed."""
    try:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return None
    spoken = "grpc" if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" else "http"
    try:
        exporters: Any = importlib.import_module(f"opentelemetry.exporter.otlp.proto.{spoken}.trace_exporter")
    except ImportError:
        return None
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporters.OTLPSpanExporter()))
    return provider


def _case_module() -> Any:
    """`otel_toolselect.instrument._case` by its file: the package itself may not be installed here."""
    path = Path(__file__).parents[2] / "instrument" / "_case.py"
    spec = importlib.util.spec_from_file_location("_toolselect_case", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
