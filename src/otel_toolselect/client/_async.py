"""The client for programs with an event loop: `Client` with `await`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import grpc
import grpc.aio

from otel_toolselect.client import _questions as ask
from otel_toolselect.client._channel import Tls, Way
from otel_toolselect.client._failures import failure_of
from otel_toolselect.client._stream import AsyncVerdictStream
from otel_toolselect.model.alerting import Scope
from otel_toolselect.model.answers import Evaluation, LabelOutcome, ServedSuite, Windowed
from otel_toolselect.rpc import decoding
from otel_toolselect.rpc.gen import evaluation_service_pb2 as pb
from otel_toolselect.rpc.gen.confusion_service_pb2_grpc import ConfusionServiceStub
from otel_toolselect.rpc.gen.evaluation_service_pb2_grpc import EvaluationServiceStub
from otel_toolselect.rpc.gen.verdict_service_pb2_grpc import VerdictServiceStub

T = TypeVar("T")


class AsyncClient:
    """As `Client`. Made and used on one event loop."""

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        tls: Tls | bool | None = None,
        plaintext: bool = False,
        timeout_s: float = 30.0,
    ) -> None:
        self._way = Way.to(target, token, tls, plaintext)
        self._timeout_s = timeout_s
        self._channel = self._way.channel(grpc.aio)
        self._evaluation = EvaluationServiceStub(self._channel)
        self._confusion = ConfusionServiceStub(self._channel)
        self._verdicts = VerdictServiceStub(self._channel)

    async def _call(self, method: Callable[..., Awaitable[T]], request: Any) -> T:
        try:
            return await method(request, timeout=self._timeout_s, metadata=self._way.metadata)
        except grpc.aio.AioRpcError as error:
            raise failure_of(error) from error

    async def suites(self) -> tuple[ServedSuite, ...]:
        """The suites and rule files that the server judges by."""
        return decoding.served(await self._call(self._evaluation.ListSuites, pb.ListSuitesRequest()))

    async def evaluate_run(
        self,
        *,
        run_id: str | None = None,
        trace_id: str | None = None,
        suite: str | None = None,
        text: str | None = None,
        file_name: str = "suite.yaml",
    ) -> Evaluation:
        """A stored run, or all of a stored trace, against a suite or rule file of the server or of one's own. Nothing
        is kept.
        """
        held_to = ask.expectations(suite, text, file_name)
        request = pb.EvaluateRunRequest(run=ask.run(run_id, trace_id), expectations=held_to)
        return decoding.evaluation_of((await self._call(self._evaluation.EvaluateRun, request)).evaluation)

    async def evaluate_spans(
        self,
        traces: bytes,
        logs: bytes = b"",
        *,
        suite: str | None = None,
        text: str | None = None,
        file_name: str = "suite.yaml",
    ) -> Evaluation:
        """Spans (a serialized OTLP `TracesData`, and `LogsData`) against a suite or rule file. Nothing is kept."""
        held_to = ask.expectations(suite, text, file_name)
        request = pb.EvaluateSpansRequest(traces_data=traces, logs_data=logs, expectations=held_to)
        return decoding.evaluation_of((await self._call(self._evaluation.EvaluateSpans, request)).evaluation)

    async def evaluate_label(
        self,
        expected: Sequence[str] = (),
        *,
        run_id: str | None = None,
        trace_id: str | None = None,
        strange: bool = False,
        store: bool = False,
        labeller: str = "",
        note: str = "",
    ) -> LabelOutcome:
        """What follows when the first action should have been one of these; without any, when it is just wrong.
        `store` keeps the label (scope `label`). `strange`: names of tools that the run was not offered, too.
        """
        request = ask.label(ask.run(run_id, trace_id), expected, strange, store, labeller, note)
        return decoding.label_outcome(await self._call(self._evaluation.EvaluateLabel, request))

    async def confusion(
        self,
        window: str,
        *,
        slide: str | None = None,
        zone: str = "UTC",
        since_ns: int | None = None,
        until_ns: int | None = None,
        scope: Scope | None = None,
        by: Sequence[str] = (),
    ) -> tuple[Windowed, ...]:
        """The confusion matrix of each window of event time, with rates and intervals: `toolselect confusion --window`.
        Times in nanoseconds since the epoch; without them the last 24 windows.
        """
        request = ask.windows(window, slide, zone, since_ns, until_ns, scope or Scope(), by)
        answer = await self._call(self._confusion.GetConfusion, request)
        return tuple(map(decoding.windowed, answer.windows))

    def stream_verdicts(
        self,
        *,
        cursor: str | None = None,
        from_beginning: bool = False,
        suites: Sequence[str] = (),
        agents: Sequence[str] = (),
        statuses: Sequence[str] = (),
        patience_s: float = 60.0,
    ) -> AsyncVerdictStream:
        """Decisions as they are kept: from a cursor, from the beginning, or from now on."""
        request = ask.stream(cursor, from_beginning, suites, agents, statuses)

        def opened(request: Any) -> Any:
            return self._verdicts.StreamVerdicts(request, metadata=self._way.metadata)

        return AsyncVerdictStream(opened, request, patience_s)

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
