"""Loading: every mistake at once, each with line, column and a way out; hostile files end early."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import InputError, SuiteError
from otel_toolselect.rules import load_suite, parse_suite
from otel_toolselect.rules.expect import kinds
from tests.rules.suites import POLICY, problems_of

FIVE = """\
suite: shop
version: 3
policy:
  tools:
    search_orders: {effect: read}
    issue_refund: {effect: write, risk: high}
    refund: {effect: read}
  aliases: {refund: issue_refund}
cases:
  - id: a
    promt: where is it?
    expect: {first: [serch_orders]}
  - id: b
    expect:
      class: requird
      never: issue_refund
"""

FIVE_PROBLEMS = [
    "8:13: 'refund' cannot be an alias of 'issue_refund': effect read against write and risk unset against high; an "
    "alias is the same capability under another name (take the alias out, or correct the policy of one of them)",
    "11:5: unknown key 'promt' in a case (did you mean 'prompt'?)",
    "12:22: the policy does not name the tool 'serch_orders' (did you mean 'search_orders'?)",
    "15:14: class cannot be 'requird' (did you mean 'required'?)",
    "16:14: never must be a list, not the text 'issue_refund' (write a list: [issue_refund])",
]

WHOLE = """\
suite: support-agent
version: 3
matching: json
policy:
  tools:
    search_orders: {effect: read}
    get_refund_policy: {effect: read}
    issue_refund:  {effect: write, risk: high}
    update_user: {effect: write}
    list_tools:    {effect: metadata}
    fax: {effect: write, retired: true}
  aliases: {find_orders: search_orders}
  servers: {web: [search]}
  infra_errors: [timeout, connection, http_5xx, rate_limited, permission_expired, "E[0-9]{4}"]
cases:
  - id: refund-broken-headphones
    prompt: can I get my money back for the broken headphones?
    tools: [find_orders, get_refund_policy, issue_refund]
    tags: {bucket: core, overlap: high, side_effects: write}
    risk: high
    group: {id: refund-paraphrases, relation: same}
    labels: [{by: ann, first: [search_orders]}, {by: raj, first: [search_orders]}]
    rationale: the order must be found before money moves
    expect:
      class: multi_step
      first: [search_orders]
      never: [update_user, "effect:write before search_orders ok"]
      eventually: [search_orders]
      order: [{first: search_orders, then: issue_refund, needs: ok}]
      args:
        search_orders: {customer_id: C-42, status: {any: true, optional: true}}
        issue_refund:
          order_id: {from_result: search_orders, path: "$.orders[*].id"}
          amount: {money: "79.90 EUR"}
          when: {date: next tuesday}
      grounded: [search_orders.customer_id]
      stale: [search_orders.customer_id]
      only_if: [{when: {tool: search_orders, path: $.in_stock, equals: false}, never: [issue_refund]}]
      answer: {contains: [refund], not_contains: [], cites_results: true}
      recovery: {max_same_failure: 1}
      cel: ["size(calls.filter(c, c.name == 'search_orders')) <= 2"]
      budget: {calls: 6, redundant: 0, tokens: 20000, seconds: 60, cost_usd: 0.05}
      said: [refund]
      ended: {before_turn: 30}
      reference: {calls: [search_orders, issue_refund], mode: ordered}
      clarify: {about: [order, which order]}
      turns: [{at: 2, first: [issue_refund]}]
