"""Options of the commands that run an agent or a model, and what they come to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from otel_toolselect.errors import InputError, UsageError

if TYPE_CHECKING:
    from otel_toolselect.suites.runner import Options

KEY_VARIABLES = ("TOOLSELECT_RUN_KEY", "OPENAI_API_KEY")

Case: TypeAlias = Annotated[
    list[str] | None, typer.Option("--case", metavar="ID", help="Only this case; may be repeated.")
]
Tag: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="NAME=VALUE", help="Only cases with this tag; all of several."),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Ask this model for its decision; nothing is executed.")
]
BaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Its OpenAI-compatible endpoint, before /chat/completions. The key: TOOLSELECT_RUN_KEY or OPENAI_API_KEY.",
    ),
]
Catalogs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--catalog", metavar="FILE", help="Definitions of the tools to offer to a model; may be repeated."),
]
System: TypeAlias = Annotated[
    str | None, typer.Option("--system", metavar="FILE", help="Instructions for a model; else those of --catalog.")
]
Headers: TypeAlias = Annotated[
    list[str] | None, typer.Option("--header", metavar="'NAME: VALUE'", help="Sent with each request; kept nowhere.")
]
Attempts: TypeAlias = Annotated[int, typer.Option("--attempts", "-n", min=1, help="How often each case is sent.")]
Concurrency: TypeAlias = Annotated[
    int, typer.Option("--concurrency", "-j", min=1, max=256, help="Attempts under way at the same time.")
]
Timeout: TypeAlias = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds that one attempt may take.")]
Retries: TypeAlias = Annotated[
    int, typer.Option("--retries", min=0, help="Times that an attempt lost to the platform is sent again.")
]
Folder: TypeAlias = Annotated[
    str | None,
    typer.Option("--dir", metavar="FOLDER", help="Keep the run here, and go on with what is there of it."),
]


def tags_of(tags: list[str] | None) -> dict[str, str]:
    found = {}
    for text in tags or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--tag {text!r}: write NAME=VALUE, say --tag bucket=core")
        found[name] = value
    return found


def pairs_of(option: str, texts: list[str] | None, sign: str) -> dict[str, str]:
    found = {}
    for text in texts or ():
        name, there, value = text.partition(sign)
        if not there or not name.strip():
            raise UsageError(f"{option}: write NAME{sign}VALUE (what stands before {sign!r} is shown, never the value)")
        found[name.strip()] = value.strip()
    return found


def chosen(given: dict[str, str | None]) -> tuple[str, str]:
    """The one target that is given, as (kind, where)."""
    named = [(kind, where) for kind, where in given.items() if where is not None]
    if len(named) != 1:
        listed = ", ".join(f"--{kind}" for kind in given)
        raise UsageError(f"give exactly one of {listed}: what is to be run")
    return named[0][0], str(named[0][1])


def model_options(
    where: str,
    *,
    suite: str,
    catalogs: list[str] | None,
    system: str | None,
    base_url: str | None,
    provider: str | None = None,
    timeout: float = 120.0,
    headers: list[str] | None = None,
) -> Options:
    """Raises InputError for files that cannot be read."""
    from otel_toolselect.rules import load_suite
    from otel_toolselect.suites.runner import Options
    from otel_toolselect.suites.runner.catalogs import PinnedCatalog, read_offers

    offers = tuple(offer for path in catalogs or () for offer in read_offers(path))
    catalog = PinnedCatalog(offers, tuple(load_suite(suite).policy.aliases.items())) if offers else None
    text = _read(system) if system is not None else next((o.system for o in offers if o.system), None)
    return Options(
        where=where,
        timeout_s=timeout,
        headers=pairs_of("--header", headers, ":"),
        base_url=base_url or "",
        key=key(),
        provider=provider,
        system=text,
        catalog=catalog,
    )


def key() -> str:
    return next((os.environ[name] for name in KEY_VARIABLES if os.environ.get(name)), "")


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=path) from error
