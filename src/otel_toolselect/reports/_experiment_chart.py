"""The chart of an experiment as SVG, and a page around it: share of cases right against each value, with intervals.

One panel per variation, one line per model; the base stands left of the values. Numbers are placed by their size, on a
logarithmic scale where the largest is eight times the smallest or more; names and lone settings one beside the other.
Colours differ in lightness too, each model has a mark of its own shape, and every point says its figures as text, so
that nothing hangs on colour. Nothing is loaded from anywhere; the templates escape every text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from pathlib import Path
from typing import Any

from otel_toolselect.model.experiments import ArmFigures, Experiment
from otel_toolselect.reports._experiment import row, said, titles
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._words import counted, interval

FOLDER = Path(__file__).with_name("_templates")
WIDTH, HEIGHT = 460, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 20, 44, 56
_COLOURS = ("#0b5cad", "#b34700", "#6b3fa0", "#1a7f37", "#57606a")
_SHAPES = ("circle", "square", "diamond")
_LEGEND = 26
_LOG_FROM = 8
_APART = 7  # intervals of several models stand side by side
_LONGEST = 14


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    label: str
    one: ArmFigures


def experiment_svg(found: Experiment) -> str:
    """All panels, two beside each other, as one picture."""
    return str(_rendered("experiment.svg.j2", v=_view(found, _names(found)))) + "\n"


def experiment_html(found: Experiment) -> str:
    """Charts and table on one self-contained page, for phones too: each panel is a picture of its own."""
    from markupsafe import Markup

    style = (FOLDER / "experiment.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    text = _rendered(
        "experiment.html.j2",
        name=visible(found.name),
        said=visible(said(found)),
        charts=[_view(found, (name,)) for name in _names(found)],
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=f"sha256-{digest}",
        titles=[title.rstrip(">") for title in titles(found)],
        rows=[[visible(text) for text in row(one, found)] for one in found.arms],
    )
    return text + "\n"


def _rendered(template: str, /, **values: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def _names(found: Experiment) -> tuple[str, ...]:
    return found.series or ("",)


def _view(found: Experiment, names: Sequence[str]) -> dict[str, Any]:
    """One picture of these panels."""
    legend = len(found.models) > 1
    beside = min(2, len(names))
    panels = [
        {**_panel(found, name), "x": i % beside * WIDTH, "y": i // beside * HEIGHT} for i, name in enumerate(names)
    ]
    bottom = HEIGHT * ceil(len(names) / beside)
    step = (WIDTH - _LEFT - _RIGHT) / len(found.models)
    marks = [
        {**_style(i), "x": _LEFT + i * step, "y": bottom + 8, "name": visible(model)}
        for i, model in enumerate(found.models)
    ]
    return {
        "name": visible(found.name),
        "width": WIDTH * beside,
        "height": bottom + (_LEGEND if legend else 0),
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "panels": panels,
        "legend": marks if legend else [],
    }


def _style(i: int) -> dict[str, str]:
    return {"colour": _COLOURS[i % len(_COLOURS)], "shape": _SHAPES[i % len(_SHAPES)]}


def _panel(found: Experiment, series: str) -> dict[str, Any]:
    lines = [points(found, series, model) for model in found.models]
    placed = sorted({point.x: point.label for line in lines for point in line}.items())
    near = len(placed) > 5  # every second label stands lower
    return {
        "title": visible(series or "models"),
        "grid": [{"y": _y(share / 100), "label": f"{share} %"} for share in (0, 25, 50, 75, 100)],
        "ticks": [
            {"x": x, "y": HEIGHT - _BOTTOM + (34 if near and i % 2 else 18), "label": _short(label)}
            for i, (x, label) in enumerate(placed)
        ],
        "lines": [_line(line, i, len(lines)) for i, line in enumerate(lines)],
    }


def _short(label: str) -> str:
    text = visible(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def points(found: Experiment, series: str, model: str) -> list[Point]:
    """The base of a model, then the values of the series in the order of the file."""
    base = [one for one in found.arms if not one.arm.series]
    if not series:
        return [Point(x, one.arm.model, one) for x, one in _beside(base) if one.arm.model == model]
    others = [one for one in found.arms if one.arm.series == series and one.arm.model == model]
    xs = _even(1 + len(others))
    numbers = [one.arm.value for one in others if isinstance(one.arm.value, int)]
    if len(numbers) == len(others) > 1:
        xs = [xs[0], *_placed(numbers, xs[1], xs[-1])]
    labels = [series if one.arm.value is None else str(one.arm.value) for one in others]
    named = [Point(xs[0], "base", one) for one in base if one.arm.model == model]
    return named + [Point(*found_) for found_ in zip(xs[1:], labels, others, strict=True)]


def _beside(arms: Sequence[ArmFigures]) -> list[tuple[float, ArmFigures]]:
    return list(zip(_even(len(arms)), arms, strict=True))


def _even(n: int) -> list[float]:
    room = WIDTH - _LEFT - _RIGHT
    return [round(_LEFT + room * (i + 0.5) / n, 1) for i in range(n)]


def _placed(numbers: Sequence[int], left: float, right: float) -> list[float]:
    least, most = min(numbers), max(numbers)
    if most == least:
        return [round((left + right) / 2, 1)] * len(numbers)
    if least > 0 and most >= _LOG_FROM * least:
        shares = [log(n / least) / log(most / least) for n in numbers]
    else:
        shares = [(n - least) / (most - least) for n in numbers]
    return [round(left + (right - left) * share, 1) for share in shares]


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM), 1)


def _line(line: Sequence[Point], i: int, of: int) -> dict[str, Any]:
    """Marks with their intervals, joined but for the base; what has no observation has no mark."""
    shift = (i - (of - 1) / 2) * _APART
    marks = []
    for point in line:
        rate = point.one.majority
        if rate.rate is None or rate.ci95 is None:
            continue
        figures = f"{counted(rate.rate, rate.passed, rate.n)} cases, {interval(rate)}"
        marks.append(
            {
                **_style(i),
                "x": round(point.x + shift, 1),
                "y": _y(rate.rate),
                "low": _y(rate.ci95[0]),
                "high": _y(rate.ci95[1]),
                "said": visible(f"{point.one.arm.name}: {figures}"),
                "joined": bool(point.one.arm.series),
            }
        )
    joined = [f"{mark['x']},{mark['y']}" for mark in marks if mark["joined"]]
    return {**_style(i), "path": " ".join(joined) if len(joined) > 1 else "", "marks": marks}
