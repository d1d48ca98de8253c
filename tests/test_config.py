"""Settings: file < environment < flags, every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.config import CaseNames, Receive, load
from otel_toolselect.errors import InputError, UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_are_open_to_this_machine_only() -> None:
    settings = load(env={})
    assert settings.receive == Receive("127.0.0.1", 4317, 4318)
    assert settings.dsn.startswith("chdb:///")
    assert settings.dsn.endswith("toolselect/store")


def test_default_case_names_are_those_of_assembly() -> None:
    names = CaseNames()
    for field in ("case_id", "suite", "label", "attempt"):
        assert getattr(names, field) == getattr(DEFAULT_ATTRIBUTES, field)


def test_flags_over_environment_over_file(here: Path) -> None:
    (here / config.FILE_NAME).write_text(
        'store = "chdb:///file"\n[receive]\ngrpc_port = 1\nhttp_port = 2\nhost = "::1"\n'
        '[case_attributes]\ncase_id = ["my.case"]\n',
        "utf-8",
    )
    environment = {"TOOLSELECT_STORE": "chdb:///env", "TOOLSELECT_GRPC_PORT": "3", "TOOLSELECT_TOKEN": "s3cret"}
    settings = load({"store": "chdb:///flag", "grpc_port": None}, environment)
    assert settings.dsn == "chdb:///flag"
    assert settings.receive == Receive("::1", 3, 2, token="s3cret")
    assert "s3cret" not in repr(settings)
    assert settings.case_attributes.case_id == ("my.case",)
    assert settings.case_attributes.attempt == ("toolselect.attempt",)


def test_a_named_file_must_be_there() -> None:
    with pytest.raises(InputError, match=r"other\.toml"):
        load(env={config.CONFIG_VARIABLE: "other.toml"})


def test_all_mistakes_of_a_file(here: Path) -> None:
    (here / config.FILE_NAME).write_text(
        'store = 3\nunknown = 1\ncase_attributes = {case_id = "x", sweet = ["y"]}\n[receive]\ngrpc_port = true\n',
        "utf-8",
    )
    with pytest.raises(InputError) as caught:
        load(env={})
    message = str(caught.value)
    for part in ("store: 3", "unknown key unknown", "case_attributes.case_id", "sweet", "receive.grpc_port"):
        assert part in message


def test_all_mistakes_of_flags_and_environment() -> None:
    with pytest.raises(UsageError) as caught:
        load({"grpc_port": "nowhere"}, {"TOOLSELECT_HTTP_PORT": "99999"})
    assert "--grpc-port" in str(caught.value)
    assert "TOOLSELECT_HTTP_PORT" in str(caught.value)


def test_a_table_that_is_none(here: Path) -> None:
    (here / config.FILE_NAME).write_text("receive = 3\n", "utf-8")
    with pytest.raises(InputError, match="unknown key receive;"):
        load(env={})
