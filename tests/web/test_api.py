"""The read API as a whole: what it says of itself, that nobody reads it unknown, that a tenant sees its own alone.

What single parts answer is tested beside their pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode

from otel_toolselect.model.runs import Run
from otel_toolselect.web.app import pages_app
from otel_toolselect.web.site import Site
from tests.web.conftest import Client, PagesOf
from tests.web.test_signin import AGENT, ANN, EVE, TOKENS
from tests.web.world import TENANTS

DOCUMENT = "/api/v1/openapi.json"
TENANT_TOKENS = "\n".join(
    f'[[token]]\nname = "{tenant}"\ntoken = "{tenant}-0123456789"\nscopes = ["read", "label", "admin"]\n'
    f'attributes = {{"toolselect.tenant" = "{tenant}"}}\n'
    for tenant in TENANTS.values()
)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def read_paths(client: Client, **headers: str) -> Iterator[str]:
    document = client.get(DOCUMENT, headers=headers).json()
    for path, operations in document["paths"].items():
        if "get" in operations:
            yield f"/api/v1{path}"


def test_the_document(client: Client) -> None:
    document = client.get(DOCUMENT).json()
    assert document["openapi"].startswith("3.1")
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    for path, operations in document["paths"].items():
        for name, operation in operations.items():
            assert operation["security"] == [{"HTTPBearer": []}], (name, path)
            good = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert good, f"{name} {path} does not say what it answers"
            assert "application/problem+json" in operation["responses"]["401"]["content"]
            assert operation.get("description") or operation.get("summary")


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/api/v1/docs", "/api/v1/redoc"])
def test_no_page_of_it_loads_scripts_from_elsewhere(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_nobody_reads_it_unknown(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TOKENS)
    paths = [DOCUMENT, *read_paths(client, **bearer(EVE))]
    assert len(paths) > 4
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get(path, headers=bearer("no-such-token")).status_code in (401, 429), path
        assert client.get(path, headers=bearer(AGENT)).status_code == 403, "it may only send"


def test_scopes(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TOKENS)
    assert client.get("/api/v1/audit", headers=bearer(ANN)).status_code == 200
    refused = client.get("/api/v1/audit", headers=bearer(EVE))
    assert refused.status_code == 403
    assert refused.json() == {
        "type": "about:blank",
        "title": "Not allowed",
        "status": 403,
        "detail": "this needs the scope admin, which eve does not have",
    }


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/no-such-thing", 404, "no such page"),
        ("/overview?since=yesterdayish", 400, "is no time"),
        ("/overview?since=1d&until=2d", 400, "end before it begins"),
        ("/audit?size=0", 400, "size"),
        ("/audit?cursor=x", 400, "begin at the first page"),
    ],
)
def test_problems_say_what_to_do(client: Client, path: str, status: int, says: str) -> None:
    answer = client.get(f"/api/v1{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert says in answer.json()["detail"]


def test_a_mistake_of_ours_says_nothing_of_content(pages_of: PagesOf, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise ValueError("hunter2")

    client = pages_of(store=Broken())
    for path, kind in (("/api/v1/overview", "application/problem+json"), ("/", "text/html; charset=utf-8")):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (500, kind)
        assert "hunter2" not in answer.text + caplog.text
        assert "ValueError" in answer.text


def test_a_tenant_sees_its_own_alone(pages_of: PagesOf, runs: list[Run]) -> None:
    """In every answer of the API, and on every page without parameters: no id of a run or trace of others."""
    client = pages_of(tokens=TENANT_TOKENS)
    ids = {tenant: set[str]() for tenant in ("", *TENANTS.values())}
    for run in runs:
        ids[str(run.attributes.get("toolselect.tenant") or "")] |= {run.run_id, run.trace_id}
    assert all(ids.values())
    for tenant in TENANTS.values():
        who = bearer(f"{tenant}-0123456789")
        own, foreign = ids[tenant], set().union(*(found for name, found in ids.items() if name != tenant))
        asks_for_others = f"since=&tenant={next(name for name in TENANTS.values() if name != tenant)}"
        seen = ""
        for path in [*read_paths(client, **who), "/", "/runs", "/doctor", "/audit"]:
            if "{" in path:
                continue
            answer = client.get(f"{path}?{asks_for_others}", headers=who)
            assert answer.status_code in (200, 400, 404), path
            assert not [one for one in foreign if one in answer.text], path
            seen += answer.text
        assert any(one in seen for one in own)


def test_an_audit_log_of_a_tenant(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TENANT_TOKENS)
    for tenant in TENANTS.values():
        client.submit("/sign-in", {"token": f"{tenant}-0123456789"})
        client.submit("/sign-out")
    found = client.get("/api/v1/audit", headers=bearer("acme-0123456789")).json()
    assert {entry["actor"] for entry in found["rows"]} == {"acme"}


# what comes to no human's mind


@pytest.fixture(scope="module")
def operations(site: Site) -> dict[str, Any]:
    schema = schemathesis.openapi.from_asgi(DOCUMENT, pages_app(site), headers={"host": "localhost"})
    schema.config.update(base_url="http://localhost/api/v1")
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.label: operation for operation in found}


def test_whatever_is_asked_there_is_an_answer(operations: dict[str, Any]) -> None:
    """Of each operation some calls that its document allows, and some that it does not."""
    for operation in operations.values():
        for mode in GenerationMode:
            _try(operation, mode)


def _try(operation: Any, mode: GenerationMode) -> None:
    @settings(max_examples=2, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers(case: Case) -> None:
        answer = case.call(headers={"host": "localhost"})
        assert answer.status_code < 500, (case.method, case.formatted_path, case.query, answer.text)
        if answer.status_code >= 400:
            assert json.loads(answer.content)["status"] == answer.status_code

    with suppress(Unsatisfiable):  # nothing that the document does not allow can be asked of some
        answers()
