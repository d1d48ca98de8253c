"""What carries out the pages notices when a page is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect.errors import ToolselectError
from tests.docs import pages
from tests.docs.commands import Command, commands_and_output, commands_of, shown_as
from tests.docs.shell import Session
from tests.docs.test_blocks import carry_out


def carried(text: str, folder: Path) -> None:
    for block in pages.parse(text, "page.md"):
        if block.marker != "not run":
            carry_out(block, Session(folder))


@pytest.mark.parametrize(
    ("printed", "shown", "right"),
    [
        ("a\nb\n", "a\nb", True),
        ("a  \nb\n", "a\nb\n", True),
        ("a\nb\nc\n", "a\n...", True),
        ("a\nb\nc\n", "...\nc", True),
        ("a 12 b\n", "a ... b", True),
        ("a\nx\nb\n", "a ... b", False),
        ("a\nb\n", "a", False),
        ("a\n", "a\nb", False),
        ("1.5\n", "1x5", False),
        ("", "", True),
        ("a\n", "", False),
    ],
)
def test_output_is_compared(printed: str, shown: str, right: bool) -> None:
    assert shown_as(printed, shown) is right


def test_commands_of_a_block() -> None:
    assert commands_of("# said\na b  # exit code 2: so\nc \\\n  d\ncat <<E\nx\nE\n") == [
        Command("a b  # exit code 2: so", 2),
        Command("c \\\n  d"),
        Command("cat <<E\nx\nE"),
    ]
    assert commands_and_output("$ a\nx\ny\n$ echo $?\n1\n$ b\n") == [Command("a", 1, "x\ny"), Command("b", 0, "")]


def test_a_marker_counts_for_the_next_block_only() -> None:
    text = "<!-- not run: for a reason -->\n```sh\na\n```\n\n```sh\nb\n```\n"
    text += "<!-- file: x -->\n\ntext\n\n```json\n1\n```\n\n    c\n"
    assert [(b.language, b.marker) for b in pages.parse(text, "page.md")] == [
        ("sh", "not run"),
        ("sh", ""),
        ("json", ""),
        ("indented", ""),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "```sh\nfalse\n```",
        "```sh\ntrue  # exit code 1\n```",
        "```console\n$ echo a\nb\n```",
        "```console\n$ toolselect --version\ntoolselect 99\n```",
        "```console\n$ toolselect rules check none.yaml\n...\n```",
        "```toml\n[spool]\nmax_byts = 1\n```",
        "```yaml\nsuite: s\ncases: 1\n```",
        "```yaml\nunknown: 1\n```",
        "```json\n{,}\n```",
        "```python\nassert False\n```",
        "```python\nraise SystemExit(\n```",
        "```pycon\n>>> 1 + 1\n3\n```",
        "```sql\nSELECT nothing FROM nowhere\n```",
        "```\nno language\n```",
        "```ruby\nputs 1\n```",
        "    toolselect demo\n",
        "```sh\npip install x\n```",
        "```sh\nsudo make x\n```",
    ],
)
def test_a_wrong_block_fails(wrong: str, tmp_path: Path) -> None:
    with pytest.raises((pytest.fail.Exception, AssertionError, ValueError, SyntaxError, ToolselectError)):
        carried(f"{wrong}\n", tmp_path)


def test_what_is_right_passes(tmp_path: Path) -> None:
    carried(
        "<!-- file: a.json -->\n```json\n{}\n```\n```console\n$ cat a.json\n{}\n$ false\n$ echo $?\n1\n```\n", tmp_path
    )
