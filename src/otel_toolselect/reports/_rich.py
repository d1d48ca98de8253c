"""The painter for terminals; the only module that imports rich for results."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from otel_toolselect.reports._layout import Block, Grid, Heading, Line, Style, clean, wrapped

STYLES: dict[Style, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "dim": "dim",
    "bold": "bold",
}


def paint_rich(blocks: Iterable[Block], width: int) -> str:
    """The blocks with colours. Text is never read as markup: it may come from a trace."""
    out = Console(file=StringIO(), force_terminal=True, width=width, highlight=False)
    for index, block in enumerate(blocks):
        if isinstance(block, Heading):
            if index:
                out.print()
            out.print(Text(clean(block.text), style="bold cyan"))
        elif isinstance(block, Line):
            for text in wrapped(block, width):
                out.print(Text(text, style=STYLES[block.style]), overflow="ignore", crop=False)
        else:
            out.print(Padding(_table(block), (0, 0, 0, block.indent)))
    file = out.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def _table(grid: Grid) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for column in grid.columns:
        table.add_column(Text(column.title), justify="right" if column.right else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(clean(cell.text), style=STYLES[cell.style]) for cell in row))
    return table
