"""Servers that are stopped, started again, protected, or short of room; health."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
import trustme

from otel_toolselect.app.serving import Serving
from otel_toolselect.client import Client, RefusedError, ServerAwayError, Tls
from otel_toolselect.config import Live, Receive, Rpc
from otel_toolselect.errors import EnvironmentProblem, InputError, NotFoundError, OverloadError, UsageError
from otel_toolselect.model.answers import Streamed
from otel_toolselect.rpc.service import NAMES
from tests.rpc import traffic
from tests.rpc.traffic import client, trace_id


def kept_of_shop(running: Serving) -> list[tuple[int, str]]:
    return sorted(
        (kept.version, kept.decision.run_id)
        for kept in running.store.judged_since().kept
        if kept.decision.suite == "shop"
    )


def test_a_stream_goes_on_after_a_restart_without_loss_or_repeat(tmp_path: Path) -> None:
    """What the second process judges once more is told once more, as it was kept once more."""
    settings = traffic.settings_in(tmp_path)
    found: list[Streamed] = []
    with traffic.server(settings) as running:
        port = running.receiver.grpc_port
        asking = client(running, "all")
        stream = asking.stream_verdicts(from_beginning=True, suites=["shop"], patience_s=300.0)
        reader = threading.Thread(target=lambda: [found.append(item) for item in stream])
        reader.start()
        traffic.send(running, "send-a", *map(traffic.where, range(1, 6)))
        assert traffic.eventually(lambda: len(found) >= 5)
    with traffic.server(replace(settings, receive=replace(settings.receive, grpc_port=port))) as again:
        traffic.send(again, "send-b", *map(traffic.where, range(6, 11)))
        assert traffic.eventually(lambda: len({item.decision.run_id for item in found}) == 10)
        everything = kept_of_shop(again)
        assert traffic.eventually(lambda: len(found) >= len(everything))
        stream.close()
        reader.join(60)
        asking.close()
    assert sorted((item.kept_ns, item.decision.run_id) for item in found) == everything


class Wire:
    """Stands between a client and a server, and can be cut."""

    def __init__(self, target: str) -> None:
        self._target = (target.rpartition(":")[0], int(target.rpartition(":")[2]))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    def _copy(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                other.sendall(data)

    def cut(self) -> None:
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()


def test_a_stream_goes_on_after_its_connection_was_cut(tmp_path: Path) -> None:
    with traffic.server(traffic.settings_in(tmp_path)) as running, closing(Wire(running.grpc)) as wire:
        found: list[Streamed] = []
        with Client(wire.address, token=traffic.token("all")) as asking:
            stream = asking.stream_verdicts(from_beginning=True, suites=["shop"], patience_s=300.0)
            reader = threading.Thread(target=lambda: [found.append(item) for item in stream])
            reader.start()
            for start in (1, 4, 7):
                traffic.send(running, "send-a", *map(traffic.where, range(start, start + 3)))
                assert traffic.eventually(lambda start=start: len(found) >= start + 1)  # perhaps within a message
                wire.cut()
            assert traffic.eventually(lambda: len({item.decision.run_id for item in found}) == 9)
            stream.close()
            reader.join(60)
        assert sorted((item.kept_ns, item.decision.run_id) for item in found) == kept_of_shop(running)


def test_streams_are_counted_and_a_closed_one_gives_its_place_back(tmp_path: Path) -> None:
    with traffic.server(traffic.settings_in(tmp_path, rpc=Rpc(streams=1))) as running, client(running) as asking:
        traffic.send(running, "send-a", traffic.where(1))
        with asking.stream_verdicts(from_beginning=True) as one:
            next(one)
            shown = running.receiver.metrics.render()[0].decode()
            assert "toolselect_rpc_streams 1.0" in shown
            assert float(re.findall(r'rpc_answers_total{outcome="done",work="stream"} (\S+)', shown)[0]) >= 1
            with pytest.raises(OverloadError, match="1 streams of verdicts are open") as caught:
                next(asking.stream_verdicts(from_beginning=True, patience_s=0.0))
            assert caught.value.retry_after_s == 5.0
        assert traffic.eventually(lambda: next(asking.stream_verdicts(from_beginning=True, patience_s=0.0)) is not None)


def test_a_stream_ends_after_a_while_and_begins_again_and_a_stop_ends_it_for_good(tmp_path: Path) -> None:
    said: list[BaseException] = []
    short = replace(traffic.QUICK, life=0.1)
    with traffic.server(traffic.settings_in(tmp_path), short) as running:
        asking = client(running)
        stream = asking.stream_verdicts(from_beginning=True, suites=["shop"], patience_s=0.0)
        traffic.send(running, "send-a", traffic.where(1))
        assert next(stream).decision.trace_id == trace_id(1)
        traffic.send(running, "send-a", traffic.where(2))
        assert next(stream).decision.trace_id == trace_id(2)

        def read() -> None:
            try:
                list(stream)
            except EnvironmentProblem as error:
                said.append(error)

        reader = threading.Thread(target=read)
        reader.start()
    reader.join(60)
    asking.close()
    assert [type(error) for error in said] == [ServerAwayError]


def test_without_the_services_nobody_knows_them(tmp_path: Path) -> None:
    with traffic.server(traffic.settings_in(tmp_path, rpc=Rpc(on=False))) as running, client(running) as asking:
        with pytest.raises(EnvironmentProblem, match="UNIMPLEMENTED"):
            asking.suites()
        with grpc.insecure_channel(running.grpc) as channel, pytest.raises(grpc.RpcError, match="NOT_FOUND"):
            traffic.health(channel, NAMES[0])


def test_a_run_that_is_not_kept_yet_takes_no_label(tmp_path: Path) -> None:
    with traffic.server(traffic.settings_in(tmp_path, live=Live())) as unjudged:
        traffic.send(unjudged, "send-a", traffic.where(1))
        with client(unjudged, "boss") as boss:
            assert boss.suites() == ()
            assert boss.evaluate_label(["find"], trace_id=trace_id(1)).accepts
            with pytest.raises(NotFoundError, match="runs are kept once they are judged"):
                boss.evaluate_label(["find"], trace_id=trace_id(1), store=True, labeller="x")
            with pytest.raises(NotFoundError, match="none: `serve` was started without"):
                boss.evaluate_run(trace_id=trace_id(1), suite="shop")


def test_tls_and_certificates_of_clients(tmp_path: Path) -> None:
    authority = trustme.CA()
    mine, theirs = authority.issue_cert("localhost", "127.0.0.1"), authority.issue_cert("agent")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    for name, issued in (("server", mine), ("client", theirs)):
        issued.private_key_pem.write_to_path(str(tmp_path / f"{name}.key"))
        issued.cert_chain_pems[0].write_to_path(str(tmp_path / f"{name}.pem"))
    tokens = traffic.write_tokens(tmp_path / "with-certificate.toml")
    tokens.write_text(tokens.read_text() + '[[token]]\nname = "viewer"\ncertificate = "agent"\nscopes = ["read"]\n')
    receive = Receive(
        grpc_port=0,
        http_port=0,
        tokens=str(tokens),
        tls_cert=str(tmp_path / "server.pem"),
        tls_key=str(tmp_path / "server.key"),
        tls_client_ca=str(tmp_path / "ca.pem"),
    )
    with traffic.server(traffic.settings_in(tmp_path, receive=receive)) as running:
        shown = Tls(tmp_path / "ca.pem", tmp_path / "client.pem", tmp_path / "client.key")
        with client(running, "a", tls=shown) as asking:
            assert [suite.name for suite in asking.suites()] == ["shop", "guard"]
        with client(running, None, tls=shown) as asking:  # known by its certificate alone
            assert len(asking.suites()) == 2
        with client(running, "nobody", tls=shown) as asking, pytest.raises(RefusedError):
            asking.suites()
        unshown = Tls(tmp_path / "ca.pem")  # no certificate: no connection
        with client(running, "a", tls=unshown, timeout_s=10.0) as asking, pytest.raises(EnvironmentProblem):
            asking.suites()


def test_tokens_do_not_travel_in_plain_text_unless_asked() -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        Client("collector.example:4317", token="t")
    Client("collector.example:4317", token="t", plaintext=True).close()
    Client("https://collector.example:4317", token="t").close()
    Client("http://[::1]:4317", token="t").close()
    with pytest.raises(UsageError, match="host:port"):
        Client("ftp://x", token="t")
    with pytest.raises(InputError, match=r"nothing\.pem"):
        Client("x:1", tls=Tls(ca="nothing.pem"))
    with Client("127.0.0.1:1", timeout_s=30.0) as nobody, pytest.raises(ServerAwayError):
        nobody.suites()
