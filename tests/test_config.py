"""Settings: file < environment < flags, every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.config import Address, CaseNames, load
from otel_toolselect.errors import InputError, UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_are_open_to_this_machine_only() -> None:
    settings = load(env={})
    assert (str(settings.grpc), str(settings.http)) == ("127.0.0.1:4317", "127.0.0.1:4318")
    assert settings.dsn.startswith("chdb:///")
    assert settings.dsn.endswith("toolselect")


def test_default_case_names_are_those_of_assembly() -> None:
    names = CaseNames()
    for field in ("case_id", "suite", "label", "attempt"):
        assert getattr(names, field) == getattr(DEFAULT_ATTRIBUTES, field)


def test_flags_over_environment_over_file(here: Path) -> None:
    (here / config.FILE_NAME).write_text(
        'store = "chdb:///file"\n[receive]\ngrpc = "0.0.0.0:1"\nhttp = "0.0.0.0:2"\n'
        '[case_attributes]\ncase_id = ["my.case"]\n',
        "utf-8",
    )
    settings = load({"store": "chdb:///flag", "grpc": None}, {"TOOLSELECT_STORE": "chdb:///env", "TOOLSELECT_GRPC": "3"})
    assert settings.dsn == "chdb:///flag"
    assert settings.grpc == Address("127.0.0.1", 3)
    assert settings.http == Address("0.0.0.0", 2)
    assert settings.case_attributes.case_id == ("my.case",)
    assert settings.case_attributes.attempt == ("toolselect.attempt",)


def test_a_named_file_must_be_there(here: Path) -> None:
    with pytest.raises(InputError, match=r"other\.toml"):
        load(env={config.CONFIG_VARIABLE: "other.toml"})


def test_all_mistakes_of_a_file(here: Path) -> None:
    (here / config.FILE_NAME).write_text(
        'store = 3\nunknown = 1\ncase_attributes = {case_id = "x", sweet = ["y"]}\n[receive]\ngrpc = "x"\n', "utf-8"
    )
    with pytest.raises(InputError) as caught:
        load(env={})
    message = str(caught.value)
    for part in ("store must be text", "unknown key unknown", "case_attributes.case_id", "sweet", "receive.grpc"):
        assert part in message


def test_all_mistakes_of_flags_and_environment() -> None:
    with pytest.raises(UsageError) as caught:
        load({"grpc": "nowhere"}, {"TOOLSELECT_HTTP": "1:99999"})
    assert "--grpc" in str(caught.value)
    assert "TOOLSELECT_HTTP" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("4317", "127.0.0.1:4317"), ("[::1]:4317", "[::1]:4317"), ("host:0", "host:0"), (":9", "127.0.0.1:9")],
)
def test_addresses(text: str, shown: str) -> None:
    assert str(Address.parse(text)) == shown
