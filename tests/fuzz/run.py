"""The fuzzer itself: `python -m tests.fuzz.run TARGET [libFuzzer's flags]`, in the environment that `make fuzz` makes.

Inputs that are new to the code are added to build/fuzz/TARGET; the committed corpus is where it starts from. A
finding is written to build/fuzz/TARGET-crash-..., -oom-... or -timeout-..., and ends the run with a failure.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["otel_toolselect"]):
    from tests.fuzz import targets

HERE = Path(__file__).parent
WORK = Path("build/fuzz")
MEMORY_MB = 512
INPUT_S = 5
INPUT_BYTES = 8192


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in targets.TARGETS:
        sys.exit(f"usage: python -m tests.fuzz.run TARGET [FLAGS]; targets: {', '.join(targets.TARGETS)}")
    found = WORK / name
    found.mkdir(parents=True, exist_ok=True)
    flags = [
        f"-rss_limit_mb={MEMORY_MB}",
        f"-timeout={INPUT_S}",
        f"-max_len={INPUT_BYTES}",
        f"-artifact_prefix={WORK}/{name}-",
        "-print_final_stats=1",
    ]

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        changed = targets.mutated(name, data, seed) if seed % 2 else data
        return changed[:max_size] if changed != data else atheris.Mutate(data, max_size)

    arguments = [sys.argv[0], *flags, *sys.argv[2:], str(found), str(HERE / "corpus" / name)]
    atheris.Setup(arguments, lambda data: targets.run(name, data), custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
