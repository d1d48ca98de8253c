"""How a text without a call reads: answered, asked, or declined as no tool fits (R1, R30; design section 5).

Deterministic and explained: the signal that decided is kept. A question mark alone is a weak sign, a request for
something named is a strong one, an offer of further help is none at all.
"""

from __future__ import annotations

from typing import Any

import re2

from otel_toolselect.model.runs import NoCall

_LAST = 4000  # characters of the end (questions) or the start (refusals) that are read: the rest decides nothing


_WHOLE = re2.Options()
_WHOLE.never_capture = True  # only where a pattern is found matters, not what its groups hold: that takes longer


def _any(*patterns: str) -> Any:
    return re2.compile("(?i)" + "|".join(f"(?:{p})" for p in patterns), _WHOLE)


# An offer of more help, a pleasantry: looks like a question, asks for nothing that the task needs.
_OFFER = _any(
    r"(anything|something) else",
    r"help (you )?with (anything|something)",
    r"any (other|more|further) questions",
    r"need (any )?(further|more|other) (help|assistance)",
    r"how (else )?(can|may) i (help|assist)",
    r"would you like (to (know|hear|see) )?(any )?(more|further|additional) (details|info)",
    r"sonst noch etwas|weitere fragen|autre chose|algo más",
    r"does that help|is that (ok|okay|helpful)|sound good",
)
_GIVE = "provide|tell|give|share|specify|confirm|clarify|let me know|send|supply|indicate|enter|choose|select"
_ASK = _any(
    rf"\b(could|can|would|will) you (please |kindly )?({_GIVE}|describe|explain which|upload|attach|pick)\b",
    rf"\bplease (kindly )?({_GIVE}|state|reply with|upload|attach)\b",
    r"\b(i|we)('ll| will|'d| would)? (also |still )?(need|require)( to know)?\b[^.!?]{0,80}\b"
    r"(from you|in order to|to (proceed|continue|help|assist|complete|find|look|process|book|place|check|calculate|"
    r"generate|provide|get|search|set|create))",
    r"\b(may|can|could) i (have|ask|get|know)\b",
    r"\bdo you (have|mean|want|know|prefer)\b",
    r"\bto (proceed|continue|do (that|this)|help you|assist you|complete)\b[^.!?]{0,80}"
    r"\b(i|we)('ll| will)? (need|require)\b",
    r"(könnten|können|würden) sie (mir )?(bitte )?|bitte (nennen|geben|teilen|senden|bestätigen)",
    r"(pourriez|pouvez|peux)[- ](vous|tu)|veuillez|merci de (préciser|fournir|confirmer)",
    r"(podr[ií]as?|puedes?|podr[ií]a usted)|por favor,? (ind[ií]que|proporcione|d[ií]game|confirme|facil)",
)
_WH = re2.compile(
    r"(?i)(^|[\s\"'(¿,;:–-])(which|what|who|whose|when|where|how (many|much|long|old|often|big)"
    r"|welche[rsnm]?|was|wann|wo|wie (viele?|lange|heißt)"
    r"|quel(le)?s?|combien|quand|où|cu[aá]l(es)?|qu[eé]|cu[aá]ndo|d[oó]nde|cu[aá]nt[oa]s?"
    r"|qual|quale|quanti|quanto)\b[^.!]{0,300}[?？]"
)
_REFUSE = _any(
    r"\b(i|we)('m| am|'re| are)? (sorry|afraid)\b[^.!?]{0,80}"
    r"\b(can't|cannot|can not|unable|not able|don't|do not|am not|no)\b",
    r"\b(i|we)('m| am|'re| are) (currently |not )?(unable|not able|not capable|not equipped)\b",
    r"unable to (help|assist|perform|access|provide|do)",
    r"\b(i|we) (can't|cannot|can not|could not|couldn't|do not|don't|lack|am not)( currently| directly| have)?\b"
    r"[^.!?]{0,60}\b(help|assist|do that|perform|access|provide|tool|function|capabilit|ability|support|able|"
    r"real-time|browse|retrieve)",
    r"\b(no|none of the|not any)( of the)? (available |suitable |provided |given |appropriate |offered )?"
    r"(tool|function)s?\b",
    r"\b(tools?|functions?|capabilities) (that )?(are |is )?(available |provided |given )?[^.!?]{0,60}"
    r"\b(do not|don't|does not|doesn't|cannot|can't|not)\b",
    r"(beyond|outside (of )?) ?(my|the) (capabilit|scope)|not (supported|possible with)",
    r"(ich|wir) (kann|können) (leider |das |dabei |dies )?(nicht|leider)|leider (kann|können|nicht)",
    r"je ne (peux|suis)|nous ne pouvons|lo siento|no puedo|no es posible|no dispongo",
)
_ENDS_ASKING = re2.compile(r"[?？؟;՞]\s*[\"'”’)\]*_]*\s*$")
_MARKS = tuple("?？؟;՞")  # no question without one of them, but for those that `_ASK` knows
_QUOTES = tuple("\"“'")
_TELLING = _any(_ASK.pattern, _REFUSE.pattern, "[" + "".join(_MARKS) + '"“]')
_NOTHING = NoCall("none", "no question and no refusal", 0.9)
_SENTENCE = re2.compile(r"[^.!?？。！\n]+[.!?？。！]*")
_QUOTED = re2.compile(r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|'[A-ZÀ-Þ][^'\n]{0,200}\?'")


def read_no_call(text: str | None) -> NoCall:
    """The label of a final text; an empty text is an answer that says nothing, at low confidence."""
    if text is None:
        return NoCall("none", "no final text in the trace", 0.0)
    try:
        return _read(text.strip())
    except UnicodeEncodeError:  # half of a surrogate pair, as of an emoji cut in two
        return _read(text.encode("utf-8", "ignore").decode().strip())


def _read(stripped: str) -> NoCall:
    if not stripped:
        return NoCall("none", "empty final text", 0.3)
    # A short text is its own end and start; without quotes (single ones count with a question mark only) it is read as
    # it is; without marks only `_ASK` finds a question in it. So of most texts one search tells that nothing is there.
    if len(stripped) <= _LAST and not _TELLING.search(stripped):
        return _NOTHING
    end = stripped[-_LAST:]
    asked = _asked(_QUOTED.sub("…", end) if any(quote in end for quote in _QUOTES) else end)
    refused = _REFUSE.search(stripped[:_LAST])
    if refused and not (asked and asked[1] >= 0.8):
        return NoCall("refuse_no_tool", f"declines: {_clip(refused.group(0))}", 0.6 if asked else 0.8)
    if asked:
        return NoCall("ask_followup", asked[0], asked[1])
    return _NOTHING


def _asked(text: str) -> tuple[str, float] | None:
    """The signal of a question that asks for something, and how sure it is."""
    if not any(mark in text for mark in _MARKS) and not _ASK.search(text):
        return None  # what no sentence of a text holds is not in the text as a whole either, and most texts ask nothing
    sentences = [s.strip() for s in _SENTENCE.findall(text) if s.strip()]
    asking = [s for s in sentences if not _OFFER.search(s)]
    for sentence in asking:
        if _ASK.search(sentence):
            return f"asks for something: {_clip(sentence)}", 0.9 if "?" in sentence else 0.8
    for sentence in asking:
        if _WH.search(sentence):
            return f"asks a question: {_clip(sentence)}", 0.85
    if asking and asking[-1] == sentences[-1] and _ENDS_ASKING.search(asking[-1]):
        return f"ends in a question: {_clip(asking[-1])}", 0.7
    return None


def _clip(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else flat[:119] + "…"
