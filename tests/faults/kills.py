"""`kill -9` of the real server at random moments under load: each acknowledged span is in the store once at the end.

python -m tests.faults.kills --count 100
python -m tests.faults.kills --count 20 --failing-store 0.3 --torn
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.load import Load
from tests.faults.server import Server

STARTING_S, RUNNING_S = 2.5, 1.0
"""A kill comes within so many seconds of the start, before the ports are open or not; or of the open ports."""
DURING_START = 0.25
"""The share of kills that do not wait for the ports."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`problems` is empty when the promise held."""

    kills: int
    acknowledged: int
    repeated: int
    problems: tuple[str, ...]


def run(
    folder: Path,
    count: int,
    *,
    seed: int = 0,
    torn: bool = False,
    failing_store: float = 0.0,
    compression: str = "none",
) -> Outcome:
    """`torn`: half a record is put behind the last one after each kill. `failing_store`: share of inserts that fail."""
    chance = random.Random(seed)
    faults = {"FAULT_STORE": str(failing_store)} if failing_store else {}
    server = Server(folder, TOOLSELECT_SPOOL_COMPRESSION=compression, **faults)
    load = Load(lambda: server.grpc)
    with load.running():
        try:
            for _ in range(count):
                server.launch()
                if chance.random() < DURING_START:
                    time.sleep(chance.uniform(0.0, STARTING_S))
                else:
                    server.await_ports()
                    load.wait_for_more(1)
                    time.sleep(chance.uniform(0.0, RUNNING_S))
                server.kill()
                if torn:
                    tear(server.spool, chance)
            server.start()
            load.wait_for_more(1)
            load.finish()
            server.stop()
        finally:
            server.kill()
    stored = server.stored()
    return Outcome(count, len(load.acknowledged), load.repeated, tuple(stored.check(load.acknowledged)))


def tear(spool: Path, chance: random.Random) -> None:
    """Half a record behind the last whole one: what a power cut leaves of a write that was under way."""
    segments = sorted(spool.glob("*.seg"))
    if segments:
        whole = segments[-1].read_bytes()
        again = whole[12 : 12 + chance.randrange(1, 60)]  # behind the head of the segment: the first record, cut short
        with segments[-1].open("ab") as file:
            file.write(again)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10, help="how many kills")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6, help="of the moments; printed")
    parser.add_argument("--failing-store", type=float, default=0.0, metavar="SHARE", help="inserts that fail")
    parser.add_argument("--torn", action="store_true", help="half a record behind the last, after each kill")
    parser.add_argument("--compression", default="none", choices=["none", "zstd"])
    wanted = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="toolselect-kills-") as folder:
        done = run(
            Path(folder),
            wanted.count,
            seed=wanted.seed,
            torn=wanted.torn,
            failing_store=wanted.failing_store,
            compression=wanted.compression,
        )
    print(
        f"seed {wanted.seed}: {done.kills} kills in {time.monotonic() - began:.0f} s, {done.acknowledged} spans "
        f"acknowledged, {done.repeated} attempts repeated; {'; '.join(done.problems) or 'none missing, none twice'}"
    )
    sys.exit(bool(done.problems))


if __name__ == "__main__":
    main()
