"""Lists of messages, read in pieces and remembered, read as they do in full."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.dialects import _lists
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._parsing import MAX_DEPTH
from otel_toolselect.model.observations import CallPart, Message, ResultPart, TextPart

WORDS = st.sampled_from(
    [
        "",
        "x",
        "é",
        "\ud800",
        '"',
        "\\",
        '}, {"role": "user"',
        '},{"role":"user"',
        ', "finish_reason": "stop"',
        "}]",
        "\n",
    ]
) | st.text(max_size=5)
VALUE = st.recursive(
    WORDS | st.none() | st.integers() | st.floats() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "parts", "a", "finish_reason"]), inner, max_size=3)
    ),
    max_leaves=5,
)
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "content": VALUE}),
    st.fixed_dictionaries({"type": st.just("tool_call"), "id": st.just("c"), "name": st.just("f"), "arguments": VALUE}),
    st.fixed_dictionaries({"type": st.just("tool_call_response"), "id": st.just("c"), "response": VALUE}),
    VALUE,
)
ROLE = st.sampled_from(["system", "user", "assistant", "tool", "human", "Tool", "nobody", "", None, []])
MESSAGE = st.one_of(
    st.fixed_dictionaries(
        {"role": ROLE, "parts": st.lists(BLOCK, max_size=3)},
        optional={"finish_reason": st.sampled_from(["stop", "tool_call", "a b", ',"', None, 3])},
    ),
    st.fixed_dictionaries(
        {"role": ROLE},
        optional={"content": VALUE, "type": WORDS, "data": VALUE, "message": VALUE, "tool_calls": VALUE},
    ),
    st.fixed_dictionaries({"type": st.sampled_from(["message", "reasoning", "function_call"]), "name": st.just("f")}),
    VALUE,
)
WRITER: Any = st.sampled_from(
    [{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (", ", ":")}]
)
DEFAULT = st.sampled_from(["user", "assistant", "tool"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A list as some writer writes it, now and then with letters lost, doubled or put in."""
    text = json.dumps(draw(st.lists(MESSAGE, max_size=4)), **draw(WRITER))
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 2))
        text = (
            text[:at] + draw(st.sampled_from(["", "}", "]", ",", '"', "{", "[", "\t", "\v", "x"])) + text[at + gone :]
        )
    return text


def in_full(text: str, role: str) -> tuple[Message, ...] | None:
    return _lists._whole(text, role)


@given(st.lists(st.tuples(texts(), DEFAULT), max_size=6), st.booleans())
def test_pieces_read_as_the_whole_reads(asked: list[tuple[str, str]], cold: bool) -> None:
    if cold:
        _lists._known.clear()
    for text, role in [*asked, *reversed(asked)]:
        assert repr(messages(text, default_role=role)) == repr(in_full(text, role))


@given(st.lists(MESSAGE, min_size=1, max_size=5), WRITER, DEFAULT, st.booleans())
def test_a_conversation_that_grows_reads_as_each_request_alone(
    said: list[Any], writer: dict[str, Any], role: str, cold: bool
) -> None:
    if cold:
        _lists._known.clear()
    for n in range(1, len(said) + 1):
        answer = json.dumps([said[n - 1]], **writer)
        assert repr(messages(answer, default_role="assistant")) == repr(in_full(answer, "assistant"))
        text = json.dumps(said[:n], **writer)
        assert repr(messages(text, default_role=role)) == repr(in_full(text, role))


def test_what_was_read_is_shared() -> None:
    """The same object, so that later stages may compare by identity; an answer is known without its finish reason."""
    user = {"role": "user", "parts": [{"type": "text", "content": "shared?"}]}
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"a": [{"role": "user"}, {"b": 1}]}}
    said = {"role": "assistant", "parts": [call]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "{}"}]}
    for writer in ({}, {"separators": (",", ":")}):
        first = messages(json.dumps([user], **writer)) or ()
        answer = messages(json.dumps([said | {"finish_reason": "tool_call"}], **writer), default_role="assistant") or ()
        later = messages(json.dumps([user, said, result], **writer)) or ()
        assert (later[0], later[1]) == (first[0], answer[0])
        assert later[0] is first[0]
        assert later[1] is answer[0]
        assert [type(m.parts[0]) for m in later] == [TextPart, CallPart, ResultPart]


def test_the_default_role_is_not_remembered() -> None:
    text = '[{"role": "nobody", "content": "x"}]'
    for role in ("user", "assistant", "user"):
        assert messages(text, default_role=role) == (Message(role, (TextPart("x"),)),)


def test_levels_count_the_list() -> None:
    for levels in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1):
        text = '[{"role": "user", "parts": [], "x": ' + "[" * (levels - 2) + "]" * (levels - 2) + "}]"
        assert messages(text) == in_full(text, "user")
        assert (messages(text) == (Message("user", ()),)) == (levels <= MAX_DEPTH)


def test_what_is_remembered_is_bounded() -> None:
    for n in range(3000):
        messages(json.dumps([{"role": "user", "content": f"{n} " * 500}]))
    assert sum(map(len, _lists._known)) <= 2 << 20
    giant = json.dumps([{"role": "user", "content": "x" * (1 << 20)}])
    assert messages(giant) == in_full(giant, "user")
    assert max(map(len, _lists._known)) < 1 << 20


@pytest.mark.parametrize(
    "tail",
    [
        '"finish_reason": "a"x"', '"finish_reason": "a\v"', '"finish_reason":\v"stop"', '"finish_reason": "\\q"',
        '"finish_reason" "stop"', '"finish_reason": "stop"', '"finish_reason": "stop" ', '"finish_reason": ""',
        '"x": [{"y": 1, "finish_reason": "stop"}]', 'finish_reason": "stop"', '\\"finish_reason": "stop"',
    ],
)  # fmt: skip
def test_an_answer_that_is_known_makes_no_other_text_one(tail: str) -> None:
    known = '{"role": "assistant", "content": "x"'
    assert messages(f"[{known}}}]") == (Message("assistant", (TextPart("x"),)),)
    text = f"[{known}, {tail}}}]"
    assert messages(text) == in_full(text, "user")


def test_each_message_of_a_conversation_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, once = [], _lists._message
    monkeypatch.setattr(_lists, "_message", lambda piece, role: read.append(piece) or once(piece, role))
    said = [{"role": "user", "parts": [{"type": "text", "content": f"message {n} of many"}]} for n in range(60)]
    for n in range(1, 61):
        messages(json.dumps(said[n - 1 : n]), default_role="assistant")
        assert len(messages(json.dumps(said[:n])) or ()) == n
        assert len(messages(json.dumps(said[n // 2 : n])) or ()) == n - n // 2  # one that forgets its beginning
    assert len(read) == 60


def test_threads_do_not_mix_what_they_read() -> None:
    def converse(who: int) -> bool:
        said = [{"role": "user", "content": f"{who}: {n}"} for n in range(40)]
        texts = [json.dumps(said[:n]) for n in range(1, 41)]
        return all(messages(text) == in_full(text, "user") for _ in range(5) for text in texts)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(converse, range(8)))
