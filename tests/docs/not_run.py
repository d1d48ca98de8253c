"""Which blocks no test runs, and why: `python -m tests.docs.not_run` writes the list again, for a reviewer to see."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.docs import pages

LIST = Path(__file__).parent / "not_run.txt"


def listed() -> str:
    """One line per page and reason, with how many blocks; the generated pages of frameworks count as one."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for path in pages.paths():
        for block in pages.blocks_of(path):
            if block.marker in ("not run", "only compiled"):
                page = "docs/frameworks/*" if "docs/frameworks/" in block.page else block.page
                counts[page, block.marker, block.argument] += 1
    return "".join(f"{n:3}  {page}  {marker}: {reason}\n" for (page, marker, reason), n in sorted(counts.items()))


if __name__ == "__main__":
    LIST.write_text(listed(), "utf-8")
