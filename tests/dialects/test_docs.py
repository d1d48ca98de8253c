"""The pages in docs/frameworks say what the captures show."""

from __future__ import annotations

from docs.build_frameworks import OUT, pages


def test_the_pages_are_current() -> None:
    wanted = pages()
    assert {p.name for p in OUT.glob("*.md")} == set(wanted)
    for name, text in wanted.items():
        assert (OUT / name).read_text(encoding="utf-8") == text, "run `python -m docs.build_frameworks`"
