"""Delivery: order, retries, what is refused, what a stop leaves for the next start; routing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from otel_toolselect.config import NotifyTarget
from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.model.alerting import Matcher, Notification
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.routing import Route, receivers, route_to
from otel_toolselect.store.alert_api import Sending
from tests.monitor.running import Recorder
from tests.store.builders import T0

AWAY, REFUSED = NotifyError("away", retryable=True, retry_after_s=0), NotifyError("refused", retryable=False)
WAIT_S = 30


def notification(number: int, **fields: object) -> Notification:
    plain = Notification(
        key=f"k{number}", alert="wrong", series=(), change=number, kind="fire", at_ns=T0 + number, since_ns=T0,
        start_ns=T0, end_ns=T0, signal="wrong_tool", unit="share", value=0.5, numerator=1, n=2, says="too many",
    )  # fmt: skip
    return replace(plain, **fields)  # type: ignore[arg-type]


class Post:
    """A delivery, and what it has settled so far."""

    def __init__(self, *notifiers: Recorder, give_up_s: float = 600) -> None:
        self._news = threading.Condition()
        self.delivery = Delivery(notifiers, give_up_s=give_up_s, first_pause_s=0.001, on_settled=self._settled)
        self.found: list[Sending] = []

    def _settled(self) -> None:
        with self._news:
            self.found += self.delivery.collect()
            self._news.notify_all()

    def send(self, receiver: str, *notifications: Notification) -> None:
        for n in notifications:
            self.delivery.submit(n, receiver)

    def settled(self, count: int) -> list[tuple[str, str, str]]:
        """(key, receiver, outcome) once there are so many."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.found) >= count, WAIT_S), self.found
            return sorted((s.key, s.receiver, s.outcome) for s in self.found)


@pytest.fixture
def posts() -> Iterator[list[Post]]:
    made: list[Post] = []
    yield made
    for post in made:
        post.delivery.close()


def test_what_fails_is_tried_again_in_order(posts: list[Post]) -> None:
    hook = Recorder(failures=[AWAY, AWAY, AWAY])
    posts.append(post := Post(hook))
    post.send("hook", notification(1), notification(2), notification(1))
    assert post.settled(2) == [("k1", "hook", "delivered"), ("k2", "hook", "delivered")]
    assert [n.key for n in hook.sent] == ["k1", "k2"]
    assert post.found[0].attempts == 4


def test_a_batch_that_is_refused_costs_only_the_bad_one(posts: list[Post]) -> None:
    class Picky(Recorder):
        def send(self, notifications: Sequence[Notification]) -> None:
            if any(n.key == "k2" for n in notifications):
                raise REFUSED
            super().send(notifications)

    hold, hook = threading.Event(), Picky()
    original = hook.send
    hook.send = lambda notifications: (hold.wait(WAIT_S), original(notifications))[1]  # type: ignore[method-assign]
    posts.append(post := Post(hook))
    post.send("hook", *map(notification, range(1, 5)))
    hold.set()
    outcomes = {key: outcome for key, _, outcome in post.settled(4)}
    assert outcomes == {"k1": "delivered", "k2": "dead", "k3": "delivered", "k4": "delivered"}
    assert [s.error for s in post.found if s.outcome == "dead"] == ["refused"]
    assert [n.key for n in hook.sent] == ["k1", "k3", "k4"]


def test_what_was_taken_of_a_batch_is_not_sent_again(posts: list[Post]) -> None:
    partly = NotifyError("too many", retryable=True, retry_after_s=0, delivered=["k1"])
    hook = Recorder(failures=[partly])
    posts.append(post := Post(hook))
    with post.delivery._workers["hook"]._condition:  # so that both are one batch
        post.delivery._workers["hook"]._waiting.extend([notification(1), notification(2)])
        post.delivery._workers["hook"]._condition.notify()
    assert post.settled(2) == [("k1", "hook", "delivered"), ("k2", "hook", "delivered")]
    assert hook.attempts == [["k1", "k2"], ["k2"]]


def test_one_receiver_that_is_away_does_not_delay_another(posts: list[Post]) -> None:
    away, hook = Recorder("mail", failures=[NotifyError("away", retryable=True)] * 10**4), Recorder()
    posts.append(post := Post(away, hook))
    post.send("mail", notification(1))
    post.send("hook", notification(1))
    assert post.settled(1) == [("k1", "hook", "delivered")]


def test_after_too_long_it_is_dead(posts: list[Post]) -> None:
    hook = Recorder(failures=[AWAY] * 10**4)
    posts.append(post := Post(hook, give_up_s=0.01))
    post.send("hook", notification(1))
    assert post.settled(1) == [("k1", "hook", "dead")]


def test_a_stop_leaves_what_is_not_delivered_to_the_next_start() -> None:
    tried = threading.Event()

    class Away(Recorder):
        def send(self, notifications: Sequence[Notification]) -> None:
            tried.set()
            raise NotifyError("away", retryable=True, retry_after_s=300)

    hook = Away()
    post = Post(hook)
    post.send("hook", notification(1))
    assert tried.wait(WAIT_S)
    post.delivery.close()
    assert post.found == []
    assert hook.closed


def test_a_notifier_that_breaks_its_word_does_not_end_the_delivery(
    posts: list[Post], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Recorder):
        def send(self, notifications: Sequence[Notification]) -> None:
            if not self.attempts:
                self.attempts.append([])
                raise KeyError("secret")
            super().send(notifications)

    hook = Broken()
    posts.append(post := Post(hook))
    post.send("hook", notification(1))
    assert post.settled(1) == [("k1", "hook", "dead")]
    assert post.found[0].error == "KeyError"
    post.send("hook", notification(2))
    assert post.settled(2)[1] == ("k2", "hook", "delivered")


def test_what_stands_is_repeated_to_those_who_forget(posts: list[Post]) -> None:
    repeated = threading.Event()
    seen: list[list[str]] = []

    class Forgetful(Recorder):
        refresh_s = 0.001

        def refresh(self, standing: Sequence[Notification]) -> None:
            seen.append([n.key for n in standing])
            if len(seen) > 2:
                repeated.set()
            raise NotifyError("away", retryable=True)

    posts.append(post := Post(Forgetful()))
    post.delivery.stand({"hook": [notification(1)]})
    assert repeated.wait(WAIT_S)
    assert seen[:2] == [["k1"], ["k1"]]


@pytest.mark.parametrize(
    ("route", "fits"),
    [
        (Route("x"), True),
        (Route("x", severity=("critical", "warning")), True),
        (Route("x", severity=("critical",)), False),
        (Route("x", owner=("ann",)), True),
        (Route("x", owner=("bob",)), False),
        (Route("x", labels=(Matcher("tool", equals="refund"), Matcher("team", pattern="^a"))), True),
        (Route("x", labels=(Matcher("tool", equals="refun"),)), False),
        (Route("x", severity=("warning",), labels=(Matcher("none", equals="x"),)), False),
    ],
)
def test_routes(route: Route, fits: bool) -> None:
    told = notification(1, owner="ann", labels={"tool": "refund", "team": "a1"})
    assert receivers([route, Route("all")], told) == (("x", "all") if fits else ("all",))


def test_routes_of_the_settings() -> None:
    made = route_to(NotifyTarget("x", "webhook", labels=(("tool", "/a|b/"), ("team", "a/b"))))
    assert made.labels == (Matcher("tool", pattern="a|b"), Matcher("team", equals="a/b"))
    with pytest.raises(UsageError, match=r"x: the pattern of label tool"):
        route_to(NotifyTarget("x", "webhook", labels=(("tool", "/(?=a)/"),)))