"""


def test_five_mistakes_are_five_positions() -> None:
    assert problems_of(FIVE) == FIVE_PROBLEMS


def test_the_error_holds_path_and_all_problems(tmp_path: Path) -> None:
    path = tmp_path / "five.yaml"
    path.write_text(FIVE, encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    assert str(caught.value).splitlines() == [f"{path}:{p}" for p in FIVE_PROBLEMS]


def test_a_whole_suite_is_typed() -> None:
    suite = parse_suite(WHOLE, path="s.yaml")
    case = suite.cases[0]
    assert (suite.name, suite.version, suite.policy.version[:2]) == ("support-agent", "3", "3@")
    assert (case.id, case.risk, case.tags["overlap"]) == ("refund-broken-headphones", "high", "high")
    assert case.tools == ("search_orders", "get_refund_policy", "issue_refund")
    assert case.group is not None
    assert (case.group.id, case.group.relation, len(case.labels)) == ("refund-paraphrases", "same", 2)
    assert case.expect.decision == "multi_step"
    assert {c.name for c in case.expect.checks} == set(kinds())


def test_the_policy_version_changes_with_its_content() -> None:
    one, two = (parse_suite(t, path="s.yaml") for t in (WHOLE, WHOLE.replace("risk: high}", "risk: low}")))
    assert one.policy.version != two.policy.version
    assert one == parse_suite(WHOLE, path="s.yaml")


def test_a_suite_without_policy_takes_any_tool_name() -> None:
    assert problems_of("suite: s\ncases:\n  - {id: a, expect: {first: [anything]}}\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "suite has no cases"),
        ("suite: s\n", "suite has no cases"),
        ("suite: s\ncases: []\n", "2:8: suite has no cases"),
        ("cases:\n  - {id: a, expect: {class: none}}\n", "the suite has no name"),
        ("[]\n", "the suite must be a mapping, not a list"),
        (
            "suite: s\nrules: x\ncases:\n  - {id: a, expect: {class: none}}\n",
            "unknown key 'rules' in the suite",
        ),
        ("suite: s\nmatching: soft\ncases:\n  - {id: a, expect: {class: none}}\n", "unknown matching profile 'soft'"),
        ("suite: s\nsuite: t\ncases: []\n", "2:1: the key 'suite' stands twice (first on line 1)"),
        ("suite: s\ncases:\n  - {expect: {class: none}}\n", "3:5: a case has no id"),
        ("suite: s\ncases:\n  - {id: a}\n", "the case 'a' expects nothing"),
        ("suite: s\ncases:\n  - {id: a, expect: {}}\n", "expect is empty"),
        ("suite: s\ncases:\n  - {id: a, request: x, expect: {class: none}}\n", "did you mean 'prompt'?"),
        ("suite: s\ncases:\n  - {id: a, expect: {ghost: true}}\n", "'ghost' is checked in every case"),
        ("suite: s\n--- \nsuite: t\n", "a suite file holds one document"),
        ("suite: s\ncases: [a: b\n", "not valid YAML"),
        ("suite: !!python/object:os.system x\ncases: []\n", "the tag"),
        ("<<: {suite: s}\ncases: []\n", "'<<' is not part of YAML 1.2"),
        ("? [a]\n: b\n", "a key must be a text"),
        ("suite: &a [*a]\n", "an alias cannot stand inside what it names"),
        ("suite: *b\n", "no such anchor"),
        ("suite: \x00\n", "not valid YAML"),
    ],
)
def test_mistakes_of_the_whole(text: str, said: str) -> None:
    found = problems_of(text)
    assert any(said in p for p in found), found


def test_a_doubled_case_id_is_placed_at_the_id() -> None:
    text = f"{POLICY}  - {{id: a, expect: {{class: none}}}}\n  - {{expect: {{class: none}}, id: a}}\n"
    assert problems_of(text) == ["18:33: the case id 'a' stands twice (first on line 17; ids are unique)"]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("tools: {a: {effect: reed}}", "effect cannot be 'reed' (did you mean 'read'?)"),
        ("tools: {a: read}", "must be a mapping, not the text 'read' (write {effect: read})"),
        ("tools: [a]", "policy.tools must be a mapping"),
        ("tools: {none: {effect: read}}", "the word is taken"),
        ("tools: {a: {efect: read}}", "did you mean 'effect'?"),
        ("tools: {a: {effect: read}}, aliases: {x: b}", "the policy does not name the tool 'b'"),
        ("tools: {a: {effect: read}}, aliases: {x: y, y: a}", "itself an alias"),
        ("tools: {a: {effect: read}, b: {effect: write}}, aliases: {a: b}", "effect read against write"),
        ("tools: {a: {effect: read, risk: high}, b: {effect: read}}, aliases: {a: b}", "risk high against unset"),
        ("infra_errors: [timout]", "did you mean 'timeout'?"),
        ("infra_errors: ['(a']", "is not an RE2 pattern"),
        ("infra_error: [timeout]", "did you mean 'infra_errors'?"),
    ],
)
def test_mistakes_of_a_policy(policy: str, said: str) -> None:
    found = problems_of(f"suite: s\npolicy: {{{policy}}}\ncases:\n  - {{id: a, expect: {{class: none}}}}\n")
    assert len(found) == 1, found
    assert said in found[0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("tools: x", "tools must be a list"),
        ("tools: {catalog: abc}", "is not a catalog id"),
        ("tags: [a]", "tags must be a mapping"),
        ("group: {relation: same}", "group has no id"),
        ("group: {id: g, relation: sam}", "relation cannot be 'sam'"),
        ("labels: [{first: [x]}]", "does not say by whom"),
        ("matching: bfkl", "unknown matching profile 'bfkl' (did you mean 'bfcl'?)"),
        ("risk: {}", "risk must be a text, not a mapping"),
        ("prompt: null", "prompt must be a text, not nothing"),
    ],
)
def test_mistakes_of_a_case(keys: str, said: str) -> None:
    found = problems_of(f"suite: s\ncases:\n  - {{id: a, {keys}, expect: {{class: none}}}}\n")
    assert len(found) == 1, found
    assert said in found[0]


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
HOSTILE = {
    "bomb": LAUGHS,
    "deep flow": "suite: " + "[" * 5000 + "]" * 5000,
    "deep block": "\n".join(" " * i + f"k{i}:" for i in range(500)),
    "deep dashes": "- " * 5000 + "x",
    "huge pattern": f"{POLICY}  - {{id: a, expect: {{args: {{book: {{x: {{matches: {'a' * 1_000_000}}}}}}}}}}}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_early_with_an_error(name: str) -> None:
    start = time.process_time()
    assert problems_of(HOSTILE[name])
    assert time.process_time() - start < 5


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_suite(tmp_path / "none.yaml")
    bad = tmp_path / "latin.yaml"
    bad.write_bytes(b"suite: s\nname: caf\xe9\n")
    with pytest.raises(InputError, match=r"latin.yaml:2: not UTF-8 at byte 18"):
        load_suite(bad)


def test_a_json_suite_is_yaml() -> None:
    text = '{"suite": "s", "cases": [{"id": "a", "expect": {"class": "none"}}]}'
    assert parse_suite(text, path="s.json").cases[0].id == "a"


pieces = st.sampled_from(
    ["{", "}", "[", "]", ":", "- ", "&a ", "*a", "!x ", "|", "\n", "  ", "'", '"', "#", "%", "null", "5"]
)


@given(st.one_of(st.text(), st.lists(pieces).map("".join)), st.sampled_from(["s.yaml", "s.json", "s.jsonl"]))
def test_any_text_is_a_suite_or_a_list_of_problems(text: str, path: str) -> None:
    problems_of(text, path)


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 30), st.one_of(pieces, st.text(max_size=3)))
def test_a_damaged_suite_is_a_suite_or_a_list_of_problems(at: int, length: int, put: str) -> None:
    problems_of(WHOLE[:at] + put + WHOLE[at + length :])
