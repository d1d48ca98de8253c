"""VerdictService over real gRPC: from the beginning, from now, from a cursor; filters; who sees what; who may."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_toolselect.client import AsyncClient, RefusedError
from otel_toolselect.errors import InputError, UsageError
from tests.rpc import traffic
from tests.rpc.traffic import client, token, trace_id


def first(running, count, name="all", **asked):
    with client(running, name) as asking, asking.stream_verdicts(**{"from_beginning": True} | asked) as stream:
        return [next(stream) for _ in range(count)]


def keys(items) -> set[tuple[str, str]]:
    return {(item.decision.suite, item.decision.trace_id) for item in items}


def test_everything_that_was_decided_each_once(running) -> None:
    found = first(running, 6)
    assert keys(found) == {(suite, trace_id(i)) for suite in ("shop", "guard") for i in (1, 2, 3)}
    kept = list(running.store.decisions())
    assert all(item.decision in kept for item in found)
    assert [item.kept_ns for item in found] == sorted(item.kept_ns for item in found)


def test_each_tenant_its_own(running) -> None:
    assert {item.decision.trace_id for item in first(running, 4, "a")} == {trace_id(1), trace_id(2)}
    assert {item.decision.trace_id for item in first(running, 2, "b")} == {trace_id(3)}
    traffic.send(running, "send-a", traffic.where(11))
    traffic.send(running, "send-b", traffic.where(12))
    assert keys(first(running, 8, "all"))  # both are judged
    # the next that each sees is its own, not the other's
    assert {item.decision.trace_id for item in first(running, 6, "a")} == {trace_id(i) for i in (1, 2, 11)}
    assert {item.decision.trace_id for item in first(running, 4, "b")} == {trace_id(i) for i in (3, 12)}


def test_filters(running) -> None:
    failed = first(running, 2, statuses=["fail"])
    assert {(i.decision.suite, i.decision.trace_id) for i in failed} == {("guard", trace_id(2)), ("shop", trace_id(3))}
    assert keys(first(running, 1, suites=["guard"], statuses=["fail"])) == {("guard", trace_id(2))}
    plain = first(running, 3, suites=[""])
    assert {(i.decision.suite, i.decision.rule) for i in plain} == {("", "")}
    assert first(running, 1, agents=["shop"])[0].decision.agent == "shop"


def test_from_now_on_tells_nothing_old(running) -> None:
    with client(running, "all") as asking, asking.stream_verdicts(suites=["shop"]) as stream:
        found: list[str] = []
        reader = threading.Thread(target=lambda: found.append(next(stream).decision.trace_id))
        reader.start()
        assert traffic.eventually(lambda: stream.cursor != "")  # it has begun
        traffic.send(running, "send-a", traffic.where(21))
        reader.join(60)
    assert found == [trace_id(21)]


def test_from_each_place_it_goes_on_with_the_next(running) -> None:
    everything = first(running, 6)
    for i, item in enumerate(everything[:-1]):
        assert first(running, 1, cursor=item.cursor)[0] == everything[i + 1]


def test_closing_from_another_thread_ends_the_loop(running) -> None:
    with client(running, "all") as asking:
        stream = asking.stream_verdicts()
        ended = threading.Event()

        def read() -> None:
            list(stream)
            ended.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert traffic.eventually(lambda: stream.cursor != "")
        stream.close()
        assert ended.wait(60)
        reader.join()


@pytest.mark.parametrize("cursor", ["x", "~", "AAAA", "eJyLNtCJjo0FAAXwAc0~e30", "\u00fc", "a" * 70_000])
def test_a_cursor_that_is_none(running, cursor) -> None:
    with pytest.raises(InputError, match="cursor"):
        first(running, 1, cursor=cursor)


def test_who_may_not(running) -> None:
    for name in (None, "nobody", "send-a"):
        with pytest.raises(RefusedError):
            first(running, 1, name)
    with client(running, "a") as asking:
        with pytest.raises(UsageError, match="'bad' is none of pass"):
            asking.stream_verdicts(statuses=["bad"])
        with pytest.raises(InputError, match="suites: more than"):
            next(asking.stream_verdicts(suites=[str(i) for i in range(2_000)]))


def test_the_same_with_an_event_loop(running) -> None:
    async def ask():
        async with AsyncClient(running.grpc, token=token("a"), timeout_s=120.0) as asking:
            suites = await asking.suites()
            evaluation = await asking.evaluate_run(trace_id=trace_id(1), suite="shop")
            given = await asking.evaluate_spans(traffic.message(traffic.where(1)), suite="shop")
            label = await asking.evaluate_label(["find"], trace_id=trace_id(1))
            windows = await asking.confusion("1d", **traffic.window())
            async with asking.stream_verdicts(from_beginning=True) as stream:
                items = [await anext(stream) for _ in range(4)]
            with pytest.raises(InputError):
                await asking.confusion("x")
            return suites, evaluation, given, label, windows, items, stream.cursor

    suites, evaluation, given, label, windows, items, cursor = asyncio.run(ask())
    with client(running, "a") as asking:
        assert suites == asking.suites()
        assert evaluation == asking.evaluate_run(trace_id=trace_id(1), suite="shop") == given
        assert label == asking.evaluate_label(["find"], trace_id=trace_id(1))
        assert windows == asking.confusion("1d", **traffic.window())
    assert items == first(running, 4, "a")
    assert cursor == items[-1].cursor


def test_a_stream_ends_with_its_token(running) -> None:
    tokens = running.spool.parents[1] / "tokens.toml"
    before = tokens.read_text("utf-8")
    with client(running, "a") as asking, asking.stream_verdicts(from_beginning=True) as stream:
        next(stream)
        tokens.write_text(before.replace(token("a"), "another-token-0123456789"), "utf-8")
        try:
            with pytest.raises(RefusedError):
                for _ in stream:
                    pass
        finally:
            tokens.write_text(before, "utf-8")
