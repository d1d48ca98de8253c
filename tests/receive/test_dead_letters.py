"""Dead letters: what is listed, what a retry does, what stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from receive_samples import proto_request, request, span

from otel_toolselect.app import deadletters
from otel_toolselect.config import Limits, Receive, Redact, Settings
from otel_toolselect.errors import StoreError, UsageError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.letters import letters
from otel_toolselect.receive.records import Request


class Store:
    """The part of a store that a retry uses; `refused` are span numbers."""

    def __init__(self, *refused: int, error: StoreError | None = None) -> None:
        self.spans: list[Span] = []
        self.calls = 0
        self._refused = {f"{n:016x}" for n in refused}
        self._error = error or StoreError("bad value", retryable=False)

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        self.calls += 1
        if self._refused & {s.span_id for s in spans}:
            raise self._error
        self.spans += spans

    @property
    def ids(self) -> set[int]:
        return {int(s.span_id, 16) for s in self.spans}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(receive=Receive(spool=str(tmp_path)))


@pytest.fixture
def dead(settings: Settings) -> DeadLetters:
    return DeadLetters(deadletters.folder(settings), 10**6, Counters())


def kept(dead: DeadLetters, *numbers: int) -> None:
    for n in numbers:
        assert dead.keep(Request("traces", "protobuf", proto_request(n)), "why", acknowledged=True, tenant="a")


def retried(store: Store, settings: Settings) -> list[deadletters.Retried]:
    return list(deadletters.retry(deadletters.find(settings), store, settings))  # type: ignore[arg-type]


def test_letters_share_an_insert_and_go(dead: DeadLetters, settings: Settings) -> None:
    kept(dead, *range(1, 30))
    store = Store()
    assert sum(done.spans for done in retried(store, settings)) == 29
    assert (store.calls, store.ids) == (1, set(range(1, 30)))
    assert deadletters.find(settings) == []
    assert list(deadletters.folder(settings).iterdir()) == []


def test_one_that_is_refused_again_stays_and_holds_up_nobody(dead: DeadLetters, settings: Settings) -> None:
    kept(dead, 1, 2, 3)
    store = Store(2)
    (problem,) = (done.problem for done in retried(store, settings) if done.problem)
    assert (str(problem), problem.exit_code) == ("bad value", 4)
    assert store.ids == {1, 3}
    assert [x.tenant for x in deadletters.find(settings)] == ["a"]


def test_nothing_goes_while_the_store_is_away(dead: DeadLetters, settings: Settings) -> None:
    kept(dead, 1, 2)
    with pytest.raises(StoreError, match="away"):
        retried(Store(1, error=StoreError("away")), settings)
    assert len(deadletters.find(settings)) == 2


def test_a_refused_one_passes_the_door_first(dead: DeadLetters, settings: Settings) -> None:
    secret = {"key": "password", "value": {"stringValue": "hunter2"}}
    claim = {"key": "toolselect.tenant", "value": {"stringValue": "somebody-else"}}
    body = request(span(1, attributes=[secret, claim]), span(2))
    assert dead.keep(Request("traces", "json", body), "too many spans", acknowledged=False, tenant="mine")
    (refused,) = retried(store := Store(), with_(settings, limits=Limits(spans=1)))
    assert "over the limit of 1" in str(refused.problem)
    (stored,) = retried(store, with_(settings, redact=Redact(deny=("password",))))
    assert stored.spans == 2
    assert "hunter2" not in repr(store.spans)
    assert {s.resource["toolselect.tenant"] for s in store.spans} == {"mine"}
    assert "somebody-else" not in repr(store.spans)


def with_(settings: Settings, **tables: object) -> Settings:
    return Settings(receive=settings.receive, **tables)  # type: ignore[arg-type]


def test_what_is_no_request_is_listed_and_stays(dead: DeadLetters, settings: Settings) -> None:
    assert dead.keep_torn("0-abcd-12", b"xyz", {"reason": "torn"})
    assert dead.keep_digest(Request("traces", "json", b"{"), "not OTLP", "sha256:1")
    problems = [str(done.problem) for done in retried(Store(), settings)]
    assert "damaged bytes" in problems[0]
    assert "only a digest" in problems[1]
    found = deadletters.find(settings)
    assert [(x.signal, x.size, x.reason) for x in found] == [("", 3, "torn"), ("traces", 1, "not OTLP")]
    for letter in found:
        letter.remove()
    assert list(deadletters.folder(settings).iterdir()) == []


def test_half_a_letter_is_none_and_one_without_a_note_is_listed(dead: DeadLetters, settings: Settings) -> None:
    kept(dead, 1)
    folder = deadletters.folder(settings)
    (folder / "2-2-2.pb.part").write_bytes(b"half")
    (folder / "2-2-2.reason.json").write_text('{"reason": "being written"}')
    (folder / "3-3-3.pb").write_bytes(b"left by somebody")
    (folder / "3-3-3.reason.json").write_text("not JSON")
    assert [x.reason for x in letters(folder)] == ["why", "its reason file is missing or cannot be read"]


def test_ids_may_be_cut_short_as_long_as_they_name_one(dead: DeadLetters, settings: Settings) -> None:
    kept(dead, 1, 2)
    first, second = deadletters.find(settings)
    assert deadletters.find(settings, [second.id]) == [second]
    assert deadletters.find(settings, [first.id, second.id, first.id]) == [first, second]
    with pytest.raises(UsageError, match="begins the ids of 2") as caught:
        deadletters.find(settings, [first.id[:8], "nothing"])
    assert "there is no dead letter nothing" in str(caught.value)


def test_refused_bodies_have_a_limit_that_others_do_not(settings: Settings) -> None:
    counters = Counters()
    dead = DeadLetters(deadletters.folder(settings), 1_000, counters)
    big = Request("traces", "protobuf", b"x" * 900)
    assert dead.keep(big, "why", acknowledged=False)
    assert not dead.keep(big, "why", acknowledged=False)
    assert counters.snapshot()["dead_letters_not_kept"] == 1
    assert dead.keep(big, "why", acknowledged=True)
    for letter in deadletters.find(settings):
        letter.remove()
    assert dead.keep(big, "why", acknowledged=False), "room that somebody made is found"
