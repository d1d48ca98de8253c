"""Statements that are sent again in place: how often, and what ends it."""

from __future__ import annotations

import threading

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.store import patience
from otel_toolselect.store.patience import ATTEMPTS, patient, patiently


class Failing:
    def __init__(self, times: int, *, retryable: bool = True) -> None:
        self.left = times
        self.calls = 0
        self.retryable = retryable

    @patiently
    def ask(self, answer: str) -> str:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise StoreError("away", retryable=self.retryable)
        return answer


def nothing() -> None:
    pass


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.0)


def test_what_fails_a_few_times_succeeds() -> None:
    store = Failing(ATTEMPTS - 1)
    with patient(threading.Event(), nothing):
        assert store.ask("yes") == "yes"
    assert store.calls == ATTEMPTS


def test_each_time_that_a_statement_is_sent_again_is_told() -> None:
    again: list[int] = []
    store = Failing(2)
    with patient(threading.Event(), lambda: again.append(store.calls)):
        store.ask("yes")
        store.ask("at once")
    assert again == [1, 2]
    store.left = 10**9
    with patient(threading.Event(), lambda: again.append(store.calls)), pytest.raises(StoreError):
        store.ask("never")
    assert len(again) == 2 + ATTEMPTS - 1


def test_a_store_that_stays_away_is_given_up() -> None:
    store = Failing(10**9)
    with patient(threading.Event(), nothing), pytest.raises(StoreError, match="away"):
        store.ask("yes")
    assert store.calls == ATTEMPTS


def test_what_will_never_succeed_is_not_tried_again() -> None:
    store = Failing(1, retryable=False)
    with patient(threading.Event(), nothing), pytest.raises(StoreError):
        store.ask("yes")
    assert store.calls == 1


def test_callers_that_did_not_ask_for_it_hear_of_the_first_failure() -> None:
    store = Failing(1)
    with pytest.raises(StoreError):
        store.ask("yes")
    other = threading.Event()
    with patient(other, nothing):
        pass
    store.left = 1
    with pytest.raises(StoreError):
        store.ask("yes")
    assert store.calls == 2


def test_stopping_ends_a_pause_and_all_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 10**6)
    monkeypatch.setattr(patience, "LONGEST_PAUSE_S", 10**6)
    monkeypatch.setattr(patience, "LONGEST_S", 10**9)
    store, stop, failed = Failing(10**9), threading.Event(), threading.Event()

    def work() -> None:
        try:
            with patient(stop, nothing):
                store.ask("yes")
        except StoreError:
            failed.set()

    thread = threading.Thread(target=work)
    thread.start()
    stop.set()
    assert failed.wait(30)
    thread.join()
    assert store.calls <= 2  # in the pause, or before it
