"""The running product through kills, full disks and stores that hang; its dead letters from the command line."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import trustme

from otel_toolselect.receive.letters import letters
from tests.faults.kills import run
from tests.faults.load import Load, request
from tests.faults.server import Server

WAIT_S = 30.0


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that another process brings about."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@contextlib.contextmanager
def started(server: Server) -> Iterator[Server]:
    try:
        server.start()
        yield server
    finally:
        server.kill()


def send(server: Server, body: bytes) -> int:
    answer = httpx.post(f"{server.http}/v1/traces", content=body, headers={"content-type": "application/x-protobuf"})
    return answer.status_code


def test_kills_at_random_moments_with_a_failing_store_and_torn_segments(tmp_path: Path) -> None:
    done = run(tmp_path, 2, seed=3, torn=True, failing_store=0.3)
    assert done.problems == ()
    assert done.acknowledged > 0


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[bool], None]]:
    """A file system of 4 MiB at the folder, and what fills it or frees it again. Where none may be mounted, the file
    layer of the server says that its disk is full instead (see `child`).
    """
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    mounted = mount is not None and os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield (lambda full: _fill(folder / "ballast", full)) if mounted else (lambda full: _flag(folder, full))
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _fill(ballast: Path, full: bool) -> None:
    if not full:
        ballast.unlink()
        return
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        for size in (65_536, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


def _flag(folder: Path, full: bool) -> None:
    flag = folder.with_name("full")
    flag.touch() if full else flag.unlink()


def test_a_full_disk_is_told_to_senders_and_recovers_by_itself(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as fill:
        spool = tmp_path / "disk" / "spool"
        server = Server(tmp_path, spool=spool, FAULT_DISK=str(tmp_path / "full"))
        load = Load(lambda: server.grpc)
        with started(server), load.running():
            load.wait_for_more(50)
            fill(True)
            until(lambda: "RESOURCE_EXHAUSTED" in load.refused)
            fill(False)
            load.wait_for_more(200)
            load.finish()
            server.stop()
        assert load.refused == {"RESOURCE_EXHAUSTED"}
        assert server.stored().check(load.acknowledged) == []
        assert not list(spool.glob("*.seg"))


def test_a_store_that_hangs_stops_neither_acknowledgements_nor_the_end(tmp_path: Path) -> None:
    for name in ("store", "receiver"):
        (tmp_path / name).mkdir()
    holder = Server(tmp_path / "store")
    with started(holder):
        lent = json.loads((tmp_path / "store" / "store" / "toolselect-serve.json").read_text())
        dsn = f"clickhouse://any:{lent['token']}@{lent['url'].removeprefix('http://')}/away"
        server = Server(tmp_path / "receiver", store=dsn, spool=tmp_path / "spool", TOOLSELECT_SPOOL_STOP_S="1")
        load = Load(lambda: server.grpc)
        with load.running():
            with started(server):
                load.wait_for_more(50)
                holder.signal(signal.SIGSTOP)
                load.wait_for_more(500)
                load.finish()
                server.stop()
            assert list((tmp_path / "spool").glob("*.seg"))
            holder.signal(signal.SIGCONT)
        with started(server):
            server.stop()
        assert not list((tmp_path / "spool").glob("*.seg"))
        assert server.stored().check(load.acknowledged) == []


def test_dead_letters_of_a_running_server(tmp_path: Path) -> None:
    server = Server(tmp_path, FAULT_REFUSE="poison")
    fine, poison = request([1], 10**18), [request([n], 10**18, name="poison") for n in (2, 3, 4)]

    def listed() -> list[dict[str, object]]:
        done = server.run("dead-letter", "list", "--format", "json")
        assert done.returncode == 0, done.stderr
        found: list[dict[str, object]] = json.loads(done.stdout)
        return found

    with started(server):
        assert [send(server, body) for body in (fine, *poison, b"\xff\xff")] == [200, 200, 200, 200, 400]
        until(lambda: len(list(letters(server.spool / "dead-letter"))) == 4)
        by_size = sorted(listed(), key=lambda x: (x["acknowledged"], x["id"]))
        refused, *kept = by_size
        assert (refused["signal"], refused["bytes"], refused["acknowledged"]) == ("traces", 2, False)
        assert [(x["bytes"], x["reason"]) for x in kept] == [
            (len(body), "the store refused it: it does not like this") for body in poison
        ]
        table = server.run("dead-letter", "list").stdout
        assert str(kept[0]["id"]) in table
        assert "it does not like this" in table

        first = server.run("dead-letter", "retry", str(kept[0]["id"]))
        assert (first.returncode, "through the running server" in first.stderr) == (0, True)
        assert first.stdout == "1 of 1 dead letters are in the store: 1 spans and 0 log records\n"
        rest = server.run("dead-letter", "retry")
        assert rest.returncode == 2
        assert rest.stdout.startswith("2 of 3 dead letters are in the store")
        assert f"stays: {refused['id']}: " in rest.stderr
        assert [x.id for x in letters(server.spool / "dead-letter")] == [refused["id"]]

        unsure = server.run("dead-letter", "drop")
        assert (unsure.returncode, "--yes" in unsure.stderr) == (2, True)
        assert server.run("dead-letter", "drop", "nothing-like-it", "--yes").returncode == 2
        assert server.run("dead-letter", "drop", str(refused["id"])[:12], "--yes").returncode == 0
        assert server.run("dead-letter", "list").stdout == "no dead letters\n"
        server.stop()
    assert sorted(server.stored().ids) == [f"{n:016x}" for n in (1, 2, 3, 4)]


def test_letters_stay_while_the_store_is_away(tmp_path: Path) -> None:
    server = Server(tmp_path, FAULT_REFUSE="poison")
    with started(server):
        assert send(server, request([2], 10**18, name="poison")) == 200
        server.stop()
    (tmp_path / "nobody").mkdir()
    away = Server(tmp_path / "nobody", store="clickhouse://127.0.0.1:1", spool=server.spool)
    done = away.run("dead-letter", "retry")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert server.run("dead-letter", "retry").returncode == 0
    assert server.stored().ids == [f"{2:016x}"]


def test_a_stranger_cannot_fill_the_log_by_failing_handshakes(tmp_path: Path) -> None:
    ca = trustme.CA()
    own = ca.issue_cert("localhost")
    ca.cert_pem.write_to_path(tmp_path / "ca.pem")
    own.private_key_pem.write_to_path(tmp_path / "tls.key")
    own.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    paths = {name: str(tmp_path / name) for name in ("tls.crt", "tls.key", "ca.pem")}
    server = Server(
        tmp_path,
        TOOLSELECT_TLS_CERT=paths["tls.crt"],
        TOOLSELECT_TLS_KEY=paths["tls.key"],
        TOOLSELECT_TLS_CLIENT_CA=paths["ca.pem"],
    )
    with started(server):
        for address in (server.grpc, server.http.removeprefix("https://")):
            host, _, port = address.rpartition(":")
            for _ in range(3):
                with socket.create_connection((host, int(port)), timeout=WAIT_S) as stranger:
                    stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    with contextlib.suppress(ConnectionResetError):
                        while stranger.recv(4096):
                            pass
        server.stop()
    assert [line for line in server.said().splitlines() if not line.startswith("toolselect: stop")] == []
