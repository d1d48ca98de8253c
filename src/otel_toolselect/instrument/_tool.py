"""Tool executions as `execute_tool` spans."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast, overload

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode

from otel_toolselect.instrument._content import as_json, captures

P = ParamSpec("P")
R = TypeVar("R")
_CALL_ID = "call_id"


class ToolRun:
    """The execution in progress: say here what came out of it."""

    def __init__(self, span: Span, capture: bool) -> None:
        self.span = span
        self._capture = capture

    def result(self, value: Any) -> None:
        """Records what the tool returned."""
        if self._capture:
            self.span.set_attribute("gen_ai.tool.call.result", as_json(value))

    def failed(self, error_type: str, message: str = "") -> None:
        """Marks a failure that raises nothing (an error told in the result)."""
        self.span.set_attribute("error.type", error_type)
        self.span.set_status(Status(StatusCode.ERROR, message or error_type))


@contextmanager
def execute_tool(
    name: str,
    arguments: dict[str, Any] | None = None,
    *,
    call_id: str | None = None,
    description: str | None = None,
    kind: str = "function",
    capture: bool | None = None,
) -> Iterator[ToolRun]:
    """One execution of a tool. An exception that leaves the block marks it failed and goes on.

    `call_id`: the id that the model gave the call; it ties the execution to the decision. `kind`: function, extension
    or datastore.
    """
    recording = captures(capture)
    attributes: dict[str, str] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": kind,
    }
    if call_id:
        attributes["gen_ai.tool.call.id"] = call_id
    if description:
        attributes["gen_ai.tool.description"] = description
    if recording and arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = as_json(arguments)
    tracer = trace.get_tracer("otel_toolselect.instrument")
    with tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes) as span:
        try:
            yield ToolRun(span, recording)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__qualname__)
            raise


@overload
def tool(function: Callable[P, R]) -> Callable[P, R]: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, capture: bool | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    capture: bool | None = None,
) -> Any:
    """Makes every call of a function, plain or async, an execution of the tool of that name.

    The arguments are recorded by parameter name. A keyword argument `call_id` that the function itself does not take
    is the model's id of the call and is not passed on.
    """

    def decorate(wrapped: Callable[P, R]) -> Callable[P, R]:
        return _wrapped(wrapped, name or wrapped.__name__, description or inspect.getdoc(wrapped), capture)

    return decorate if function is None else decorate(function)


def _wrapped(function: Callable[P, R], name: str, description: str | None, capture: bool | None) -> Callable[P, R]:
    signature = inspect.signature(function)
    own_call_id = _CALL_ID in signature.parameters

    def opened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call_id = None if own_call_id else kwargs.pop(_CALL_ID, None)
        arguments = _bound(signature, args, kwargs)
        return execute_tool(name, arguments, call_id=call_id, description=description, capture=capture)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            with opened(args, kwargs) as run:
                value = await function(*args, **kwargs)
                run.result(value)
                return value

        return cast("Callable[P, R]", run_async)

    @functools.wraps(function)
    def run_sync(*args: P.args, **kwargs: P.kwargs) -> R:
        with opened(args, kwargs) as run:
            value = function(*args, **kwargs)
            run.result(value)
            return value

    return run_sync


def _bound(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by parameter name; a call that does not fit is left for the function itself to refuse."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return {**kwargs, **({"args": list(args)} if args else {})}
    return {k: v for k, v in bound.items() if k not in ("self", "cls")}
