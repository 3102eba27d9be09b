"""Negation on one side only: a claim denies what its source says, or says what its source denies.

Negations are counted per clause, so that two of them cancel (``not without approval``) and one in a
clause that the claim does not repeat is not held against it. Bounds that happen to be worded with a
negation (``not exceed``, ``no more than``) are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evidencedesk.verification.alternation import by_first_letter
from evidencedesk.verification.content import best_overlap, clauses, content_words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOUNDS = re.compile(
    r"\b(?:(?:must|shall|may|should|can|do|does|did|to|will)?\s?(?:not|never) (?:to )?exceed\w*"
    r"|(?:no|not) (?:more|less|later|fewer|longer|earlier|sooner|higher|lower|greater) than|not only|not just"
    r"|whether or not|if not|no matter|nicht (?:mehr|weniger|länger|später|früher) als|nicht nur"
    r"|nicht überschreiten|no (?:más|menos) de|no (?:solo|sólo|solamente)|pas plus de|non più di"
    r"|ne (?:doit|peut|dépasse)\w* (?:pas )?dépass\w*|não (?:só|apenas)|niet meer dan|nothing but)\b"
    r"|不得?超过|不少于|不低于|不仅|不但|非常|无论|不同|لا (?:ي|ت)تجاوز|لا (?:ي|ت)زيد عن"
)
_MAY_BE_BOUND = re.compile(r"\b(?:no|ne\b|never|nicht|niet|pas\b)")
_ANSWER = re.compile(
    r"^(?:no|yes|nein|ja|non|oui|sí|si|não|sim|nee|না|হ্যাঁ|नहीं|हाँ|لا|نعم|нет|да|不|是的?)\s?[,.:;!،।，。]\s*"
)
_NUMBER_AHEAD = r"(?!\.? ?\d)"
_NEGATING_WORDS = (
    rf"not|no{_NUMBER_AHEAD}|never|none|neither|without|cannot|nobody|nothing|nowhere|unable|impossible|prohibit\w*"
    r"|forbid\w*|forbade|ban(?:s|ned|ning)?|disallow\w*|lacks?|lacking|lacked|fail|fails|failed|refus\w+|denie[sd]|deny"
    r"|declin(?:e|ed|es) to|unless|ineligible|excluding|excluded|excludes"
    r"|nicht|keine?[nrms]?|nie|niemals|ohne|weder|niemand|nichts|unmöglich|verboten|untersagt"
    r"|nunca|sin|ningún|ningun[oa]|tampoco|jamás|nada|prohibid[oa]s?"
    r"|pas|jamais|sans|aucune?|rien|interdite?s?|non|senza|nessun[oa]?|vietat[oi]"
    r"|não|nunca|sem|nenhum[a]?|proibid[oa]|niet|geen|nooit|zonder|не|нет|без|нельзя"
)
_PLAIN_NEGATIONS = rf"\b(?:{by_first_letter(_NEGATING_WORDS)})\b"
_SHORTENED = r"|n't\b"
_OTHER_NEGATIONS = (
    r"|\bn’t\b"
    r"|(?<![^\s'\"(])(?:না|নয়|নেই|নি|নাই|ছাড়া|বিনা|नहीं|मत|बिना|لا|لم|لن|ليس|ليست|غير|بدون|دون)(?![^\s'\".,;:!?।)])"
    r"|নি(?=\s|[।.,]|$)|[不没沒無未勿]|无(?!线)|ません|ない|않|없"
)
_NEGATIONS = re.compile(_PLAIN_NEGATIONS + _SHORTENED + _OTHER_NEGATIONS)
_ASCII_NEGATIONS = re.compile(_PLAIN_NEGATIONS + _SHORTENED)
_WORDS_ALONE = re.compile(_PLAIN_NEGATIONS)
_ANY_NEGATION = re.compile(_PLAIN_NEGATIONS.replace(_NUMBER_AHEAD, ""))
"""Finds those that a number behind them takes back, too: cutting into clauses may part the two."""

_COMES_LAST = re.compile("[ঀ-৿ぁ-ヿ가-힣]")
_PREFIXED = re.compile(r"\b(?:un|in|im|ir|dis|non-?)(\w{5,})\b")
_AND = re.compile(r"\b(?:and|or|und|oder|y|et|ou|e|to)\b|,")


def contradicts(claim: str, support: Sequence[str], lang: str) -> str | None:
    """The clause of ``support`` whose polarity the claim turns round, or None.

    Args:
        claim: the claim's text, folded.
        support: the sentences that its quotes stand in, folded.
        lang: language to stem by.
    """
    said, told = _without_bounds(claim), [_without_bounds(sentence) for sentence in support]
    if not _may_deny(said, told):
        return None
    parts = [part for sentence in told for part in clauses(sentence)]
    words = [content_words(part, lang) for part in parts]
    for clause in clauses(_ANSWER.sub("", said)):
        wanted = content_words(clause, lang)
        index, shared = best_overlap(wanted, words)
        if index < 0 or shared * 2 < len(wanted):
            continue
        if _turned(clause, parts[index], lang):
            return parts[index]
    return None


def negations(clause: str) -> int:
    """How many negations a folded clause holds; ``neither ... nor`` is one."""
    return len(_negations_in(clause).findall(clause))


def _negations_in(text: str) -> re.Pattern[str]:
    """What finds the negations of ``text``, with no alternative that cannot be in it."""
    if not text.isascii():
        return _NEGATIONS
    return _ASCII_NEGATIONS if "n't" in text else _WORDS_ALONE


def _may_deny(said: str, told: Sequence[str]) -> bool:
    """Whether there can be a negation on either side; cheap, and surely false for most claims."""
    sides = said, " ".join(told)
    if any(not side.isascii() or "n't" in side or _ANY_NEGATION.search(side) for side in sides):
        return True
    return any(map(_prefix_negation, sides, reversed(sides)))


def _without_bounds(folded: str) -> str:
    stripped = folded.strip()
    if stripped.isascii() and not _MAY_BE_BOUND.search(stripped):
        return stripped
    return _BOUNDS.sub(" ", stripped)


def _turned(claim: str, source: str, lang: str) -> bool:
    denials = negations(claim)
    if claim in source:
        before, _, behind = source.partition(claim)
        return denials % 2 == 0 and (_ends_denying(before) or _starts_denying(behind))
    prefixed = _prefix_negation(claim, source) - _prefix_negation(source, claim)
    if (denials + negations(source) + prefixed) % 2 == 0:
        return False
    if prefixed:
        return True
    denying, other = (claim, source) if denials % 2 else (source, claim)
    return _scope_is_in(denying, other, lang)


def _ends_denying(before: str) -> bool:
    """Whether the words right before a repeated clause deny it (``no`` deaths ...)."""
    end = len(before.rstrip())
    return any(
        match.end() == end
        for match in _negations_in(before).finditer(before, max(0, end - 20), end)
    )


def _starts_denying(behind: str) -> bool:
    """Whether a negation that its language puts last follows a repeated clause at once."""
    match = _negations_in(behind).match(behind, len(behind) - len(behind.lstrip()))
    return match is not None and _COMES_LAST.search(match[0]) is not None


def _prefix_negation(one: str, other: str) -> int:
    """1 when ``one`` has ``ineffective`` where ``other`` has ``effective``."""
    bases = _PREFIXED.findall(one)
    if not bases:
        return 0
    words = frozenset(re.findall(r"\w+", other))
    return int(any(base in words for base in bases))


def _scope(denying: str, match: re.Match[str], lang: str) -> tuple[str, ...]:
    """What a negation denies: the words behind it, before it where its language puts it last."""
    before = content_words(denying[: match.start()], lang)[-3:]
    if _COMES_LAST.search(match[0]):
        return before
    return content_words(_AND.split(denying[match.end() :].strip(" ,"))[0], lang)[:4] or before


def _scope_is_in(denying: str, other: str, lang: str) -> bool:
    """Whether what is denied is spoken of on the other side."""
    present = frozenset(content_words(other, lang))
    for match in _negations_in(denying).finditer(denying):
        denied = _scope(denying, match, lang)
        scope = [word for word in denied if not _negations_in(word).fullmatch(word)]
        if not scope or sum(word in present for word in scope) * 2 >= len(scope):
            return True
    return False
