"""`{money: "79.90 EUR"}`: the same amount of the same currency in whatever spelling (R26, price-parser).

An observed number, or a text without a currency, is taken to be of the expected currency (which often stands in an
argument of its own). A symbol that several currencies share ("$") fits each of them. An object with an amount and a
currency is read as well. Nothing is converted, and amounts are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import re2

from otel_toolselect.model.remembered import remembered
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.extras import available
from otel_toolselect.rules.matching import Matcher, Scope

# price-parser finds an amount in any text; only a text that is nothing but an amount and a currency is one
_CURRENCY = r"(?:[\pL]{0,3}[\p{Sc}]|[\pL.]{2,10})"
_QUIETLY = re2.Options()
_QUIETLY.log_errors = False  # its automaton is too large to be used, which RE2 would say on stderr of each text
_WHOLE = re2.compile(
    rf"\s*\(?\s*-?\s*({_CURRENCY}\s*)?-?\s*\d[\d.,'’\s]*(?:[.,][-–]+)?\s*({_CURRENCY})?\s*\)?\s*", _QUIETLY
)
_LONGEST = 60  # longer texts are no amounts
_NEGATIVE = re2.compile(r"^\s*\(|-\s*[^\d\s]*\s*\d")
_SHARED: Mapping[str, frozenset[str]] = {
    "€": frozenset({"EUR"}),
    "£": frozenset({"GBP"}),
    "$": frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "TWD"}),
    "US$": frozenset({"USD"}),
    "¥": frozenset({"JPY", "CNY"}),
    "₹": frozenset({"INR"}),
    "₩": frozenset({"KRW"}),
    "zł": frozenset({"PLN"}),
    "kr": frozenset({"SEK", "NOK", "DKK"}),
    "Fr.": frozenset({"CHF"}),
}
_WORDS: Mapping[str, frozenset[str]] = {
    "euro": _SHARED["€"], "euros": _SHARED["€"], "dollar": _SHARED["$"], "dollars": _SHARED["$"],
    "pound": _SHARED["£"], "pounds": _SHARED["£"], "yen": frozenset({"JPY"}), "yuan": frozenset({"CNY"}),
    "francs": frozenset({"CHF"}), "rupees": _SHARED["₹"],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MoneyIs:
    amount: Decimal
    currencies: frozenset[str]
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        found = _observed(value)
        if found is not None and found[0] == self.amount:
            if not found[1] or not self.currencies or found[1] & self.currencies:
                return None
            return f"expected {self.describe}, got {brief(value)}: another currency"
        return f"expected {self.describe}, got {brief(value)}"


def _observed(value: JSON) -> tuple[Decimal, frozenset[str]] | None:
    if isinstance(value, dict):
        amount = next((value[k] for k in ("amount", "value") if k in value), None)
        currency = next((value[k] for k in ("currency", "currency_code", "currencyCode") if k in value), None)
        inner = None if isinstance(amount, (dict, list)) else _observed(amount)
        known = currencies(currency) if isinstance(currency, str) else frozenset[str]()
        return None if inner is None else (inner[0], known or inner[1])
    if isinstance(value, bool) or value is None or isinstance(value, list):
        return None
    if isinstance(value, (int, float)):
        return Decimal(repr(value)), frozenset()
    return read_money(value)


def currencies(word: str | None) -> frozenset[str]:
    """The codes that a symbol, a code or a word may stand for."""
    text = (word or "").strip()
    if text in _SHARED:
        return _SHARED[text]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return frozenset({text.upper()}) if len(text) == 3 and text.isalpha() else frozenset()


@remembered(8_192, _LONGEST)
def read_money(text: str) -> tuple[Decimal, frozenset[str]] | None:
    """Amount and possible currencies of a text, None when it is no amount of money."""
    from price_parser import Price  # late: an extra

    whole = _WHOLE.fullmatch(text) if len(text) <= _LONGEST else None
    if whole is None:
        return None
    price = Price.fromstring(text)
    if price.amount is None:
        return None
    named = (whole.group(1) or "").strip(), (whole.group(2) or "").strip()
    known = currencies(price.currency) or currencies(named[0]) or currencies(named[1])
    if any(named) and not known:
        return None  # "5 apples" is no money
    return (-price.amount if _NEGATIVE.search(text) else price.amount), known


class _Kind:
    name = "money"
    options = frozenset({"currency"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "money")
        code = draft.problems.text(options["currency"], "currency") if "currency" in options else ""
        if text is None or code is None:
            return None
        if not available("price_parser", "values", node, "the matcher 'money'", draft.problems):
            return None
        found = read_money(text)
        named = currencies(code)
        if found is None:
            draft.problems.add(node, f"money: {clip(text)!r} is no amount", 'write "79.90 EUR"')
            return None
        if code and not named:
            draft.problems.add(options["currency"], f"unknown currency {clip(code)!r}", "write a code such as EUR")
            return None
        return MoneyIs(found[0], named or found[1], f"the amount {text}{' ' + code if code else ''}")


PLUGIN = _Kind()
