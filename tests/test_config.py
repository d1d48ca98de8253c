"""Settings: file < environment < flags, every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.config import CaseNames, Receive, Redact, RedactRule, load
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


def test_limits_retention_and_redaction_are_read(here: Path) -> None:
    (here / config.FILE_NAME).write_text(
        '[limits]\nvalue_bytes = "64 KiB"\nspans = 10\n[retention]\ndays = 90\n'
        '[redact]\npatterns = ["email"]\ndeny = ["user.*"]\ncontent = "drop"\n'
        '[[redact.rule]]\npattern = "a+"\naction = "hash"\n[[redact.rule]]\nkeys = ["note"]\n',
        "utf-8",
    )
    settings = load(env={"TOOLSELECT_REDACT_KEY": "s3cret", "TOOLSELECT_LIMITS_SPANS": "20"})
    assert (settings.limits.value_bytes, settings.limits.spans, settings.retention.days) == (65536, 20, 90)
    assert settings.redact.patterns == ("email",)
    assert settings.redact.rule == (RedactRule(pattern="a+", action="hash"), RedactRule(keys=("note",)))
    assert settings.redact.on
    assert "s3cret" not in repr(settings)
    assert not Redact().on


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("[limits]\ndepth = 31", "is no whole number from 1 to 30"),
        ("[limits]\nvalue_bytes = true", "is no size"),
        ('[redact]\nkey = "s3cret"', "unknown key redact.key"),
        ('[redact]\ncontent = "some"', "is none of keep, drop"),
        ("[redact]\nrule = 1", "write \\[\\[redact.rule\\]\\] before each rule"),
        ("[[redact.rule]]\naction = 'hash'", "a rule needs keys, a pattern, or both"),
        ("[[redact.rule]]\npatern = 'a'", "unknown key patern in a rule; known: keys, pattern, action"),
    ],
)
def test_mistakes_in_limits_and_redaction(here: Path, table: str, part: str) -> None:
    (here / config.FILE_NAME).write_text(table, "utf-8")
    with pytest.raises(InputError, match=part):
        load(env={})
