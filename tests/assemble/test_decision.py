"""How a text without a call reads (R1, R30): several languages, lectures and refusals told from questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.assemble import decision
from otel_toolselect.assemble.decision import read_no_call

READINGS = [
    ("Which order do you mean?", "ask_followup"),
    ("Could you please provide your order number?", "ask_followup"),
    ("I can do that. Please tell me the order number and your e-mail address.", "ask_followup"),
    ("To complete the registration, I need the password for the account.", "ask_followup"),
    ("Sorry, I can't find it. Which e-mail address did you use?", "ask_followup"),
    ("Welche Bestellung meinen Sie?", "ask_followup"),
    ("Könnten Sie mir bitte die Bestellnummer nennen?", "ask_followup"),
    ("Quelle commande voulez-vous annuler ?", "ask_followup"),
    ("¿Cuál es su número de pedido?", "ask_followup"),
    ("ご注文番号を教えていただけますか？", "ask_followup"),
    ("We are open Monday to Friday, 9:00 to 17:00.", "none"),
    ("Your refund is on its way. Is there anything else I can help you with?", "none"),
    ("Done. Would you like more details?", "none"),
    ("An order number is needed for every refund. Orders can be found in your account.", "none"),
    ('The French for "Where is the station?" is "Où est la gare ?".', "none"),
    ("I'm sorry, but I can't help with booking flights.", "refuse_no_tool"),
    ("None of the available tools can play music.", "refuse_no_tool"),
    ("I am unable to access real-time data.", "refuse_no_tool"),
    ("Leider kann ich dabei nicht helfen.", "refuse_no_tool"),
    ("Lo siento, no puedo ayudarle con eso.", "refuse_no_tool"),
]


@pytest.mark.parametrize(("text", "label"), READINGS)
def test_readings(text: str, label: str) -> None:
    found = read_no_call(text)
    assert found.label == label, found.signal
    assert found.confidence >= 0.5


def test_no_text_is_not_read_with_confidence() -> None:
    assert read_no_call(None).confidence == 0
    assert read_no_call("  ").confidence < 0.5


@given(st.text(max_size=2000))
def test_any_text_has_a_reading(text: str) -> None:
    found = read_no_call(text)
    assert 0 <= found.confidence <= 1
    assert found.signal


ASKS = ("could you give", "Please tell", "I need it to proceed", "Wo ist", "'Which one?'", "anything else", "?", "；")
REFUSES = ("I'm sorry", ", but I can't", "no tools", "leider nicht")
PIECES = st.sampled_from([*ASKS, *REFUSES, *" .…'\"“”\n\ud83d", "x" * 1990])


@given(st.lists(PIECES, max_size=9).map("".join))
def test_what_one_search_tells_is_what_all_would(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision, "_TELLING", decision.re2.compile(""))  # found in every text: nothing is cut short
        whole = read_no_call(text)
    assert read_no_call(text) == whole


def test_half_of_an_emoji_hides_nothing_and_asks_nothing() -> None:
    assert read_no_call("Done \ud83d").label == "none"
    assert read_no_call("Which order do you mean? \ud83d").label == "ask_followup"
    assert read_no_call("\ud83d").signal == "empty final text"
