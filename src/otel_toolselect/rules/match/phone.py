"""`{phone: "+49 30 1234567"}`: the same telephone number in whatever spelling (R26, phonenumbers).

A number without country code is of `region: DE`, else of the expected number's country.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.extras import available
from otel_toolselect.rules.matching import Matcher, Scope

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class PhoneIs:
    number: str  # E.164
    region: str | None
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if isinstance(text, str) and self.number in (e164(text, self.region), "+" + text):
            return None
        return f"expected {self.describe}, got {brief(value)}"


def e164(text: str, region: str | None) -> str | None:
    """A number as `+493012345`, None when the text is none."""
    import phonenumbers  # late: an extra

    if len(text) > _LONGEST:
        return None
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    form = phonenumbers.PhoneNumberFormat.E164
    return str(phonenumbers.format_number(number, form)) if phonenumbers.is_possible_number(number) else None


class _Kind:
    name = "phone"
    options = frozenset({"region"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "phone")
        region = draft.problems.text(options["region"], "region") if "region" in options else None
        if text is None or not available("phonenumbers", "values", node, "the matcher 'phone'", draft.problems):
            return None
        import phonenumbers

        if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
            draft.problems.add(options["region"], f"unknown region {clip(region)!r}", "write a country such as DE")
            return None
        number = e164(text, region)
        if number is None:
            hint = "write +49 30 1234567, or name the region: {phone: ..., region: DE}"
            draft.problems.add(node, f"phone: {clip(text)!r} is no telephone number", hint)
            return None
        if region is None:
            region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
        return PhoneIs(number, region, f"the telephone number {number}")


PLUGIN = _Kind()
